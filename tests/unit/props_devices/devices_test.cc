#include "vacant/props/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace vacant::props {
namespace {

ByteVector filled(std::size_t size, int value) { return ByteVector(size, static_cast<std::byte>(value)); }

ByteVector read_all(BlockDevice& device) {
  ByteVector out(device.size_bytes());
  EXPECT_TRUE(device.read(0, out).has_value());
  return out;
}

std::size_t count_of(const ByteVector& bytes, int value) {
  return static_cast<std::size_t>(std::ranges::count(bytes, static_cast<std::byte>(value)));
}

TEST(MemDevice, ReadsWhatWasWrittenAndRefusesThePastEnd) {
  MemDevice device(8192);
  ASSERT_TRUE(device.write(4095, filled(2, 7)).has_value());
  const ByteVector bytes = read_all(device);
  EXPECT_EQ(count_of(bytes, 7), 2u);
  EXPECT_EQ(bytes[4095], std::byte{7});
  ByteVector two(2);
  EXPECT_TRUE(device.read(8190, two).has_value());
  const auto past = device.read(8191, two);
  ASSERT_FALSE(past.has_value());
  EXPECT_EQ(past.error().code, Code::kIo);
  EXPECT_EQ(past.error().sys_errno, EIO);
  EXPECT_FALSE(device.read(UINT64_MAX, two).has_value());
  EXPECT_FALSE(device.write(8191, two).has_value());
  EXPECT_FALSE(device.zero({UINT64_MAX, 2}).has_value());
  EXPECT_EQ(device.read_calls(), 4u);
}

TEST(MemDevice, AllocationIsGaplessAndShowsHolesOnlyWhenTrusted) {
  MemDevice trusted(64 * kKiB, true);
  MemDevice plain(64 * kKiB, false);
  for (MemDevice* device : {&trusted, &plain})
    ASSERT_TRUE(device->write(8 * kKiB, filled(10, 1)).has_value());
  const auto map = trusted.allocation({512, 60 * kKiB});
  ASSERT_TRUE(map.has_value());
  EXPECT_THAT(*map, ::testing::ElementsAre(Allocation{{512, 8 * kKiB - 512}, true},
                                           Allocation{{8 * kKiB, 4 * kKiB}, false},
                                           Allocation{{12 * kKiB, 48 * kKiB + 512}, true}));
  EXPECT_THAT(*plain.allocation({0, 64 * kKiB}), ::testing::ElementsAre(Allocation{{0, 64 * kKiB}, false}));
}

TEST(FaultDevice, FailsReadsThatTouchABadExtentAndNoOthers) {
  MemDevice inner(8192);
  FaultDevice device(inner);
  device.fail_reads({4096, 512});
  ByteVector sector(512);
  EXPECT_TRUE(device.read(3584, sector).has_value());
  EXPECT_TRUE(device.read(4608, sector).has_value());
  const auto bad = device.read(4095, sector);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().sys_errno, EIO);
}

TEST(FaultDevice, FailsEveryReadAfterACount) {
  MemDevice inner(4096);
  FaultDevice device(inner);
  device.fail_reads_after(2);
  ByteVector sector(512);
  EXPECT_TRUE(device.read(0, sector).has_value());
  EXPECT_TRUE(device.read(0, sector).has_value());
  EXPECT_FALSE(device.read(0, sector).has_value());
  EXPECT_FALSE(device.read(0, sector).has_value());
}

TEST(FaultDevice, TearsAFailingWrite) {
  MemDevice inner(8192);
  FaultDevice device(inner);
  device.fail_writes_after(1, ENOSPC);
  device.tear_writes(100);
  ASSERT_TRUE(device.write(0, filled(512, 1)).has_value());
  const auto torn = device.write(4096, filled(512, 2));
  ASSERT_FALSE(torn.has_value());
  EXPECT_EQ(torn.error().sys_errno, ENOSPC);
  EXPECT_EQ(count_of(inner.bytes(), 1), 512u);
  EXPECT_EQ(count_of(inner.bytes(), 2), 100u);
  EXPECT_FALSE(device.zero({0, 512}).has_value());
  EXPECT_EQ(count_of(inner.bytes(), 1), 412u);  // torn as well
  EXPECT_FALSE(device.discard({0, 512}).has_value());
  EXPECT_EQ(count_of(inner.bytes(), 1), 412u);
}

TEST(LyingDiscardDevice, DoesAsToldByItsBehaviour) {
  const auto after_discard = [](DiscardBehaviour behaviour, bool expected_ok) {
    MemDevice inner(filled(4096, 9));
    LyingDiscardDevice device(inner, behaviour);
    EXPECT_EQ(device.discard({0, 4096}).has_value(), expected_ok);
    return count_of(read_all(device), 9);
  };
  EXPECT_EQ(after_discard(DiscardBehaviour::kWorks, true), 0u);
  EXPECT_EQ(after_discard(DiscardBehaviour::kUnsupported, false), 4096u);
  EXPECT_EQ(after_discard(DiscardBehaviour::kIgnored, true), 4096u);
}

