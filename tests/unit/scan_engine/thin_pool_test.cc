// The fault that this product was made for, in a simulated pool: with zeroing off the rest of each block is
// the last user's.
#include <gtest/gtest.h>

#include "fixtures.h"
#include "vacant/props/devices.h"

namespace vacant::scan {
namespace {

using props::ThinPoolSim;

struct Placement {
  bool zeroing;
  std::uint64_t written_bytes;  // of each 64 KiB block
};

// Tenant A fills the pool and goes; tenant B writes the start of each of its blocks. What the scan says of
// B's disk.
Report scan_second_tenant(const Placement& placement) {
  ThinPoolSim::Options options;
  options.block_count = 64;
  options.zeroing = placement.zeroing;
  ThinPoolSim pool(options);
  {
    const auto first = pool.create_volume(4 * kMiB);
    EXPECT_TRUE(first->write(0, random_bytes(4 * kMiB, 1)));
  }
  const auto second = pool.create_volume(4 * kMiB);
  for (std::uint64_t at = 0; at < 4 * kMiB; at += 64 * kKiB)
    EXPECT_TRUE(second->write(at, random_bytes(placement.written_bytes, at)));
  ScanOptions scan_options = inventory(Policy::kInUse);
  scan_options.write_map = WriteMap(ThinPoolSim::written(*second), "extents");
  auto report = scan(*second, scan_options);
  EXPECT_TRUE(report);
  return std::move(*report);
}

TEST(ThinPool, WithoutZeroingTheOtherSixtyKiBAreSomebodyElses) {
  const Report report = scan_second_tenant({false, 4 * kKiB});
  EXPECT_EQ(report.verdict, Verdict::kResidue);
  EXPECT_EQ(class_bytes(report, Class::kOwn), 64 * 4 * kKiB);
  EXPECT_EQ(class_bytes(report, Class::kUnexplained), 64 * 60 * kKiB);
}

TEST(ThinPool, WithZeroingNothingOfAnybodysIsThere) {
  const Report report = scan_second_tenant({true, 4 * kKiB});
  EXPECT_EQ(report.verdict, Verdict::kVacant);
  EXPECT_EQ(class_bytes(report, Class::kOwn), 64 * 4 * kKiB);
}

TEST(ThinPool, WholeBlocksOfOwnWritingLeaveNoRoomForIt) {
  const Report report = scan_second_tenant({false, 64 * kKiB});
  EXPECT_EQ(report.verdict, Verdict::kVacant);
}

}  // namespace
}  // namespace vacant::scan
