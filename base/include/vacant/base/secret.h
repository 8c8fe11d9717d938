// SecretBytes: key material and secret values. Memory from libsodium's guarded heap, wiped on release, left
// out of core dumps. Movable, never copied, never formatted: there is no operator<<, no fmt formatter, no
// implicit view.
#pragma once

#include <cstddef>

#include "vacant/base/bytes.h"
#include "vacant/base/result.h"

namespace vacant {

class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size_bytes);  // zero-filled
  static SecretBytes copy_of(ByteSpan bytes);    // the caller wipes its own copy
  static SecretBytes random(std::size_t size_bytes);
  SecretBytes(SecretBytes&& other) noexcept;
  SecretBytes& operator=(SecretBytes&& other) noexcept;
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes();

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] ByteSpan expose() const { return {data_, size_}; }  // the one way in; grep for it in reviews
  [[nodiscard]] MutableByteSpan expose_mutable() { return {data_, size_}; }

 private:
  void release();
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Overwrites memory in a way that the compiler may not remove.
void wipe(MutableByteSpan bytes);
// Must be called once before any other cryptographic call; idempotent and thread-safe.
Result<void> init_crypto();

}  // namespace vacant
