// What a report says of itself must hold together. Each check names the first claim that does not.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/verdict.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

namespace {

std::unexpected<Error> broken(std::string text) {
  return fail(Code::kMismatch, "the report contradicts itself: " + text);
}

// Sums without wrapping: false if it would.
bool add(std::uint64_t& total, std::uint64_t value) { return !__builtin_add_overflow(total, value, &total); }

Result<void> check_totals(const Report& report) {
  std::uint64_t total = 0;
  for (const std::uint64_t bytes : report.class_bytes)
    if (!add(total, bytes)) return broken("the class totals are larger than any device");
  if (total != report.source.size_bytes)
    return broken(
        fmt::format("the classes sum to {}, the device has {} bytes", total, report.source.size_bytes));
  return {};
}

Result<void> check_extents(const Report& report) {
  if (report.extents.size() > report.extent_count) return broken("more extents are listed than counted");
  const bool whole = report.extents.size() == report.extent_count;
  if (!whole && report.extents.size() < kMaxLedgerExtents)
    return broken("extents were left out below the limit of the list");
  ClassBytes sums{};
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < report.extents.size(); ++i) {
    const ClassExtent& part = report.extents[i];
    if (part.extent.offset_bytes != at || part.extent.empty())
      return broken(fmt::format("the extents have a gap or overlap at {}", at));
    if (i > 0 && report.extents[i - 1].cls == part.cls)
      return broken(fmt::format("two neighbouring extents of one class at {}", at));
    if (part.extent.offset_bytes % kSectorBytes != 0)
      return broken(fmt::format("an extent begins inside a sector, at {}", at));
    sums[static_cast<std::size_t>(part.cls)] += part.extent.length_bytes;
    at = part.extent.end_bytes();
  }
  if (at > report.source.size_bytes || (whole && at != report.source.size_bytes))
    return broken("the extents do not cover the device");
  for (std::size_t i = 0; i < kClassCount; ++i)
    if (whole ? sums[i] != report.class_bytes[i] : sums[i] > report.class_bytes[i])
      return broken(fmt::format("the extents and the total of class {} differ", name(kAllClasses[i])));
  return {};
}

Result<void> check_map(const Report& report) {
  ClassBytes sums{};
  std::uint64_t left = report.source.size_bytes;
  for (const ClassBytes& cell : report.map.cells) {
    std::uint64_t cell_sum = 0;
    for (std::size_t i = 0; i < kClassCount; ++i)
      if (!add(sums[i], cell[i]) || !add(cell_sum, cell[i]))
        return broken("the block map sums to more than any device");
    if (cell_sum == 0 || cell_sum != std::min(left, report.map.cell_bytes))
      return broken("a cell of the block map does not sum to its size");
    left -= cell_sum;
  }
  if (sums != report.class_bytes) return broken("the block map and the class totals differ");
  return {};
}

Result<void> check_findings(const Report& report) {
  std::uint64_t total = 0;
  std::map<std::string, std::uint64_t> counts;
  for (const RuleCount& rule : report.rules) {
    if (!counts.emplace(rule.rule, rule.count).second)
      return broken(fmt::format("rule {} is counted twice", rule.rule));
    if (!add(total, rule.count)) return broken("the rule counts are too large");
  }
  if (total != report.finding_count) return broken("the rules do not sum to the number of findings");
  if (report.findings.size() > report.finding_count) return broken("more findings are listed than counted");
  if (report.skipped.size() > report.skipped_count)
    return broken("more skipped places are listed than counted");
  // A list is cut only at its limit: a shorter one would hide what the counts cannot show.
  const bool whole = report.findings.size() == report.finding_count;
  if (!whole && report.findings.size() < kMaxFindings)
    return broken("findings were left out below the limit of the list");
  if (report.skipped.size() != report.skipped_count && report.skipped.size() < kMaxSkipped)
    return broken("skipped places were left out below the limit of the list");
  Summary listed;
  for (const Finding& finding : report.findings) {
    const auto count = counts.find(finding.rule);
    if (count == counts.end() || count->second == 0)
      return broken(fmt::format("rule {} has more findings than counted", finding.rule));
    --count->second;
    listed.known_secrets += finding.kind == FindingKind::kKnownSecret;
    listed.tokens += finding.kind == FindingKind::kToken;
    listed.private_keys += finding.kind == FindingKind::kPrivateKey;
    listed.credential_files += finding.kind == FindingKind::kCredentialFile;
  }
  const Summary& told = report.summary;
  if (told.base_tokens > told.tokens) return broken("more tokens lie in the base than were found");
  for (const auto member :
       {&Summary::known_secrets, &Summary::tokens, &Summary::private_keys, &Summary::credential_files})
    if (whole ? listed.*member != told.*member : listed.*member > told.*member)
      return broken("the summary and the findings differ");
  return {};
}

Result<void> check_verdict(const Report& report) {
  Report again = report;
  decide(again);
  if (again.verdict != report.verdict)
    return broken(fmt::format("the verdict is given as {}, but follows as {}", name(report.verdict),
                              name(again.verdict)));
  if (again.reasons != report.reasons) return broken("the reasons do not follow from the report");
  return {};
}

}  // namespace

Result<void> check_arithmetic(const Report& report) {
  VACANT_TRY(check_totals(report));
  VACANT_TRY(check_extents(report));
  VACANT_TRY(check_map(report));
  VACANT_TRY(check_findings(report));
  return check_verdict(report);
}

}  // namespace vacant::scan
