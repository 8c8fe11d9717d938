// Byte spans, endian-safe loads and hex. All functions are pure; loads assert on a short span, so callers
// check sizes first (the Reader in this header does it for parsers of hostile bytes).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "vacant/base/result.h"

namespace vacant {

using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;
using ByteVector = std::vector<std::byte>;

template <class T>
T load_le(ByteSpan bytes, std::size_t offset) {
  static_assert(std::is_unsigned_v<T> && std::endian::native == std::endian::little);
  VACANT_ASSERT(offset <= bytes.size() && bytes.size() - offset >= sizeof(T));
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <class T>
T load_be(ByteSpan bytes, std::size_t offset) {
  const T value = load_le<T>(bytes, offset);
  if constexpr (sizeof(T) == 1)
    return value;
  else if constexpr (sizeof(T) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bswap32(value);
  else
    return __builtin_bswap64(value);
}

template <class T>
void store_le(MutableByteSpan bytes, std::size_t offset, T value) {
  static_assert(std::is_unsigned_v<T> && std::endian::native == std::endian::little);
  VACANT_ASSERT(offset <= bytes.size() && bytes.size() - offset >= sizeof(T));
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

// Views text as bytes and bytes as text (no copy).
// SAFETY: char and std::byte may alias any object representation.
inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string to_hex(ByteSpan bytes);  // lower case
// Strict: even length, [0-9a-fA-F] only.
std::optional<ByteVector> from_hex(std::string_view text);

// Bounded cursor over bytes that we do not trust. Each read fails with kCorrupt when too few are left.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] std::size_t position() const { return position_; }
  Result<ByteSpan> take(std::size_t count);
  template <class T>
  Result<T> le() {
    const ByteSpan part = VACANT_TRY(take(sizeof(T)));
    return load_le<T>(part, 0);
  }
  template <class T>
  Result<T> be() {
    const ByteSpan part = VACANT_TRY(take(sizeof(T)));
    return load_be<T>(part, 0);
  }

 private:
  ByteSpan bytes_;
  std::size_t position_ = 0;
};

// True if every byte is zero. Chooses AVX2 or portable code once, at run time. Any size, any alignment.
bool is_zero(ByteSpan bytes);
// The two implementations, for tests and benchmarks. is_zero_avx2 needs a processor with AVX2.
bool is_zero_portable(ByteSpan bytes);
bool is_zero_avx2(ByteSpan bytes);
bool has_avx2();
bool has_avx512();       // its parts F and BW
bool has_avx512_vbmi();  // and VBMI

// CRC-32 (IEEE 802.3, as zlib) and raw CRC-32C (Castagnoli, reflected, no pre- or post-inversion: the form
// that ext4 and btrfs build on; pass the running state). Sources: RFC 1952 section 8; RFC 3720 appendix B.4.
std::uint32_t crc32_ieee(ByteSpan bytes, std::uint32_t crc = 0);
std::uint32_t crc32c_raw(std::uint32_t state, ByteSpan bytes);
// Runs CRC-32C backwards: the state s with crc32c_raw(s, bytes) == state. Linear in the size.
std::uint32_t crc32c_reverse(std::uint32_t state, ByteSpan bytes);

}  // namespace vacant
