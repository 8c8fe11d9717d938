#include "artefact/digest.h"

#include <openssl/evp.h>

namespace vacant::scan {

namespace {

ByteVector digest(ByteSpan bytes, const EVP_MD* algorithm, std::size_t size) {
  ByteVector out(size);
  unsigned written = 0;
  // SAFETY: OpenSSL takes unsigned char; std::byte may be viewed as such.
  const int done = EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()),
                              &written, algorithm, nullptr);
  VACANT_ASSERT(done == 1 && written == size);
  return out;
}

}  // namespace

ByteVector sha1(ByteSpan bytes) { return digest(bytes, EVP_sha1(), 20); }
ByteVector sha256(ByteSpan bytes) { return digest(bytes, EVP_sha256(), 32); }

}  // namespace vacant::scan
