#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "core/verdict.h"
#include "engine/identity.h"
#include "engine/journal.h"
#include "engine/merge.h"
#include "engine/workers.h"
#include "vacant/scan/artefact.h"
#include "vacant/scan/baseline.h"
#include "vacant/scan/decode.h"
#include "vacant/scan/engine.h"
#include "vacant/scan/known.h"
#include "vacant/scan/token.h"

namespace vacant::scan {

namespace {

constexpr unsigned kMaxThreads = 64;
constexpr unsigned kDefaultMaxThreads = 8;
constexpr std::size_t kMaxResolvedInodes = 10'000;

using Factories = std::vector<std::unique_ptr<DetectorFactory>>;

Result<void> check_options(const ScanOptions& options) {
  if (options.policy == Policy::kInUse && !options.write_map)
    return fail(
        Code::kInvalidArgument,
        "the policy in-use needs a write map (--written): without one no byte counts as the guest's own");
  if (options.base_image != nullptr && options.base_tree != nullptr)
    return fail(Code::kInvalidArgument, "give the base as an image or as a hash tree, not both");
  if (options.profile == Profile::kKnownAnswer && options.fingerprints == nullptr)
    return fail(Code::kInvalidArgument, "the profile known-answer needs a fingerprint file (--fingerprints)");
  return {};
}

Result<Factories> make_factories(const ScanOptions& options) {
  Factories factories;
  if (options.profile == Profile::kInventory) return factories;
  if (options.fingerprints != nullptr)
    factories.push_back(VACANT_TRY(make_known_answer_factory(*options.fingerprints)));
  if (options.profile != Profile::kFull) return factories;
  factories.push_back(VACANT_TRY(make_token_factory()));
  factories.push_back(VACANT_TRY(make_decoder_factory()));
  factories.push_back(VACANT_TRY(make_artefact_factory()));
  return factories;
}

// Names the base by the root of its hash tree, so that a report says exactly what it was held against.
Result<std::string> base_root(const ScanOptions& options, const CancelToken& cancel) {
  if (options.base_tree != nullptr) return to_hex(options.base_tree->root());
  if (options.base_image == nullptr) return std::string();
  auto tree = verify::HashTree::build(*options.base_image, {}, cancel);
  if (!tree) return fail(tree.error().in("hashing the base image"));
  return to_hex(tree->root());
}

unsigned thread_count(unsigned wanted) {
  if (wanted > 0) return std::min(wanted, kMaxThreads);
  return std::clamp(std::thread::hardware_concurrency(), 1U, kDefaultMaxThreads);
}

// A replayed segment must be exactly the next one: the journal is a file that anybody may have changed.
Result<void> check_segment(const SegmentResult& segment, std::uint64_t begin, std::uint64_t size_bytes) {
  std::uint64_t at = begin;
  for (const ClassExtent& run : segment.runs) {
    if (run.extent.offset_bytes != at || run.extent.empty())
      return fail(Code::kCorrupt, "the journal's extents have a gap");
    at = run.extent.end_bytes();
  }
  if (at != std::min(begin + kSegmentBytes, size_bytes))
    return fail(Code::kCorrupt, "the journal's segment has the wrong size");
  return {};
}

void describe(const BlockDevice& device, const ScanOptions& options, const FsView& view, Report& report) {
  report.source = device.info();
  report.source.change_stamp.clear();
  report.policy = options.policy;
  report.profile = options.profile;
  report.base_kind = options.base_image != nullptr  ? "image"
                     : options.base_tree != nullptr ? "hash-tree"
                                                    : "";
  if (options.write_map) {
    report.write_map = options.write_map->name();
    report.write_map_bytes = options.write_map->total_bytes();
  }
  report.fingerprint_count = options.fingerprints == nullptr ? 0 : options.fingerprints->secrets.size();
  report.placeholder_key = options.placeholder_key != nullptr;
  report.volumes = view.volumes;
  report.problems = view.problems;
}

// Fills in who owns the block of each finding, with paths where they can be had.
void place_findings(BlockDevice& device, const ScanOptions& options, const FsView& view, Report& report) {
  std::map<int, std::set<std::uint32_t>> wanted;
  std::size_t count = 0;
  for (Finding& finding : report.findings) {
    finding.place = view.place_of(finding.extent.offset_bytes);
    if (finding.place.inode != 0 && count < kMaxResolvedInodes)
      count += wanted[finding.place.volume].insert(finding.place.inode).second;
  }
  for (const auto& [volume, inodes] : wanted) {
    if (volume < 0 || static_cast<std::size_t>(volume) >= view.volumes.size()) continue;
    const std::vector<std::uint32_t> list(inodes.begin(), inodes.end());
    const auto paths =
        resolve_paths(device, view.volumes[static_cast<std::size_t>(volume)], list, options.fs_limits);
    if (!paths) {
      report.problems.push_back(fmt::format("paths of volume {}: {}", volume, paths.error().message));
      continue;
    }
    for (Finding& finding : report.findings) {
      if (finding.place.volume != volume) continue;
      if (const auto path = paths->find(finding.place.inode); path != paths->end())
        finding.place.path = path->second;
    }
  }
}

// A source that changed its size was not looked at as it is now.
void check_size(const BlockDevice& device, Report& report) {
  const auto now = device.current_size_bytes();
  if (now && *now == device.size_bytes()) return;
  ++report.skipped_count;
  const std::string reason =
      now ? fmt::format("the source changed its size from {} to {} bytes during the scan",
                        device.size_bytes(), *now)
          : fmt::format("the source's size cannot be read any more: {}", now.error().message);
  report.skipped.push_back({{device.size_bytes(), 0}, reason});
}

Result<FsView> view_of(BlockDevice& device, const ScanOptions& options, const CancelToken& cancel) {
  if (device.info().kind == SourceKind::kRam || device.size_bytes() == 0) return FsView{};
  return build_fs_view(device, options.fs_limits, cancel);
}

class Scan {
 public:
  Scan(BlockDevice& device, const ScanOptions& options, const FsView& view, const Prover& prover)
      : device_(device),
        options_(options),
        merger_(device.size_bytes()),
        context_{device,
                 {options.base_image, options.base_tree, options.derived_tree,
                  options.write_map ? &*options.write_map : nullptr, &view, &prover, options.policy},
                 options.policy,
                 options.placeholder_key,
                 options.hash_key} {
    if (device.info().kind == SourceKind::kRam) context_.evidence.prover = nullptr;
  }

