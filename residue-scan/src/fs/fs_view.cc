#include "vacant/scan/fs_view.h"

#include <algorithm>

namespace vacant::scan {

namespace {

// The first extent that ends behind the offset.
std::vector<FsExtent>::const_iterator first_behind(const std::vector<FsExtent>& extents,
                                                   std::uint64_t offset_bytes) {
  return std::ranges::upper_bound(extents, offset_bytes, {},
                                  [](const FsExtent& entry) { return entry.extent.end_bytes(); });
}

}  // namespace

Place FsView::place_of(std::uint64_t offset_bytes) const {
  Place place;
  const auto found = first_behind(extents, offset_bytes);
  if (found != extents.end() && found->extent.contains(offset_bytes)) {
    place.volume = found->volume;
    place.part = found->part;
    place.inode = found->inode;
    return place;
  }
  for (std::size_t index = 0; index < volumes.size(); ++index) {
    if (!volumes[index].extent.contains(offset_bytes)) continue;
    place.volume = static_cast<int>(index);
    place.part = volumes[index].parsed ? FsPart::kFree : FsPart::kOutside;
    return place;
  }
  return place;
}

bool FsView::is_live(const Extent& extent) const {
  std::uint64_t at = extent.offset_bytes;
  for (auto next = first_behind(extents, at); at < extent.end_bytes(); ++next) {
    if (next == extents.end() || !next->extent.contains(at) || !next->live) return false;
    at = next->extent.end_bytes();
  }
  return true;
}

}  // namespace vacant::scan
