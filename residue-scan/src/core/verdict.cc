#include "core/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace vacant::scan {

namespace {

// Accepted extents, sorted and merged, so that overlapping baseline entries are not counted twice.
std::vector<Extent> applied_extents(const Report& report) {
  std::vector<Extent> out;
  for (const AcceptedExtent& entry : report.accepted)
    if (entry.applied) out.push_back(entry.extent);
  std::ranges::sort(out);
  std::vector<Extent> merged;
  for (const Extent& extent : out) {
    if (!merged.empty() && extent.offset_bytes <= merged.back().end_bytes())
      merged.back().length_bytes =
          std::max(merged.back().end_bytes(), extent.end_bytes()) - merged.back().offset_bytes;
    else
      merged.push_back(extent);
  }
  return merged;
}

bool is_accepted(const std::vector<Extent>& accepted, const Extent& extent) {
  return std::ranges::any_of(accepted, [&](const Extent& part) { return part.contains(extent); });
}

// Bytes of one class that the baseline accepts. Extents that the report could not keep are never accepted.
std::uint64_t accepted_bytes(const Report& report, const std::vector<Extent>& accepted, Class cls) {
  std::uint64_t total = 0;
  for (const ClassExtent& part : report.extents) {
    if (part.cls != cls) continue;
    for (const Extent& extent : accepted) total += part.extent.intersect(extent).length_bytes;
  }
  return total;
}

struct SecretCount {
  std::uint64_t known = 0, tokens = 0, keys = 0, files = 0;
  [[nodiscard]] std::uint64_t total() const { return known + tokens + keys + files; }
};

// Secrets that count against the disk. A baseline never accepts a known secret.
SecretCount count_secrets(const Report& report, const std::vector<Extent>& accepted) {
  SecretCount count{report.summary.known_secrets, report.summary.tokens - report.summary.base_tokens,
                    report.summary.private_keys, report.summary.credential_files};
  if (accepted.empty()) return count;
  for (const Finding& finding : report.findings) {
    if (!is_accepted(accepted, finding.extent)) continue;
    const bool vouched = finding.cls == Class::kBase || finding.cls == Class::kDerived;
    if (finding.kind == FindingKind::kToken && !vouched) --count.tokens;
    if (finding.kind == FindingKind::kPrivateKey) --count.keys;
    if (finding.kind == FindingKind::kCredentialFile) --count.files;
  }
  return count;
}

std::uint64_t at(const Report& report, Class cls) {
  return report.class_bytes[static_cast<std::size_t>(cls)];
}

// Bytes without an innocent explanation under the policy, by class, less what the baseline accepts.
std::uint64_t residue_reasons(Report& report, const std::vector<Extent>& accepted) {
  std::uint64_t total = 0;
  for (const Class cls : kAllClasses) {
    if (accepts(report.policy, cls) || cls == Class::kUnreadable || cls == Class::kSkipped) continue;
    const std::uint64_t left = at(report, cls) - accepted_bytes(report, accepted, cls);
    if (left == 0) continue;
    total += left;
    report.reasons.push_back(fmt::format("{} bytes are {}, which the policy {} does not accept", left,
                                         name(cls), name(report.policy)));
  }
  return total;
}

void secret_reasons(Report& report, const SecretCount& count) {
  const auto add = [&](std::uint64_t number, std::string_view what) {
    if (number > 0) report.reasons.push_back(fmt::format("{} {}", number, what));
  };
  add(count.known, "occurrence(s) of a listed secret");
  add(count.tokens, "credential-shaped token(s) that are no placeholder of this installation");
  add(count.keys, "private key(s)");
  add(count.files, "credential file(s)");
}

bool gap_reasons(Report& report) {
  const std::size_t before = report.reasons.size();
  const std::uint64_t unreadable = at(report, Class::kUnreadable);
  const std::uint64_t skipped = at(report, Class::kSkipped);
  if (report.source.size_bytes == 0)
    report.reasons.emplace_back("the source is empty: there was nothing to prove");
  if (unreadable > 0) report.reasons.push_back(fmt::format("{} bytes could not be read", unreadable));
  if (skipped > 0) report.reasons.push_back(fmt::format("{} bytes were not looked at", skipped));
  std::uint64_t covered = 0;
  for (const std::uint64_t bytes : report.class_bytes) covered += bytes;
  if (covered != report.source.size_bytes)
    report.reasons.push_back(
        fmt::format("the ledger covers {} of {} bytes", covered, report.source.size_bytes));
  if (report.skipped_count > 0 && unreadable == 0 && skipped == 0)
    report.reasons.push_back(
        fmt::format("{} place(s) could not be looked at in full (see skipped)", report.skipped_count));
  return report.reasons.size() != before;
}

}  // namespace

void decide(Report& report) {
  report.reasons.clear();
  const std::vector<Extent> accepted = applied_extents(report);
  const std::uint64_t residue = residue_reasons(report, accepted);
  const SecretCount secrets = count_secrets(report, accepted);
  secret_reasons(report, secrets);
  const bool gaps = gap_reasons(report);
  if (residue > 0)
    report.verdict = Verdict::kResidue;
  else if (secrets.total() > 0)
    report.verdict = Verdict::kSecret;
  else if (gaps)
    report.verdict = Verdict::kNotProven;
  else
    report.verdict = Verdict::kVacant;
  if (report.verdict == Verdict::kVacant)
    report.reasons.emplace_back("every byte was looked at and has an innocent explanation");
}

}  // namespace vacant::scan
