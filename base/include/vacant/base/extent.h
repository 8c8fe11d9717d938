// Extent: a byte range of a device that cannot overflow. Value type.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

#include "vacant/base/result.h"

namespace vacant {

inline constexpr std::uint64_t kSectorBytes = 512;  // the ledger's granularity, on any device
inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

struct Extent {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;

  // The first byte behind the extent. Never wraps: see make_extent; built by hand, the caller vouches.
  [[nodiscard]] constexpr std::uint64_t end_bytes() const { return offset_bytes + length_bytes; }
  [[nodiscard]] constexpr bool empty() const { return length_bytes == 0; }
  [[nodiscard]] constexpr bool contains(std::uint64_t at) const {
    return at >= offset_bytes && at - offset_bytes < length_bytes;
  }
  [[nodiscard]] constexpr bool contains(const Extent& other) const {
    return other.offset_bytes >= offset_bytes && other.end_bytes() <= end_bytes();
  }
  [[nodiscard]] constexpr bool overlaps(const Extent& other) const {
    return offset_bytes < other.end_bytes() && other.offset_bytes < end_bytes();
  }
  // The common part; empty (length 0) if there is none.
  [[nodiscard]] constexpr Extent intersect(const Extent& other) const {
    const std::uint64_t begin = std::max(offset_bytes, other.offset_bytes);
    const std::uint64_t end = std::min(end_bytes(), other.end_bytes());
    return begin < end ? Extent{begin, end - begin} : Extent{begin, 0};
  }
  friend constexpr auto operator<=>(const Extent&, const Extent&) = default;
};

// Checked construction from numbers that we do not trust. kCorrupt if offset + length wraps.
inline Result<Extent> make_extent(std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  if (length_bytes > std::numeric_limits<std::uint64_t>::max() - offset_bytes)
    return fail(Code::kCorrupt, "extent runs past the end of the address space");
  return Extent{offset_bytes, length_bytes};
}

constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) { return value - value % unit; }
// Caller's duty: value + unit does not wrap.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

}  // namespace vacant