  Result<void> open_journal(ByteSpan identity) {
    if (options_.resume_path.empty()) return {};
    if (device_.info().change_stamp.empty())
      return fail(
          Code::kUnsupported,
          "--resume needs a source that can show that it did not change: a file or a local block device");
    journal_ = VACANT_TRY(
        Journal::open(options_.resume_path, identity, [this](SegmentResult segment) -> Result<void> {
          VACANT_TRY(check_segment(segment, merger_.ledger().covered_bytes(), device_.size_bytes()));
          merger_.add(std::move(segment));
          return {};
        }));
    return {};
  }

  Result<void> run(const Factories& factories) {
    const std::uint64_t size = device_.size_bytes();
    WorkPlan plan{context_,
                  factories,
                  0,
                  (size + kSegmentBytes - 1) / kSegmentBytes,
                  thread_count(options_.threads),
                  options_.cancel};
    plan.first_segment = (merger_.ledger().covered_bytes() + kSegmentBytes - 1) / kSegmentBytes;
    return run_workers(plan, [this](SegmentResult segment) -> Result<void> {
      if (journal_) VACANT_TRY(journal_->add(segment));
      merger_.add(std::move(segment));
      if (options_.progress) options_.progress({merger_.ledger().covered_bytes(), device_.size_bytes()});
      return {};
    });
  }

  void finish(Report& report) { merger_.finish(report); }

 private:
  BlockDevice& device_;
  const ScanOptions& options_;
  Merger merger_;
  SegmentContext context_;
  std::optional<Journal> journal_;
};

}  // namespace

Result<Report> scan(BlockDevice& device, const ScanOptions& options) {
  static const CancelToken kNever;
  const CancelToken& cancel = options.cancel == nullptr ? kNever : *options.cancel;
  VACANT_TRY(init_crypto());
  VACANT_TRY(check_options(options));
  const Factories factories = VACANT_TRY(make_factories(options));
  const FsView view = VACANT_TRY(view_of(device, options, cancel));
  const Prover prover(view);
  Report report;
  describe(device, options, view, report);
  report.base_root = VACANT_TRY(base_root(options, cancel));
  Scan scan(device, options, view, prover);
  VACANT_TRY(scan.open_journal(scan_identity(device, options, view, report.base_root)));
  VACANT_TRY(scan.run(factories));
  scan.finish(report);
  check_size(device, report);
  place_findings(device, options, view, report);
  if (options.baseline != nullptr) {
    report.baseline_date = options.today;
    report.accepted = VACANT_TRY(evaluate_baseline(device, *options.baseline, options.today));
  }
  decide(report);
  return report;
}

}  // namespace vacant::scan