// One tenant fills its volume and leaves; the next writes 4 KiB of each 64 KiB. How many old bytes does it
// see?
std::size_t foreign_bytes_seen(const ThinPoolSim::Options& options, bool by_discard) {
  ThinPoolSim pool(options);
  const std::uint64_t size = options.block_bytes * 8;
  auto first = pool.create_volume(size);
  EXPECT_TRUE(first->write(0, filled(size, 0xAA)).has_value());
  if (by_discard)
    EXPECT_TRUE(first->discard({0, size}).has_value());
  else
    first.reset();
  auto second = pool.create_volume(size);
  EXPECT_EQ(count_of(read_all(*second), 0xAA), 0u);  // unmapped blocks read as zeros in any pool
  for (std::uint64_t at = 0; at < size; at += options.block_bytes)
    EXPECT_TRUE(second->write(at, filled(4096, 0xBB)).has_value());
  const ByteVector bytes = read_all(*second);
  EXPECT_EQ(count_of(bytes, 0xBB), 8u * 4096);
  return count_of(bytes, 0xAA);
}

TEST(ThinPoolSim, ZeroingHidesTheFormerTenantAndWithoutItHisBytesShow) {
  for (const bool by_discard : {false, true}) {
    EXPECT_EQ(foreign_bytes_seen({.block_count = 16, .zeroing = true}, by_discard), 0u);
    EXPECT_EQ(foreign_bytes_seen({.block_count = 16, .zeroing = false}, by_discard), 8u * 60 * kKiB);
    EXPECT_EQ(foreign_bytes_seen({.block_count = 16, .zeroing = false, .discard_passdown = true}, by_discard),
              0u);
  }
}

TEST(ThinPoolSim, HandsOutTheBlockThatWasFreedLast) {
  ThinPoolSim pool({.block_count = 4, .zeroing = false});
  auto first = pool.create_volume(2 * 64 * kKiB);
  ASSERT_TRUE(first->write(0, filled(64 * kKiB, 1)).has_value());
  ASSERT_TRUE(first->write(64 * kKiB, filled(64 * kKiB, 2)).has_value());
  ASSERT_TRUE(first->discard({64 * kKiB, 64 * kKiB}).has_value());
  ASSERT_TRUE(first->discard({0, 64 * kKiB}).has_value());
  ASSERT_TRUE(first->write(0, filled(1, 3)).has_value());
  EXPECT_EQ(count_of(read_all(*first), 1), 64 * kKiB - 1);
}

TEST(ThinPoolSim, KeepsPartsOfBlocksOnDiscardAndCountsItsBlocks) {
  ThinPoolSim pool({.block_count = 2});
  auto volume = pool.create_volume(4 * 64 * kKiB);
  EXPECT_EQ(pool.free_blocks(), 2u);
  ASSERT_TRUE(volume->write(64 * kKiB - 1, filled(2, 5)).has_value());
  EXPECT_EQ(pool.free_blocks(), 0u);
  const auto full = volume->write(3 * 64 * kKiB, filled(1, 5));
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().sys_errno, ENOSPC);
  ASSERT_TRUE(volume->discard({1, 64 * kKiB}).has_value());  // covers no whole block
  EXPECT_EQ(pool.free_blocks(), 0u);
  EXPECT_EQ(count_of(read_all(*volume), 5), 2u);
  ASSERT_TRUE(volume->discard({0, 2 * 64 * kKiB}).has_value());
  EXPECT_EQ(pool.free_blocks(), 2u);
  EXPECT_EQ(count_of(read_all(*volume), 5), 0u);
}

TEST(ThinPoolSim, KnowsWhatAVolumeWroteItself) {
  ThinPoolSim pool({.block_count = 8});
  auto volume = pool.create_volume(4 * 64 * kKiB);
  EXPECT_TRUE(ThinPoolSim::written(*volume).empty());
  ASSERT_TRUE(volume->write(4096, filled(4096, 1)).has_value());
  ASSERT_TRUE(volume->write(8192, filled(100'000, 1)).has_value());
  ASSERT_TRUE(volume->write(200'000, filled(1, 1)).has_value());
  EXPECT_THAT(ThinPoolSim::written(*volume),
              ::testing::ElementsAre(Extent{4096, 104'096}, Extent{200'000, 1}));
  ASSERT_TRUE(volume->discard({0, 64 * kKiB}).has_value());
  EXPECT_THAT(ThinPoolSim::written(*volume),
              ::testing::ElementsAre(Extent{64 * kKiB, 108'192 - 64 * kKiB}, Extent{200'000, 1}));
}

TEST(ThinPoolSim, IsSafeUnderThreads) {
  ThinPoolSim pool({.block_count = 64});
  std::vector<std::jthread> tenants;
  for (int tenant = 1; tenant <= 4; ++tenant)
    tenants.emplace_back([&pool, tenant] {
      for (int round = 0; round < 20; ++round) {
        auto volume = pool.create_volume(8 * 64 * kKiB);
        for (std::uint64_t at = 0; at < volume->size_bytes(); at += 64 * kKiB)
          EXPECT_TRUE(volume->write(at, filled(4096, tenant)).has_value());
        const ByteVector bytes = read_all(*volume);
        EXPECT_EQ(count_of(bytes, tenant) + count_of(bytes, 0), bytes.size());
      }
    });
  tenants.clear();
  EXPECT_EQ(pool.free_blocks(), 64u);
}

}  // namespace
}  // namespace vacant::props
