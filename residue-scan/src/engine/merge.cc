#include "engine/merge.h"

#include <fmt/format.h>

#include <algorithm>

namespace vacant::scan {

namespace {

// Beyond this many distinct owners the count stops rising and the report says "at least". 64 bytes each.
constexpr std::size_t kMaxIdentities = 500'000;

void insert_bounded(std::unordered_set<std::string>& set, const std::string& identity) {
  if (set.size() < kMaxIdentities) set.insert(identity);
}

}  // namespace

void Merger::add(SegmentResult result) {
  for (const ClassExtent& run : result.runs) ledger_.append(run.extent, run.cls);
  for (const Finding& finding : result.findings) count(finding);
  for (const auto& [rule, count] : result.rule_counts) {
    if (count == 0) continue;
    rules_[rule] += count;
    finding_count_ += count;
  }
  for (const std::string& identity : result.identities) {
    if (identity.starts_with("dir:")) insert_bounded(directories_, identity);
    if (identity.starts_with("fs:")) insert_bounded(file_systems_, identity);
  }
  for (Finding& finding : result.findings)
    if (findings_.size() < kMaxFindings) findings_.push_back(std::move(finding));
  for (SkippedExtent& part : result.skipped)
    if (skipped_.size() < kMaxSkipped) skipped_.push_back(std::move(part));
  skipped_count_ += result.skipped_count;
  summary_.placeholders += result.placeholders;
  summary_.foreign_blocks += result.foreign_blocks;
}

void Merger::count(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::kKnownSecret:
      ++summary_.known_secrets;
      break;
    case FindingKind::kToken:
      ++summary_.tokens;
      if (finding.cls == Class::kBase || finding.cls == Class::kDerived) ++summary_.base_tokens;
      break;
    case FindingKind::kPrivateKey:
      ++summary_.private_keys;
      break;
    case FindingKind::kCredentialFile:
      ++summary_.credential_files;
      break;
    case FindingKind::kArtefact:
    case FindingKind::kForeignIdentity:
      break;
  }
  if (finding.rule == "sqlite-database") ++summary_.sqlite_databases;
}

void Merger::finish(Report& report) {
  report.class_bytes = ledger_.totals();
  report.extents = ledger_.extents();
  report.extent_count = ledger_.extent_count();
  report.map = ledger_.map();
  report.skipped = std::move(skipped_);
  report.skipped_count = skipped_count_;
  report.findings = std::move(findings_);
  report.finding_count = finding_count_;
  for (const auto& [rule, count] : rules_) report.rules.push_back({rule, count});
  summary_.foreign_directory_inodes = directories_.size();
  summary_.foreign_file_systems = file_systems_.size();
  report.summary = summary_;
}

}  // namespace vacant::scan
