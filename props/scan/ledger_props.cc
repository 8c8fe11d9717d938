// Laws of whole scans: the ledger equals the model, nothing unread is ever vacant, and neither threads nor a
// stop in the middle change a byte of the report.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "model.h"
#include "run.h"
#include "vacant/scan/detector.h"
#include "vacant/scan/engine.h"

namespace vacant::props {
namespace {

using scan::Class;
using scan::Policy;
using scan::Profile;
using scan::Report;
using scan::ScanOptions;
using scan::Verdict;

ScanOptions inventory(Policy policy, unsigned threads) {
  ScanOptions options;
  options.policy = policy;
  options.profile = Profile::kInventory;
  options.threads = threads;
  return options;
}

Report must_scan(BlockDevice& device, const ScanOptions& options) {
  auto report = scan::scan(device, options);
  if (!report) RC_FAIL(report.error().message);
  return std::move(*report);
}

std::uint64_t bytes_of(const Report& report, Class cls) {
  return report.class_bytes[static_cast<std::size_t>(cls)];
}

RC_GTEST_PROP(Ledger, EqualsTheModelForAnyComposition, ()) {
  MadeDisk made = make_disk(*disk_plan(scan::kSegmentBytes));
  const auto base = *rc::gen::element(BaseKind::kNone, BaseKind::kImage, BaseKind::kTree);
  const bool in_use = *rc::gen::arbitrary<bool>();
  RC_PRE(base == BaseKind::kNone || made.base->size_bytes() > 0);
  ScanOptions options = inventory(in_use ? Policy::kInUse : Policy::kHandover, *rc::gen::inRange(1U, 4U));
  if (in_use) options.write_map = scan::WriteMap(made.written, "extents");
  std::optional<verify::HashTree> tree;
  if (base == BaseKind::kImage) options.base_image = made.base.get();
  if (base == BaseKind::kTree) {
    tree = std::move(*verify::HashTree::build(*made.base, {}, CancelToken{}));
    options.base_tree = &*tree;
  }
  const Report report = must_scan(*made.disk, options);
  const auto classes = model_classes(made, {base, 4096, in_use});
  RC_ASSERT(report.extents == model_extents(made, classes));
  RC_ASSERT(report.class_bytes == model_totals(made, classes));
  std::uint64_t total = 0;
  for (const std::uint64_t bytes : report.class_bytes) total += bytes;
  RC_ASSERT(total == made.disk->size_bytes());
  const bool clean =
      std::ranges::all_of(classes, [&](Class cls) { return scan::accepts(options.policy, cls); });
  RC_ASSERT(report.verdict == (clean ? Verdict::kVacant : Verdict::kResidue));
}

// A disk of zeros, holes and base: vacant under every policy, so that only the fault can change the verdict.
DiskPlan vacant_plan() {
  DiskPlan plan = *disk_plan(scan::kSegmentBytes);
  for (Piece& piece : plan.pieces)
    if (piece.kind != PieceKind::kZero && piece.kind != PieceKind::kBase) piece.kind = PieceKind::kUntouched;
  plan.base_bytes = plan.size_bytes;
  plan.trust_holes = false;
  return plan;
}

RC_GTEST_PROP(Ledger, AnUnreadByteIsNeverVacant, ()) {
  MadeDisk made = make_disk(vacant_plan());
  ScanOptions options = inventory(*rc::gen::element(Policy::kHandover, Policy::kInUse, Policy::kInside),
                                  *rc::gen::inRange(1U, 4U));
  options.base_image = made.base.get();
  if (options.policy == Policy::kInUse)
    options.write_map = scan::WriteMap({{0, made.disk->size_bytes()}}, "extents");
  const Report control = must_scan(*made.disk, options);
  if (options.policy != Policy::kInside) RC_ASSERT(control.verdict == Verdict::kVacant);
  FaultDevice faulty(*made.disk);
  const Extent bad = *extent_within(made.disk->size_bytes());
  faulty.fail_reads(bad);
  const Report report = must_scan(faulty, options);
  RC_ASSERT(report.verdict == Verdict::kNotProven);
  // Exactly the sectors that the fault touches are lost, no more.
  const std::uint64_t end = std::min(round_up(bad.end_bytes(), kSectorBytes), made.disk->size_bytes());
  RC_ASSERT(bytes_of(report, Class::kUnreadable) == end - round_down(bad.offset_bytes, kSectorBytes));
  RC_ASSERT(!report.skipped.empty());
}

RC_GTEST_PROP(Ledger, ADeviceThatDiesInTheMiddleIsNeverVacant, ()) {
  MadeDisk made = make_disk(vacant_plan());
  ScanOptions options = inventory(Policy::kHandover, 1);
  options.base_image = made.base.get();
  const std::uint64_t before = made.disk->read_calls();
  RC_ASSERT(must_scan(*made.disk, options).verdict == Verdict::kVacant);
  const std::uint64_t reads = made.disk->read_calls() - before;
  RC_PRE(reads > 0);
  FaultDevice faulty(*made.disk);
  faulty.fail_reads_after(*rc::gen::inRange<std::uint64_t>(0, reads));
  const auto report = scan::scan(faulty, options);
  // A device of which nothing can be read may also be refused as a whole.
  if (report) RC_ASSERT(report->verdict == Verdict::kNotProven);
}

RC_GTEST_PROP(Ledger, ReportsDoNotDependOnTheNumberOfThreads, ()) {
  MadeDisk made = make_disk(*disk_plan(scan::kSegmentBytes));
  const std::string one = scan::to_json(must_scan(*made.disk, inventory(Policy::kHandover, 1)));
  for (unsigned threads = 2; threads <= 4; ++threads)
    RC_ASSERT(scan::to_json(must_scan(*made.disk, inventory(Policy::kHandover, threads))) == one);
}

// Writes the disk to a file: only a source with a change stamp can be resumed.
std::string save(MadeDisk& made, const testing::TempDir& folder) {
  const std::string path = folder.file("disk");
  testing::write_text(path, as_text(made.disk->bytes()));
  return path;
}

std::unique_ptr<BlockDevice> must_open(const std::string& path) {
  auto device = open_device(path, OpenOptions{});
  if (!device) RC_FAIL(device.error().message);
  return std::move(*device);
}

RC_GTEST_PROP(Ledger, AStopAtAnyPointAndAResumeGiveTheSameReport, ()) {
  DiskPlan plan = *disk_plan(scan::kSegmentBytes);
  plan.size_bytes += *rc::gen::element<std::uint64_t>(0, 3, 5) * scan::kSegmentBytes;
  MadeDisk made = make_disk(plan);
  const testing::TempDir folder;
  const std::string path = save(made, folder);
  ScanOptions options = inventory(Policy::kHandover, *rc::gen::inRange(1U, 4U));
  const std::string whole = scan::to_json(must_scan(*must_open(path), options));
  options.resume_path = folder.file("journal");
  const std::uint64_t segments = (plan.size_bytes + scan::kSegmentBytes - 1) / scan::kSegmentBytes;
  // Stops again and again, each time after some segments more, then runs to the end.
  for (int stops = *rc::gen::inRange(1, 4); stops > 0; --stops) {
    CancelToken cancel;
    auto left = *rc::gen::inRange<std::uint64_t>(0, segments + 1);
    if (left == 0) cancel.cancel();
    options.cancel = &cancel;
    options.progress = [&](const Progress&) {
      if (left > 0 && --left == 0) cancel.cancel();
    };
    const auto device = must_open(path);
    const auto report = scan::scan(*device, options);
    if (report)
      RC_ASSERT(scan::to_json(*report) == whole);
    else
      RC_ASSERT(report.error().code == Code::kCancelled);
  }
  options.cancel = nullptr;
  options.progress = {};
  RC_ASSERT(scan::to_json(must_scan(*must_open(path), options)) == whole);
}

RC_GTEST_PROP(Ledger, AJournalOfAnotherDiskIsRefused, ()) {
  MadeDisk made = make_disk(*disk_plan(scan::kSegmentBytes));
  const testing::TempDir folder;
  const std::string path = save(made, folder);
  ScanOptions options = inventory(Policy::kHandover, 1);
  options.resume_path = folder.file("journal");
  must_scan(*must_open(path), options);
  made.disk->bytes().back() ^= std::byte{1};
  save(made, folder);
  const auto device = must_open(path);
  const auto report = scan::scan(*device, options);
  RC_ASSERT(!report.has_value());
  RC_ASSERT(report.error().code == Code::kMismatch);
}

}  // namespace
}  // namespace vacant::props
