#include "vacant/scan/ledger.h"

#include <algorithm>

namespace vacant::scan {

Ledger::Ledger(std::uint64_t size_bytes) : size_bytes_(size_bytes) {
  const std::uint64_t per_cell = (size_bytes + kMapCells - 1) / kMapCells;
  map_.cell_bytes = std::max(kSectorBytes, round_up(per_cell, kSectorBytes));
  map_.cells.resize(static_cast<std::size_t>((size_bytes + map_.cell_bytes - 1) / map_.cell_bytes));
}

void Ledger::append(const Extent& extent, Class cls) {
  VACANT_ASSERT(extent.offset_bytes == covered_bytes_ && extent.end_bytes() <= size_bytes_);
  if (extent.empty()) return;
  const auto index = static_cast<std::size_t>(cls);
  totals_[index] += extent.length_bytes;
  for (std::uint64_t at = extent.offset_bytes; at < extent.end_bytes();) {
    const std::uint64_t cell = at / map_.cell_bytes;
    const std::uint64_t end = std::min(extent.end_bytes(), (cell + 1) * map_.cell_bytes);
    map_.cells[static_cast<std::size_t>(cell)][index] += end - at;
    at = end;
  }
  const bool continues = extent_count_ > 0 && last_class_ == cls;
  if (continues && !truncated()) extents_.back().extent.length_bytes += extent.length_bytes;
  if (!continues) {
    ++extent_count_;
    if (extents_.size() < kMaxLedgerExtents) extents_.push_back({extent, cls});
  }
  last_class_ = cls;
  covered_bytes_ = extent.end_bytes();
}

}  // namespace vacant::scan
