// Ledger: every byte of a device in exactly one class, at 512-byte granularity, and the report's block map.
// Not thread-safe: the engine merges finished segments in device order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vacant/base/extent.h"
#include "vacant/scan/class.h"

namespace vacant::scan {

struct ClassExtent {
  Extent extent;
  Class cls;
  friend auto operator<=>(const ClassExtent&, const ClassExtent&) = default;
};

using ClassBytes = std::array<std::uint64_t, kClassCount>;  // indexed by Class

// A fixed number of equal cells over the device, each with its bytes per class.
struct BlockMap {
  std::uint64_t cell_bytes = 0;  // multiple of 512; the last cell may be shorter
  std::vector<ClassBytes> cells;
};

inline constexpr std::size_t kMaxLedgerExtents =
    1'000'000;                                    // kept in the report; totals stay exact beyond it
inline constexpr std::size_t kMapCells = 16'384;  // at most

class Ledger {
 public:
  explicit Ledger(std::uint64_t size_bytes);
  // Appends the next range. Caller's duty, asserted: it begins where the last one ended.
  void append(const Extent& extent, Class cls);
  [[nodiscard]] std::uint64_t covered_bytes() const { return covered_bytes_; }
  [[nodiscard]] bool complete() const { return covered_bytes_ == size_bytes_; }
  [[nodiscard]] const ClassBytes& totals() const { return totals_; }
  [[nodiscard]] const std::vector<ClassExtent>& extents() const { return extents_; }
  [[nodiscard]] std::uint64_t extent_count() const { return extent_count_; }  // also those not kept
  [[nodiscard]] bool truncated() const { return extent_count_ > extents_.size(); }
  [[nodiscard]] const BlockMap& map() const { return map_; }

 private:
  std::uint64_t size_bytes_;
  std::uint64_t covered_bytes_ = 0;
  ClassBytes totals_{};
  std::vector<ClassExtent> extents_;
  std::uint64_t extent_count_ = 0;
  Class last_class_{};
  BlockMap map_;
};

}  // namespace vacant::scan
