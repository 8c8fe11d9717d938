#include "vacant/base/secret.h"

#include <sodium.h>

#include <new>
#include <utility>

namespace vacant {

Result<void> init_crypto() {
  if (sodium_init() < 0) return fail(Code::kInternal, "libsodium cannot start: no source of randomness");
  return {};
}

SecretBytes::SecretBytes(std::size_t size_bytes) : size_(size_bytes) {
  if (size_bytes == 0) return;
  VACANT_ASSERT(sodium_init() >= 0);
  data_ = static_cast<std::byte*>(sodium_malloc(size_bytes));
  if (data_ == nullptr) throw std::bad_alloc();
  sodium_memzero(data_, size_bytes);
}

SecretBytes SecretBytes::copy_of(ByteSpan bytes) {
  SecretBytes out(bytes.size());
  if (!bytes.empty()) std::memcpy(out.data_, bytes.data(), bytes.size());
  return out;
}

SecretBytes SecretBytes::random(std::size_t size_bytes) {
  SecretBytes out(size_bytes);
  if (size_bytes > 0) randombytes_buf(out.data_, size_bytes);
  return out;
}

SecretBytes::SecretBytes(SecretBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SecretBytes& SecretBytes::operator=(SecretBytes&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

SecretBytes::~SecretBytes() { release(); }

void SecretBytes::release() {
  if (data_ != nullptr) sodium_free(data_);  // wipes
  data_ = nullptr;
  size_ = 0;
}

void wipe(MutableByteSpan bytes) {
  if (!bytes.empty()) sodium_memzero(bytes.data(), bytes.size());
}

}  // namespace vacant
