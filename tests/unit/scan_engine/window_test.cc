#include "engine/window.h"

#include <gtest/gtest.h>

#include "fixtures.h"

namespace vacant::scan {
namespace {

// A device whose allocation map lies about nothing, but cuts holes inside sectors.
class HoleDevice final : public BlockDevice {
 public:
  explicit HoleDevice(props::MemDevice& inner, std::vector<Extent> holes)
      : inner_(inner), holes_(std::move(holes)) {}
  [[nodiscard]] const DeviceInfo& info() const override { return inner_.info(); }
  Result<void> read(std::uint64_t offset, MutableByteSpan out) override { return inner_.read(offset, out); }
  Result<void> write(std::uint64_t offset, ByteSpan bytes) override { return inner_.write(offset, bytes); }
  Result<void> zero(const Extent& extent) override { return inner_.zero(extent); }
  Result<void> discard(const Extent& extent) override { return inner_.discard(extent); }
  Result<void> flush() override { return {}; }
  Result<std::vector<Allocation>> allocation(const Extent& range) override {
    std::vector<Allocation> out;
    std::uint64_t at = range.offset_bytes;
    for (const Extent& hole : holes_) {
      const Extent part = hole.intersect(range);
      if (part.empty()) continue;
      if (part.offset_bytes > at) out.push_back({{at, part.offset_bytes - at}, false});
      out.push_back({part, true});
      at = part.end_bytes();
    }
    if (at < range.end_bytes()) out.push_back({{at, range.end_bytes() - at}, false});
    return out;
  }

 private:
  props::MemDevice& inner_;
  std::vector<Extent> holes_;
};

TEST(WindowTest, ASectorThatIsOnlyPartlyAHoleIsRead) {
  props::MemDevice memory(kMiB);
  memory.bytes()[1000] = std::byte{9};
  HoleDevice device(memory, {{700, 100 * 1024}});  // begins inside sector 1
  ByteVector storage(kWindowBytes);
  Window window = make_window_frame(device, 0, storage);
  read_window(device, window);
  EXPECT_EQ(window.classes[0], Class::kZero);
  EXPECT_EQ(window.classes[1], Class::kUnexplained)
      << "its bytes were read, whatever the map says of its tail";
  EXPECT_EQ(window.classes[2], Class::kHole);
}

TEST(WindowTest, ContextIsThereOnBothSidesWhereTheDeviceHasIt) {
  props::MemDevice device(9 * kMiB);
  ByteVector storage(kWindowBytes);
  const Window first = make_window_frame(device, 0, storage);
  EXPECT_EQ(first.extent, (Extent{0, kSegmentBytes + kMarginBytes}));
  const Window middle = make_window_frame(device, 1, storage);
  EXPECT_EQ(middle.extent,
            (Extent{kSegmentBytes - kLookBehindBytes, kLookBehindBytes + kSegmentBytes + kMarginBytes}));
  const Window last = make_window_frame(device, 2, storage);
  EXPECT_EQ(last.owned, (Extent{8 * kMiB, kMiB}));
  EXPECT_EQ(last.extent.end_bytes(), 9 * kMiB);
}

// Storage is reused from segment to segment: holes must not show an earlier segment's bytes.
TEST(WindowTest, StaleStorageNeverShowsThroughAHole) {
  props::MemDevice memory(kMiB);
  HoleDevice device(memory, {{0, kMiB}});
  ByteVector storage(kWindowBytes, std::byte{0xee});
  Window window = make_window_frame(device, 0, storage);
  read_window(device, window);
  EXPECT_TRUE(is_zero(window.bytes));
}

}  // namespace
}  // namespace vacant::scan
