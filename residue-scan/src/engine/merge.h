// Merger: folds segment results, in device order, into a report. Not thread-safe: the engine locks around it.
#pragma once

#include <set>
#include <unordered_set>

#include "engine/segment.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

class Merger {
 public:
  explicit Merger(std::uint64_t size_bytes) : ledger_(size_bytes) {}
  // The next segment. Caller's duty: in order, none left out.
  void add(SegmentResult result);
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  // Moves everything into the report. The merger is used up.
  void finish(Report& report);

 private:
  void count(const Finding& finding);

  Ledger ledger_;
  std::vector<Finding> findings_;
  std::uint64_t finding_count_ = 0;
  std::map<std::string, std::uint64_t> rules_;
  std::vector<SkippedExtent> skipped_;
  std::uint64_t skipped_count_ = 0;
  std::unordered_set<std::string> directories_, file_systems_;  // distinct identities
  Summary summary_;
};

}  // namespace vacant::scan
