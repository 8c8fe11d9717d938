// The report for a terminal: the verdict first, then why, then what was found and where.
#include <fmt/format.h>

#include <algorithm>

#include "report/escape.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kShownFindings = 20;
constexpr std::size_t kShownSkipped = 10;

std::string paint(bool colour, std::string_view code, std::string_view text) {
  return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

std::string_view verdict_colour(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVacant:
      return "1;32";
    case Verdict::kResidue:
    case Verdict::kSecret:
      return "1;31";
    case Verdict::kNotProven:
      return "1;33";
  }
  return "0";
}

void head(const Report& report, bool colour, std::string& out) {
  out += fmt::format("{}  {}\n", paint(colour, verdict_colour(report.verdict), name(report.verdict)),
                     printable(report.source.name));
  for (const std::string& reason : report.reasons) out += fmt::format("  {}\n", printable(reason));
  out += fmt::format("\n{} of {} bytes, policy {}, profile {}\n", name(report.source.kind),
                     report.source.size_bytes, name(report.policy), name(report.profile));
  if (!report.base_root.empty()) out += fmt::format("base      {} {}\n", report.base_kind, report.base_root);
  if (!report.write_map.empty())
    out += fmt::format("write map {}, {} bytes\n", printable(report.write_map), report.write_map_bytes);
  for (const Volume& volume : report.volumes)
    out += fmt::format("volume    {} at {}: {}, {}\n", printable(volume.partition),
                       volume.extent.offset_bytes, printable(volume.type), printable(volume.status));
}

void classes(const Report& report, std::string& out) {
  out += fmt::format("\n{:<12} {:>18} {:>7}\n", "class", "bytes", "%");
  for (const Class cls : kAllClasses) {
    const std::uint64_t bytes = report.class_bytes[static_cast<std::size_t>(cls)];
    if (bytes == 0) continue;
    const double share = 100.0 * static_cast<double>(bytes) / static_cast<double>(report.source.size_bytes);
    out += fmt::format("{:<12} {:>18} {:>7.2f}{}\n", name(cls), bytes, share,
                       accepts(report.policy, cls) ? "" : "  not accepted");
  }
}

void summary(const Report& report, std::string& out) {
  const Summary& s = report.summary;
  const std::pair<std::uint64_t, std::string_view> rows[] = {
      {s.known_secrets, "listed secrets (occurrences)"},
      {s.tokens, "credential-shaped tokens"},
      {s.private_keys, "private keys"},
      {s.credential_files, "credential files"},
      {s.sqlite_databases, "SQLite databases, structurally complete"},
      {s.foreign_directory_inodes, "distinct foreign directory inodes"},
      {s.foreign_file_systems, "foreign file systems"},
      {s.foreign_blocks, "blocks proven foreign"},
      {s.placeholders, "placeholders of this installation (no findings)"}};
  if (std::ranges::all_of(rows, [](const auto& row) { return row.first == 0; })) return;
  out += "\nfound\n";
  for (const auto& [count, what] : rows)
    if (count > 0) out += fmt::format("{:>8}  {}\n", count, what);
}

std::string place_text(const Finding& finding) {
  std::string out(name(finding.place.part));
  if (finding.place.inode != 0) out += fmt::format(" inode {}", finding.place.inode);
  if (!finding.place.path.empty()) out += " " + printable(finding.place.path);
  return out;
}

void findings(const Report& report, std::string& out) {
  if (report.findings.empty()) return;
  out += fmt::format("\n{:<24} {:<28} {:<10} {:<12} {}\n", "origin", "rule", "confidence", "class", "place");
  std::size_t shown = 0;
  for (const Finding& finding : report.findings) {
    if (++shown > kShownFindings) break;
    out += fmt::format("{:<24} {:<28} {:<10} {:<12} {}\n", to_string(finding.origin), printable(finding.rule),
                       name(finding.confidence), name(finding.cls), place_text(finding));
  }
  if (report.finding_count > kShownFindings)
    out +=
        fmt::format("and {} more: --format json or html lists them\n", report.finding_count - kShownFindings);
}

void gaps(const Report& report, std::string& out) {
  if (report.skipped_count > 0) out += fmt::format("\nnot looked at in full ({})\n", report.skipped_count);
  for (std::size_t i = 0; i < report.skipped.size() && i < kShownSkipped; ++i)
    out += fmt::format("  {}+{}: {}\n", report.skipped[i].extent.offset_bytes,
                       report.skipped[i].extent.length_bytes, printable(report.skipped[i].reason));
  for (const std::string& problem : report.problems) out += fmt::format("note: {}\n", printable(problem));
  if (!report.accepted.empty()) out += fmt::format("\nbaseline, judged on {}\n", report.baseline_date);
  for (const AcceptedExtent& entry : report.accepted)
    out += fmt::format("  {}+{} {}: {} (until {}){}\n", entry.extent.offset_bytes, entry.extent.length_bytes,
                       entry.applied ? "accepted" : "NOT accepted", printable(entry.reason), entry.expires,
                       entry.note.empty() ? "" : ": " + printable(entry.note));
}

std::string_view advice(const Report& report) {
  switch (report.verdict) {
    case Verdict::kVacant:
      return "";
    case Verdict::kResidue:
      return "\nDo not hand this disk over: zero what is not accepted, then scan again.\n";
    case Verdict::kSecret:
      return "\nA real credential is on this disk: revoke it, then find out how it came here.\n";
    case Verdict::kNotProven:
      return "\nNothing bad was found, but not everything was looked at. Mend what is listed above, then "
             "scan again.\n";
  }
  return "";
}

}  // namespace

std::string to_text(const Report& report, bool colour) {
  std::string out;
  head(report, colour, out);
  classes(report, out);
  summary(report, out);
  findings(report, out);
  gaps(report, out);
  out += advice(report);
  return out;
}

}  // namespace vacant::scan
