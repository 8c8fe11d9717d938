#include "engine/window.h"

#include <gtest/gtest.h>

#include "fixtures.h"
#include "vacant/props/gen.h"

namespace vacant::scan {
namespace {

class Forward : public BlockDevice {
 public:
  explicit Forward(props::MemDevice& inner) : inner_(inner) {}
  [[nodiscard]] const DeviceInfo& info() const override { return inner_.info(); }
  Result<void> read(std::uint64_t offset, MutableByteSpan out) override { return inner_.read(offset, out); }
  Result<void> write(std::uint64_t offset, ByteSpan bytes) override { return inner_.write(offset, bytes); }
  Result<void> zero(const Extent& extent) override { return inner_.zero(extent); }
  Result<void> discard(const Extent& extent) override { return inner_.discard(extent); }
  Result<void> flush() override { return {}; }
  Result<std::vector<Allocation>> allocation(const Extent& range) override {
    return inner_.allocation(range);
  }

 private:
  props::MemDevice& inner_;
};

// A device whose allocation map lies about nothing, but cuts holes inside sectors.
class HoleDevice final : public Forward {
 public:
  HoleDevice(props::MemDevice& inner, std::vector<Extent> holes) : Forward(inner), holes_(std::move(holes)) {}
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
  std::vector<Extent> holes_;
};

TEST(WindowTest, ASectorThatIsOnlyPartlyAHoleIsRead) {
  props::MemDevice memory(kMiB);
  memory.bytes()[1000] = std::byte{9};
  HoleDevice device(memory, {{700, 100 * 1024}});  // begins inside sector 1
  WindowReader reader(device);
  const Window& window = reader.read({0, kSliceBytes});
  EXPECT_EQ(window.classes[0], Class::kZero);
  EXPECT_EQ(window.classes[1], Class::kUnexplained)
      << "its bytes were read, whatever the map says of its tail";
  EXPECT_EQ(window.classes[2], Class::kHole);
}

TEST(WindowTest, ContextIsThereOnBothSidesWhereTheDeviceHasIt) {
  constexpr std::uint64_t kSize = 3 * kSliceBytes;
  props::MemDevice device(kSize);
  WindowReader reader(device);
  EXPECT_EQ(reader.read({0, kSliceBytes}).extent, (Extent{0, kSliceBytes + kMarginBytes}));
  EXPECT_EQ(reader.read({kSliceBytes, kSliceBytes}).extent,
            (Extent{kSliceBytes - kLookBehindBytes, kLookBehindBytes + kSliceBytes + kMarginBytes}));
  const Window& last = reader.read({2 * kSliceBytes, kSliceBytes});
  EXPECT_EQ(last.extent.end_bytes(), kSize);
}

// Storage is reused from window to window: holes must not show an earlier window's bytes.
TEST(WindowTest, StaleStorageNeverShowsThroughAHole) {
  props::MemDevice memory(props::seeded_bytes(5, 2 * kSliceBytes));
  HoleDevice device(memory, {{kSliceBytes + kMarginBytes, kSliceBytes}});
  WindowReader reader(device);
  EXPECT_FALSE(is_zero(reader.read({0, kSliceBytes}).bytes));
  const Window& window = reader.read({kSliceBytes, kSliceBytes});
  EXPECT_TRUE(is_zero(window.bytes.subspan(kLookBehindBytes + kMarginBytes)));
}

// Counts what is read, and fails where it is told to.
class CountingDevice final : public Forward {
 public:
  CountingDevice(props::MemDevice& inner, std::vector<Extent> bad) : Forward(inner), bad_(std::move(bad)) {}
  Result<void> read(std::uint64_t offset, MutableByteSpan out) override {
    for (const Extent& bad : bad_)
      if (bad.overlaps({offset, out.size()})) return fail(Code::kIo, "made to fail");
    read_bytes += out.size();
    return Forward::read(offset, out);
  }

  std::uint64_t read_bytes = 0;

 private:
  std::vector<Extent> bad_;
};

// In order, out of order and again: a window is the same whatever was read before it.
TEST(WindowTest, ACarriedWindowEqualsAFreshOne) {
  constexpr std::uint64_t kSize = 4 * kSliceBytes + 1000;
  ByteVector bytes = props::seeded_bytes(7, kSize);
  std::fill(bytes.begin() + kSliceBytes - 3000, bytes.begin() + kSliceBytes + 9000, std::byte{0});
  std::fill(bytes.begin() + 3 * kSliceBytes + 70000, bytes.begin() + 3 * kSliceBytes + 90000, std::byte{0});
  props::MemDevice memory(bytes);
  const std::vector<Extent> bad = {{2 * kSliceBytes + 512, 512}, {3 * kSliceBytes - 4096, 1024}};
  CountingDevice device(memory, bad);
  WindowReader reader(device);
  for (const std::uint64_t slice : {0, 1, 2, 3, 4, 3, 3, 0, 2, 1, 2, 4, 0, 1}) {
    const Extent owned = Extent{slice * kSliceBytes, kSliceBytes}.intersect({0, kSize});
    const Window& carried = reader.read(owned);
    WindowReader other(device);
    const Window& fresh = other.read(owned);
    ASSERT_EQ(carried.extent, fresh.extent);
    EXPECT_EQ(carried.classes, fresh.classes) << slice;
    EXPECT_TRUE(std::ranges::equal(carried.bytes, fresh.bytes)) << slice;
    EXPECT_EQ(carried.unreadable, fresh.unreadable) << slice;
    reader.read(owned).classes.assign(fresh.classes.size(), Class::kOwn);  // what the engine does with them
  }
}

TEST(WindowTest, EachByteIsReadOnceInOrder) {
  props::MemDevice memory(props::seeded_bytes(9, 4 * kSliceBytes));
  CountingDevice device(memory, {});
  WindowReader reader(device);
  for (std::uint64_t at = 0; at < memory.size_bytes(); at += kSliceBytes) reader.read({at, kSliceBytes});
  EXPECT_EQ(device.read_bytes, memory.size_bytes());
}

}  // namespace
}  // namespace vacant::scan
