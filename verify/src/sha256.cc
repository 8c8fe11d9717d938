#include "sha256.h"

#include <openssl/evp.h>

namespace vacant::verify {

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Result<Sha256> Sha256::create() {
  Sha256 hasher;
  hasher.context_.reset(EVP_MD_CTX_new());
  if (hasher.context_ == nullptr || EVP_DigestInit_ex(hasher.context_.get(), EVP_sha256(), nullptr) != 1)
    return fail(Code::kInternal, "OpenSSL has no SHA-256");
  return hasher;
}

Result<Digest> Sha256::hash(ByteSpan first, ByteSpan second) {
  Digest digest;
  EVP_MD_CTX* context = context_.get();
  // SAFETY: std::byte and unsigned char may alias.
  const bool done =
      EVP_DigestInit_ex(context, nullptr, nullptr) == 1 &&
      EVP_DigestUpdate(context, first.data(), first.size()) == 1 &&
      EVP_DigestUpdate(context, second.data(), second.size()) == 1 &&
      EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1;
  if (!done) return fail(Code::kInternal, "OpenSSL's SHA-256 failed");
  return digest;
}

}  // namespace vacant::verify
