// The generators: what they promise holds, and they do reach the cases that the laws are about.
#include "vacant/props/gen.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace vacant::props {
namespace {

RC_GTEST_PROP(Gen, ExtentsLieInside, ()) {
  const auto size = *rc::gen::inRange<std::uint64_t>(1, 100'000);
  const Extent extent = *extent_within(size);
  RC_ASSERT(!extent.empty());
  RC_ASSERT(extent.end_bytes() <= size);
}

RC_GTEST_PROP(Gen, APlanMakesTheSameDiskTwice, ()) {
  const DiskPlan plan = *disk_plan(64 * kKiB);
  MadeDisk one = make_disk(plan);
  MadeDisk two = make_disk(plan);
  RC_ASSERT(one.disk->bytes() == two.disk->bytes());
  RC_ASSERT(one.base->bytes() == two.base->bytes());
  RC_ASSERT(one.written == two.written);
  RC_ASSERT(one.disk->size_bytes() == plan.size_bytes);
  RC_ASSERT(one.base->size_bytes() == plan.base_bytes);
  RC_ASSERT(plan.base_bytes <= plan.size_bytes);
}

TEST(Gen, PlansReachEveryKindAndBothSidesOfABoundary) {
  std::set<PieceKind> kinds;
  bool across = false;
  bool small = false;
  bool odd = false;
  rc::Random random(1);
  for (int i = 0; i < 500; ++i) {
    const DiskPlan plan = disk_plan(4 * kMiB)(random.split(), 50).value();
    for (const Piece& piece : plan.pieces) kinds.insert(piece.kind);
    across |=
        plan.first_sector * kSectorBytes < 4 * kMiB && plan.size_bytes > 4 * kMiB && !plan.pieces.empty();
    small |= plan.size_bytes < 64 * kKiB;
    odd |= plan.size_bytes % kSectorBytes != 0;
  }
  EXPECT_EQ(kinds.size(), 8U);
  EXPECT_TRUE(across && small && odd);
}

}  // namespace
}  // namespace vacant::props
