#include "engine/window.h"

#include <algorithm>
#include <cstring>

namespace vacant::scan {

namespace {

constexpr std::uint64_t kReadBytes = kMiB;        // the best size measured for reads
constexpr std::size_t kZeroTestBytes = 4 * kKiB;  // tested first as a whole, by sector only if not zero

// First and one-past-last sector of a part of the window.
std::pair<std::size_t, std::size_t> sector_range(const Window& window, const Extent& part) {
  const std::uint64_t begin = (part.offset_bytes - window.extent.offset_bytes) / kSectorBytes;
  const std::uint64_t end = (part.end_bytes() - window.extent.offset_bytes + kSectorBytes - 1) / kSectorBytes;
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

MutableByteSpan bytes_of(Window& window, const Extent& part) {
  return window.bytes.subspan(static_cast<std::size_t>(part.offset_bytes - window.extent.offset_bytes),
                              static_cast<std::size_t>(part.length_bytes));
}

void mark(Window& window, const Extent& part, Class cls) {
  const auto [begin, end] = sector_range(window, part);
  std::fill(window.classes.begin() + static_cast<std::ptrdiff_t>(begin),
            window.classes.begin() + static_cast<std::ptrdiff_t>(end), cls);
}

// Sets zero or unexplained for freshly read bytes, while they are still in the cache.
void test_zero(Window& window, const Extent& part) {
  for (std::uint64_t at = part.offset_bytes; at < part.end_bytes();) {
    const Extent block{at, std::min<std::uint64_t>(kZeroTestBytes, part.end_bytes() - at)};
    if (is_zero(bytes_of(window, block))) {
      mark(window, block, Class::kZero);
    } else {
      const auto [begin, end] = sector_range(window, block);
      for (std::size_t i = begin; i < end; ++i)
        window.classes[i] = is_zero(window.sector_bytes(i)) ? Class::kZero : Class::kUnexplained;
    }
    at += block.length_bytes;
  }
}

void mark_unreadable(Window& window, const Extent& part, const Error& error) {
  std::ranges::fill(bytes_of(window, part), std::byte{0});
  mark(window, part, Class::kUnreadable);
  const Extent owned = part.intersect(window.owned);
  if (owned.empty()) return;
  const std::string reason = error.message;
  auto& list = window.unreadable;
  if (!list.empty() && list.back().extent.end_bytes() == owned.offset_bytes)
    list.back().extent.length_bytes += owned.length_bytes;
  else
    list.push_back({owned, reason});
}

// Reads a part; on failure halves it, down to single sectors of the device, so that only what is unreadable
// counts as such.
void read_part(BlockDevice& device, Window& window, const Extent& part) {
  const auto done = device.read(part.offset_bytes, bytes_of(window, part));
  if (done) return test_zero(window, part);
  const std::uint64_t smallest = std::max<std::uint64_t>(device.info().sector_bytes, kSectorBytes);
  // Behind the end of a source that shrank there is nothing to narrow down.
  const auto size_now = device.current_size_bytes();
  const bool gone = size_now && *size_now <= part.offset_bytes;
  if (gone || part.length_bytes <= smallest) return mark_unreadable(window, part, done.error());
  const std::uint64_t half = std::max(smallest, round_down(part.length_bytes / 2, smallest));
  read_part(device, window, {part.offset_bytes, half});
  if (part.length_bytes > half)
    read_part(device, window, {part.offset_bytes + half, part.length_bytes - half});
}

void read_range(BlockDevice& device, Window& window, const Extent& range) {
  for (std::uint64_t at = range.offset_bytes; at < range.end_bytes();) {
    const std::uint64_t end = std::min(at + kReadBytes, range.end_bytes());
    read_part(device, window, {at, end - at});
    at = end;
  }
}

// Reads a part of the window by the device's allocation map.
void read_new(BlockDevice& device, Window& window, const Extent& wanted) {
  if (wanted.empty()) return;
  auto map = device.allocation(wanted);
  // No allocation map is no reason to trust or to fail: everything is read.
  if (!map) map = std::vector{Allocation{wanted, false}};
  for (const Allocation& part : *map) {
    if (!part.hole) continue;
    // Only whole sectors may be called holes; a sector with any data in it is read.
    const std::uint64_t begin =
        std::min(round_up(part.extent.offset_bytes, kSectorBytes), wanted.end_bytes());
    const bool last = part.extent.end_bytes() >= wanted.end_bytes();
    const std::uint64_t end = last ? wanted.end_bytes() : round_down(part.extent.end_bytes(), kSectorBytes);
    if (end > begin) std::ranges::fill(bytes_of(window, {begin, end - begin}), std::byte{0});
  }
  std::uint64_t at = wanted.offset_bytes;
  for (const Allocation& part : *map) {
    if (part.hole) continue;
    const std::uint64_t begin = std::max(at, round_down(part.extent.offset_bytes, kSectorBytes));
    const std::uint64_t end = std::min(round_up(part.extent.end_bytes(), kSectorBytes), wanted.end_bytes());
    if (end > begin) read_range(device, window, {begin, end - begin});
    at = std::max(at, end);
  }
}

Extent with_context(const Extent& owned, std::uint64_t size_bytes) {
  const std::uint64_t from = owned.offset_bytes - std::min(owned.offset_bytes, kLookBehindBytes);
  const std::uint64_t to = owned.end_bytes() + std::min(size_bytes - owned.end_bytes(), kMarginBytes);
  return {from, to - from};
}

}  // namespace

// Moves what the last window has of the next one to its place; answers where the new bytes begin.
std::uint64_t WindowReader::carry_over(Window& next) {
  const Extent& old = window_.extent;
  const Extent shared = next.extent.intersect(old);
  const std::uint64_t nothing = next.extent.offset_bytes;
  // The end of a device need not be a sector's; behind it there is nothing to read.
  if (shared.empty() || shared.offset_bytes != nothing || shared.end_bytes() % kSectorBytes != 0)
    return nothing;
  const auto first = static_cast<std::size_t>((shared.offset_bytes - old.offset_bytes) / kSectorBytes);
  const auto count = static_cast<std::size_t>(shared.length_bytes / kSectorBytes);
  const auto classes = std::span(read_classes_).subspan(first, count);
  // An unreadable sector is told by the window that owns it, so that one reads it itself.
  if (std::ranges::find(classes, Class::kUnreadable) != classes.end()) return nothing;
  std::memmove(storage_->bytes.data(), storage_->bytes.data() + (shared.offset_bytes - old.offset_bytes),
               static_cast<std::size_t>(shared.length_bytes));
  std::ranges::copy(classes, next.classes.begin());
  return shared.end_bytes();
}

Window& WindowReader::read(const Extent& owned) {
  VACANT_ASSERT(owned.length_bytes <= kSliceBytes && owned.offset_bytes % kSectorBytes == 0);
  Window next;
  next.owned = owned;
  next.extent = with_context(owned, device_.size_bytes());
  next.bytes = MutableByteSpan(storage_->bytes).first(static_cast<std::size_t>(next.extent.length_bytes));
  next.classes.assign(static_cast<std::size_t>((next.extent.length_bytes + kSectorBytes - 1) / kSectorBytes),
                      Class::kHole);
  const std::uint64_t from = carry_over(next);
  window_ = std::move(next);
  read_new(device_, window_, {from, window_.extent.end_bytes() - from});
  read_classes_ = window_.classes;
  return window_;
}

}  // namespace vacant::scan
