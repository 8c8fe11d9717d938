// Clearing a disk, on devices that work, refuse or lie, and the blocks of a thin pool.
#include "vacant/img/zero.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "vacant/props/devices.h"

namespace vacant::img {
namespace {

using props::DiscardBehaviour;
using props::FaultDevice;
using props::LyingDiscardDevice;
using props::MemDevice;

constexpr std::uint64_t kSize = 5 * kMiB + 1536;

MemDevice dirty() { return MemDevice(ByteVector(kSize, std::byte{0xA5})); }

bool all_zero(ByteSpan bytes) { return is_zero(bytes); }

TEST(Zero, WhateverDiscardDoes) {
  for (const auto behaviour :
       {DiscardBehaviour::kWorks, DiscardBehaviour::kUnsupported, DiscardBehaviour::kIgnored}) {
    MemDevice memory = dirty();
    ASSERT_FALSE(all_zero(memory.bytes()));
    LyingDiscardDevice device(memory, behaviour);
    const auto stats = zero_device(device, {});
    ASSERT_TRUE(stats) << stats.error().message;
    EXPECT_TRUE(all_zero(memory.bytes()));
    EXPECT_EQ(stats->verified_bytes, kSize);
    EXPECT_EQ(stats->overwritten_bytes, behaviour == DiscardBehaviour::kWorks ? 0 : kSize);
    EXPECT_EQ(stats->discard_accepted, behaviour != DiscardBehaviour::kUnsupported);
  }
}

TEST(Zero, WhatIsToBeKeptIsKept) {
  MemDevice memory = dirty();
  ZeroOptions options;
  options.keep = {{0, 512}, {kMiB - 100, 300}, {3 * kMiB, 2 * kMiB}, {kSize - 1, 1}};
  const auto stats = zero_device(memory, options);
  ASSERT_TRUE(stats);
  std::uint64_t kept = 0;
  for (std::uint64_t at = 0; at < kSize; ++at) {
    const bool keep =
        std::ranges::any_of(options.keep, [&](const Extent& extent) { return extent.contains(at); });
    kept += keep ? 1 : 0;
    ASSERT_EQ(memory.bytes()[at], keep ? std::byte{0xA5} : std::byte{0}) << at;
  }
  EXPECT_EQ(stats->verified_bytes, kSize - kept);
}

// A device that takes zeros and keeps what it had.
class Stubborn final : public BlockDevice {
 public:
  explicit Stubborn(BlockDevice& inner, bool zero_only) : inner_(inner), zero_only_(zero_only) {}
  [[nodiscard]] const DeviceInfo& info() const override { return inner_.info(); }
  Result<void> read(std::uint64_t at, MutableByteSpan out) override { return inner_.read(at, out); }
  Result<void> write(std::uint64_t at, ByteSpan bytes) override {
    return zero_only_ ? inner_.write(at, bytes) : Result<void>{};
  }
  Result<void> zero(const Extent&) override { return {}; }
  Result<void> discard(const Extent&) override { return {}; }
  Result<void> flush() override { return {}; }
  Result<std::vector<Allocation>> allocation(const Extent& range) override {
    return inner_.allocation(range);
  }

 private:
  BlockDevice& inner_;
  bool zero_only_;
};

TEST(Zero, AZeroRequestThatLiesIsFollowedByWrites) {
  MemDevice memory = dirty();
  Stubborn device(memory, true);
  ASSERT_TRUE(zero_device(device, {}));
  EXPECT_TRUE(all_zero(memory.bytes()));
}

TEST(Zero, ADeviceThatKeepsItsBytesIsAnError) {
  MemDevice memory = dirty();
  Stubborn device(memory, false);
  const auto stats = zero_device(device, {});
  ASSERT_FALSE(stats);
  EXPECT_EQ(stats.error().code, Code::kIo);
}

TEST(Zero, FaultsAndCtrlCAreErrors) {
  MemDevice memory = dirty();
  FaultDevice unreadable(memory);
  unreadable.fail_reads({2 * kMiB, 512});
  EXPECT_FALSE(zero_device(unreadable, {}));
  FaultDevice full(memory);
  full.fail_writes_after(1, ENOSPC);
  ZeroOptions options;
  options.discard = false;
  memory.bytes().assign(kSize, std::byte{1});
  EXPECT_FALSE(zero_device(full, options));
  CancelToken cancel;
  cancel.cancel();
  options.cancel = &cancel;
  const auto stopped = zero_device(memory, options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
}

// Reading a volume of a pool without zeroing proves nothing of blocks that are not mapped yet: only writing
// every byte does.
TEST(Zero, EveryByteMapsAndClearsTheBlocksOfAPool) {
  for (const bool every_byte : {false, true}) {
    props::ThinPoolSim::Options pool_options;
    pool_options.block_count = 16;
    pool_options.zeroing = false;
    props::ThinPoolSim pool(pool_options);
    {
      const auto former = pool.create_volume(kMiB);
      ASSERT_TRUE(former->write(0, ByteVector(kMiB, std::byte{0xA5})));
    }
    const auto volume = pool.create_volume(kMiB);
    ZeroOptions options;
    options.every_byte = every_byte;
    ASSERT_TRUE(zero_device(*volume, options));
    ASSERT_TRUE(volume->write(64 * kKiB, ByteVector(4096, std::byte{1})));
    ByteVector rest(60 * kKiB);
    ASSERT_TRUE(volume->read(68 * kKiB, rest));
    EXPECT_EQ(all_zero(rest), every_byte);
  }
}

}  // namespace
}  // namespace vacant::img
