// The HTML report: one file. The page's script draws from a JSON island; nothing is fetched, and a content
// security policy says so.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/escape.h"
#include "report/html_page.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kHtmlFindings = 5000;  // rows that a browser still filters quickly

// The worst class of a cell decides its colour, since one bad sector among a thousand good ones is what one
// looks for.
Json cells_json(const Report& report) {
  Json out = Json::array();
  for (const ClassBytes& cell : report.map.cells) {
    Json entry = Json::array();
    for (std::size_t i = 0; i < kClassCount; ++i)
      if (cell[i] > 0) {
        entry.push_back(i);
        entry.push_back(cell[i]);
      }
    out.push_back(std::move(entry));
  }
  return out;
}

Json findings_json(const Report& report) {
  Json out = Json::array();
  for (const Finding& finding : report.findings) {
    if (out.size() >= kHtmlFindings) break;
    std::string place(name(finding.place.part));
    if (finding.place.inode != 0) place += fmt::format(" inode {}", finding.place.inode);
    if (!finding.place.path.empty()) place += " " + printable(finding.place.path);
    out.push_back(Json::array({finding.origin.device_offset_bytes, to_string(finding.origin), finding.rule,
                               name(finding.kind), name(finding.confidence), name(finding.cls),
                               finding.length_bytes, place, printable(finding.detail)}));
  }
  return out;
}

Json classes_json(const Report& report) {
  Json out = Json::array();
  for (const Class cls : kAllClasses)
    out.push_back({{"name", name(cls)},
                   {"bytes", report.class_bytes[static_cast<std::size_t>(cls)]},
                   {"accepted", accepts(report.policy, cls)}});
  return out;
}

// Inside a script element only "</" and "<!--" could end it: no "<" is left as it is.
std::string island(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string out;
  for (const char c : text) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string cards(const Report& report) {
  const Summary& s = report.summary;
  const std::pair<std::uint64_t, std::string_view> rows[] = {
      {s.foreign_directory_inodes, "foreign directory inodes"},
      {s.foreign_file_systems, "foreign file systems"},
      {s.foreign_blocks, "blocks proven foreign"},
      {s.sqlite_databases, "SQLite databases, complete"},
      {s.credential_files, "credential files"},
      {s.private_keys, "private keys"},
      {s.tokens, "credential tokens"},
      {s.known_secrets, "listed secrets"},
      {s.placeholders, "placeholders (ours)"}};
  std::string out;
  for (const auto& [count, label] : rows)
    out += fmt::format("<div class=\"card{}\"><b>{}</b><span>{}</span></div>",
                       count > 0 && label != "placeholders (ours)" ? " hit" : "", count, label);
  return out;
}

std::string facts(const Report& report) {
  std::string out;
  const auto row = [&](std::string_view key, std::string_view value) {
    if (!value.empty())
      out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", key, xml_escape(value));
  };
  row("source", fmt::format("{} ({})", report.source.name, name(report.source.kind)));
  row("size", fmt::format("{} bytes", report.source.size_bytes));
  row("policy", name(report.policy));
  row("profile", name(report.profile));
  row("base",
      report.base_root.empty() ? "none" : fmt::format("{}, root {}", report.base_kind, report.base_root));
  row("write map", report.write_map.empty()
                       ? "none"
                       : fmt::format("{}, {} bytes", report.write_map, report.write_map_bytes));
  row("fingerprints", fmt::format("{} secrets", report.fingerprint_count));
  for (const Volume& volume : report.volumes)
    row("volume", fmt::format("{} at {}: {}, {}", volume.partition, volume.extent.offset_bytes, volume.type,
                              volume.status));
  for (const std::string& problem : report.problems) row("note", problem);
  return out;
}

std::string lists(const Report& report) {
  std::string out;
  if (report.skipped_count > 0) {
    out += fmt::format(
        "<h2>Not looked at in full ({})</h2><table "
        "class=\"list\"><tr><th>offset</th><th>bytes</th><th>why</th></tr>",
        report.skipped_count);
    for (std::size_t i = 0; i < std::min<std::size_t>(report.skipped.size(), 500); ++i)
      out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", report.skipped[i].extent.offset_bytes,
                         report.skipped[i].extent.length_bytes, xml_escape(report.skipped[i].reason));
    out += "</table>";
  }
  if (!report.accepted.empty()) {
    out += fmt::format(
        "<h2>Baseline, judged on {}</h2><table "
        "class=\"list\"><tr><th>offset</th><th>bytes</th><th>state</th><th>reason</th><th>until</th></tr>",
        xml_escape(report.baseline_date));
    for (const AcceptedExtent& entry : report.accepted)
      out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                         entry.extent.offset_bytes, entry.extent.length_bytes,
                         entry.applied ? "accepted" : "not accepted: " + xml_escape(entry.note),
                         xml_escape(entry.reason), xml_escape(entry.expires));
    out += "</table>";
  }
  return out;
}

using Marks = std::vector<std::pair<std::string_view, std::string>>;

// Fills each mark once, left to right in the template. What was filled in is never searched: texts from the
// disk may look like marks.
std::string fill(std::string_view page, const Marks& marks) {
  std::string out;
  for (std::size_t at = 0; at < page.size();) {
    const auto mark = std::ranges::find_if(
        marks, [&](const auto& entry) { return page.substr(at).starts_with(entry.first); });
    out += mark == marks.end() ? std::string(1, page[at]) : mark->second;
    at += mark == marks.end() ? 1 : mark->first.size();
  }
  return out;
}

}  // namespace

std::string to_html(const Report& report) {
  std::string reasons;
  for (const std::string& reason : report.reasons) reasons += fmt::format("<li>{}</li>", xml_escape(reason));
  const Json data = {{"size", report.source.size_bytes},  {"cellBytes", report.map.cell_bytes},
                     {"cells", cells_json(report)},       {"classes", classes_json(report)},
                     {"findings", findings_json(report)}, {"findingCount", report.finding_count}};
  return fill(kHtmlPage,
              {{"@TITLE@", xml_escape(fmt::format("{}: {}", name(report.verdict), report.source.name))},
               {"@VERDICT_CLASS@", std::string(name(report.verdict))},
               {"@VERDICT@", std::string(name(report.verdict))},
               {"@SOURCE@", xml_escape(report.source.name)},
               {"@REASONS@", reasons},
               {"@CARDS@", cards(report)},
               {"@FACTS@", facts(report)},
               {"@LISTS@", lists(report)},
               {"@DATA@", island(data)}});
}

}  // namespace vacant::scan
