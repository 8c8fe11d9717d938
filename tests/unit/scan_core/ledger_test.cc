#include "vacant/scan/ledger.h"

#include <gtest/gtest.h>

namespace vacant::scan {
namespace {

TEST(LedgerTest, MergesNeighboursAndKeepsTotals) {
  Ledger ledger(4096);
  ledger.append({0, 512}, Class::kZero);
  ledger.append({512, 512}, Class::kZero);
  ledger.append({1024, 512}, Class::kBase);
  EXPECT_FALSE(ledger.complete());
  ledger.append({1536, 2560}, Class::kZero);
  EXPECT_TRUE(ledger.complete());
  EXPECT_EQ(ledger.extents(),
            (std::vector<ClassExtent>{
                {{0, 1024}, Class::kZero}, {{1024, 512}, Class::kBase}, {{1536, 2560}, Class::kZero}}));
  EXPECT_EQ(ledger.totals()[static_cast<std::size_t>(Class::kZero)], 3584U);
}

TEST(LedgerTest, StaysExactBeyondTheExtentsThatItKeeps) {
  const std::uint64_t sectors = kMaxLedgerExtents + 1001;
  Ledger ledger(sectors * 512);
  for (std::uint64_t i = 0; i < sectors; ++i)
    ledger.append({i * 512, 512}, i % 2 == 0 ? Class::kZero : Class::kUnexplained);
  EXPECT_TRUE(ledger.truncated());
  EXPECT_EQ(ledger.extent_count(), sectors);
  EXPECT_EQ(ledger.extents().size(), kMaxLedgerExtents);
  EXPECT_EQ(ledger.totals()[static_cast<std::size_t>(Class::kUnexplained)], sectors / 2 * 512);
  ClassBytes map_sum{};
  for (const ClassBytes& cell : ledger.map().cells)
    for (std::size_t i = 0; i < kClassCount; ++i) map_sum[i] += cell[i];
  EXPECT_EQ(map_sum, ledger.totals());
}

}  // namespace
}  // namespace vacant::scan
