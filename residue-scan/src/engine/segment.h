// One segment's result, and the sink that detectors report to. Private to the engine.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/classify.h"
#include "vacant/scan/detector.h"
#include "vacant/scan/ledger.h"

namespace vacant::scan {

inline constexpr std::size_t kMaxSegmentFindings = 20'000;  // kept; counts stay exact beyond it
inline constexpr std::uint64_t kMaxNestedBytes =
    64 * kMiB;  // decoded bytes looked at for one run of a segment

// All that the report needs of a segment. Value type; goes into the resume journal.
struct SegmentResult {
  std::vector<ClassExtent> runs;                     // gapless over the segment
  std::vector<Finding> findings;                     // sorted
  std::map<std::string, std::uint64_t> rule_counts;  // exact, also for findings that were not kept
  std::vector<SkippedExtent>
      skipped;  // parser limits in bytes without a base to vouch for them, and unreadable ones
  std::uint64_t skipped_count = 0;
  std::uint64_t placeholders = 0;
  std::vector<std::string> identities;  // distinct, of foreign blocks
  std::uint64_t foreign_blocks = 0;
};

// What a worker needs besides the window: immutable, shared.
struct SegmentContext {
  BlockDevice& device;
  Evidence evidence;
  Policy policy = Policy::kHandover;
  const SecretBytes* placeholder_key = nullptr;
  const SecretBytes* hash_key = nullptr;
};

// What one worker has for itself.
struct SegmentTools {
  WindowReader& reader;
  std::vector<std::unique_ptr<Detector>>& detectors;
};

// Reads, classifies and searches one segment, slice by slice.
SegmentResult scan_segment(const SegmentContext& context, std::uint64_t segment_index, SegmentTools tools);

// Whether findings of this kind in bytes of this class are part of the report (see docs/formats/report.md).
bool is_reported(FindingKind kind, Class cls, Policy policy);

}  // namespace vacant::scan
