// Window: the bytes of one segment with its context, and the class of each of its sectors. Private to the
// engine.
#pragma once

#include <span>
#include <vector>

#include "vacant/base/device.h"
#include "vacant/scan/class.h"
#include "vacant/scan/detector.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

struct Window {
  Extent extent;  // on the device; begins at a sector
  Extent owned;   // the segment itself
  std::span<std::byte> bytes;
  std::vector<Class> classes;             // one a sector of `extent`
  std::vector<SkippedExtent> unreadable;  // in the owned part

  [[nodiscard]] std::size_t sector_count() const { return classes.size(); }
  // The device bytes of a sector; the last one of a device may be shorter than 512.
  [[nodiscard]] Extent sector_extent(std::size_t index) const {
    const std::uint64_t offset = extent.offset_bytes + index * kSectorBytes;
    return {offset, std::min(kSectorBytes, extent.end_bytes() - offset)};
  }
  [[nodiscard]] ByteSpan sector_bytes(std::size_t index) const {
    const Extent part = sector_extent(index);
    return ByteSpan(bytes).subspan(static_cast<std::size_t>(part.offset_bytes - extent.offset_bytes),
                                   static_cast<std::size_t>(part.length_bytes));
  }
  // True where the bytes of the sector were read and are not all zero.
  [[nodiscard]] bool holds_data(std::size_t index) const {
    const Class cls = classes[index];
    return cls != Class::kHole && cls != Class::kZero && cls != Class::kUnreadable;
  }
};

// The segment with this index and as much context as the device has. Memory comes from `storage`, which must
// hold kWindowBytes and is reused from segment to segment.
inline constexpr std::size_t kWindowBytes = kLookBehindBytes + kSegmentBytes + kMarginBytes;
Window make_window_frame(const BlockDevice& device, std::uint64_t segment_index, MutableByteSpan storage);

// Reads the window by 1 MiB and sets each sector to hole, zero, unreadable or (everything else) unexplained.
// A failing read is narrowed down to the device's sectors. Bytes that were not read are zeros in `bytes`.
void read_window(BlockDevice& device, Window& window);

}  // namespace vacant::scan
