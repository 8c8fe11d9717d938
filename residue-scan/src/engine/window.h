// Window: the bytes of one segment with its context, and the class of each of its sectors. Private to the
// engine.
#pragma once

#include <array>
#include <memory>
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

// How much of a segment is in memory at once: small enough that the detectors find it in a cache, large
// enough that the context read again on both sides is little beside it.
inline constexpr std::uint64_t kSliceBytes = 1024 * kKiB;
static_assert(kSegmentBytes % kSliceBytes == 0 && kSliceBytes > kMarginBytes);
inline constexpr std::size_t kWindowBytes = kLookBehindBytes + kSliceBytes + kMarginBytes;

// Reads windows, one after the other, into one storage. Of a window that follows the last one only the bytes
// that are new are read. One thread at a time.
class WindowReader {
 public:
  explicit WindowReader(BlockDevice& device)
      : device_(device), storage_(std::make_unique_for_overwrite<Storage>()) {}

  // `owned` (at most kSliceBytes, beginning at a sector) and as much context as the device has. Reads by
  // 1 MiB at most and sets each sector to hole, zero, unreadable or (everything else) unexplained. A failing
  // read is narrowed down to the device's sectors. Bytes that were not read are zeros in `bytes`. The window
  // is valid until the next call; its classes may be changed, which does not reach the next window.
  Window& read(const Extent& owned);

 private:
  std::uint64_t carry_over(Window& next);

  // Aligned: the kernel copies into a page more than twice as fast as into what begins 16 bytes behind one.
  struct alignas(4096) Storage {
    std::array<std::byte, kWindowBytes> bytes;
  };

  BlockDevice& device_;
  std::unique_ptr<Storage> storage_;
  Window window_;
  std::vector<Class> read_classes_;  // of window_, as they were read
};

}  // namespace vacant::scan
