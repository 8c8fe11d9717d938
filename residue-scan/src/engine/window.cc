#include "engine/window.h"

#include <algorithm>

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
    const std::uint64_t end = std::min(round_down(at, kReadBytes) + kReadBytes, range.end_bytes());
    read_part(device, window, {at, end - at});
    at = end;
  }
}

}  // namespace

Window make_window_frame(const BlockDevice& device, std::uint64_t segment_index, MutableByteSpan storage) {
  VACANT_ASSERT(storage.size() >= kWindowBytes);
  Window window;
  const std::uint64_t begin = segment_index * kSegmentBytes;
  const std::uint64_t size = device.size_bytes();
  window.owned = {begin, std::min(kSegmentBytes, size - begin)};
  const std::uint64_t from = begin >= kLookBehindBytes ? begin - kLookBehindBytes : 0;
  const std::uint64_t to =
      size - window.owned.end_bytes() < kMarginBytes ? size : window.owned.end_bytes() + kMarginBytes;
  window.extent = {from, to - from};
  window.bytes = storage.first(static_cast<std::size_t>(to - from));
  window.classes.assign(static_cast<std::size_t>((to - from + kSectorBytes - 1) / kSectorBytes),
                        Class::kHole);
  return window;
}

void read_window(BlockDevice& device, Window& window) {
  auto map = device.allocation(window.extent);
  // No allocation map is no reason to trust or to fail: everything is read.
  if (!map) map = std::vector{Allocation{window.extent, false}};
  for (const Allocation& part : *map) {
    if (!part.hole) continue;
    // Only whole sectors may be called holes; a sector with any data in it is read.
    const std::uint64_t begin =
        std::min(round_up(part.extent.offset_bytes, kSectorBytes), window.extent.end_bytes());
    const bool last = part.extent.end_bytes() >= window.extent.end_bytes();
    const std::uint64_t end =
        last ? window.extent.end_bytes() : round_down(part.extent.end_bytes(), kSectorBytes);
    if (end > begin) std::ranges::fill(bytes_of(window, {begin, end - begin}), std::byte{0});
  }
  std::uint64_t at = window.extent.offset_bytes;
  for (const Allocation& part : *map) {
    if (part.hole) continue;
    const std::uint64_t begin = std::max(at, round_down(part.extent.offset_bytes, kSectorBytes));
    const std::uint64_t end =
        std::min(round_up(part.extent.end_bytes(), kSectorBytes), window.extent.end_bytes());
    if (end > begin) read_range(device, window, {begin, end - begin});
    at = std::max(at, end);
  }
}

}  // namespace vacant::scan
