// SHA-256 through OpenSSL (it uses the processor's SHA instructions), one reusable context. Not thread-safe:
// one object a thread.
#pragma once

#include <memory>

#include "vacant/base/bytes.h"
#include "vacant/base/result.h"
#include "vacant/verify/hash_tree.h"

struct evp_md_ctx_st;

namespace vacant::verify {

class Sha256 {
 public:
  static Result<Sha256> create();
  // SHA-256 of first, then second.
  Result<Digest> hash(ByteSpan first, ByteSpan second);

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace vacant::verify
