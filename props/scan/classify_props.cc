// Laws of the classifier on single windows: quick, so that many disks are tried. The laws of whole scans are
// in ledger_props.cc.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "engine/classify.h"
#include "model.h"
#include "vacant/scan/write_map.h"

namespace vacant::props {
namespace {

using scan::Class;

// Classifies every slice and puts the owned parts together.
std::vector<Class> classes_by_window(BlockDevice& disk, const scan::Evidence& evidence) {
  scan::WindowReader reader(disk);
  std::vector<Class> classes;
  for (std::uint64_t at = 0; at < disk.size_bytes(); at += scan::kSliceBytes) {
    scan::Window& window = reader.read({at, std::min(scan::kSliceBytes, disk.size_bytes() - at)});
    static_cast<void>(scan::classify(window, evidence));
    for (std::size_t i = 0; i < window.sector_count(); ++i)
      if (window.owned.contains(window.sector_extent(i).offset_bytes)) classes.push_back(window.classes[i]);
  }
  return classes;
}

RC_GTEST_PROP(Classify, EqualsTheModelWithoutEvidence, ()) {
  MadeDisk made = make_disk(*disk_plan(scan::kSegmentBytes));
  RC_ASSERT(classes_by_window(*made.disk, {}) == model_classes(made, {}));
}

RC_GTEST_PROP(Classify, EqualsTheModelWithABaseImageAndAWriteMap, ()) {
  MadeDisk made = make_disk(*disk_plan(scan::kSegmentBytes));
  const scan::WriteMap map(made.written, "extents");
  scan::Evidence evidence;
  evidence.base_image = made.base.get();
  evidence.write_map = &map;
  RC_ASSERT(classes_by_window(*made.disk, evidence) == model_classes(made, {BaseKind::kImage, 0, true}));
}

RC_GTEST_PROP(Classify, EqualsTheModelWithABaseTree, ()) {
  const DiskPlan plan = *disk_plan(scan::kSegmentBytes);
  const auto block_bytes = *rc::gen::element<std::uint32_t>(512, 1024, 4096, 4096, 65536);
  MadeDisk made = make_disk(plan);
  RC_PRE(plan.base_bytes > 0);
  const auto tree = verify::HashTree::build(*made.base, {block_bytes, {}}, CancelToken{});
  RC_ASSERT(tree.has_value());
  const scan::WriteMap map(made.written, "extents");
  scan::Evidence evidence;
  evidence.base_tree = &*tree;
  evidence.write_map = &map;
  RC_ASSERT(classes_by_window(*made.disk, evidence) ==
            model_classes(made, {BaseKind::kTree, block_bytes, true}));
}

// The one error that may never happen: bytes of another tenant with an innocent class. Stated apart from the
// model, so that a fault common to model and engine would still show.
RC_GTEST_PROP(Classify, AForeignSectorIsNeverExplained, ()) {
  DiskPlan plan = *disk_plan(scan::kSegmentBytes);
  plan.pieces.push_back(
      {*rc::gen::element(PieceKind::kForeign, PieceKind::kForeignByte, PieceKind::kAlmostBase), 3});
  std::uint64_t first = plan.first_sector;
  for (const Piece& piece : plan.pieces) first += piece.sectors;
  first -= 3;
  plan.size_bytes = std::max(plan.size_bytes, (first + 3) * kSectorBytes);
  MadeDisk made = make_disk(plan);
  const scan::WriteMap map(made.written, "extents");
  scan::Evidence evidence;
  evidence.base_image = made.base.get();
  evidence.write_map = &map;
  const auto classes = classes_by_window(*made.disk, evidence);
  for (std::uint64_t i = first; i < first + 3; ++i) {
    // A changed bit can make a zero sector of base data: then it is rightly zero.
    const Extent sector{i * kSectorBytes, kSectorBytes};
    if (is_zero(ByteSpan(made.disk->bytes()).subspan(sector.offset_bytes, kSectorBytes))) continue;
    RC_ASSERT(classes[i] == Class::kUnexplained);
  }
}

}  // namespace
}  // namespace vacant::props
