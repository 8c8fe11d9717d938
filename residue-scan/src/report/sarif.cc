// SARIF 2.1.0 (OASIS). One result a finding, one for each class without an innocent explanation, and notifications for gaps.
#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/escape.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr std::uint64_t kMaxRegion = 0x7FFFFFFFFFFFFFFF;

bool vouched_for(const Finding& finding) { return finding.cls == Class::kBase || finding.cls == Class::kDerived; }

std::string_view level_of(const Finding& finding) {
  if (finding.kind == FindingKind::kKnownSecret) return "error";
  if (vouched_for(finding)) return "note";
  if (finding.kind == FindingKind::kArtefact) return "warning";
  return finding.confidence == Confidence::kPossible ? "warning" : "error";
}

// The same finding in the same place gives the same text in every run, and no content goes into it: rule, volume, path or offset.
std::string stable_fingerprint(const Report& report, const Finding& finding) {
  const auto volume = static_cast<std::size_t>(finding.place.volume);
  const bool known = finding.place.volume >= 0 && volume < report.volumes.size();
  const std::string text = fmt::format("{}\n{}\n{}\n{}\n{}", finding.rule, known ? to_hex(report.volumes[volume].uuid) : "", finding.place.path,
                                       to_string(finding.origin), finding.length_bytes);
  std::array<unsigned char, 16> digest{};
  // SAFETY: char viewed as unsigned char for libsodium.
  crypto_generichash(digest.data(), digest.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return to_hex(std::as_bytes(std::span(digest)));
}

// A file URI for a path, with everything unusual percent-encoded; other names (NBD) as they are if they look like a URI.
std::string artifact_uri(const std::string& source) {
  std::string out;
  for (const char c : source) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out.empty() ? "unknown" : out;
}

Json location(const Report& report, const Extent& extent) {
  const std::uint64_t offset = std::min(extent.offset_bytes, kMaxRegion);
  const std::uint64_t length = std::min(extent.length_bytes, kMaxRegion - offset);
  return {{"physicalLocation", {{"artifactLocation", {{"uri", artifact_uri(report.source.name)}}}, {"region", {{"byteOffset", offset}, {"byteLength", length}}}}}};
}

std::string message_of(const Finding& finding) {
  std::string out = fmt::format("{} ({}, {} bytes) at {}", finding.rule, name(finding.confidence), finding.length_bytes, to_string(finding.origin));
  out += fmt::format(", class {}, in {}", name(finding.cls), name(finding.place.part));
  if (!finding.place.path.empty()) out += " of " + printable(finding.place.path);
  if (!finding.detail.empty()) out += ": " + printable(finding.detail);
  return out;
}

Json finding_result(const Report& report, const Finding& finding) {
  return {{"ruleId", finding.rule},
          {"level", level_of(finding)},
          {"message", {{"text", message_of(finding)}}},
          {"locations", Json::array({location(report, finding.extent)})},
          {"partialFingerprints", {{"vacant/v1", stable_fingerprint(report, finding)}}},
          {"properties", {{"kind", name(finding.kind)}, {"origin", to_string(finding.origin)}, {"class", name(finding.cls)}, {"inode", finding.place.inode}}}};
}

// Every extent without an innocent explanation would drown the list: one result a class, at the first such extent.
void add_class_results(const Report& report, Json& results) {
  for (const Class cls : {Class::kForeign, Class::kUnexplained, Class::kOwn, Class::kFsLive}) {
    const std::uint64_t bytes = report.class_bytes[static_cast<std::size_t>(cls)];
    if (bytes == 0 || accepts(report.policy, cls)) continue;
    const auto first = std::ranges::find(report.extents, cls, &ClassExtent::cls);
    const Extent where = first == report.extents.end() ? Extent{0, report.source.size_bytes} : first->extent;
    const std::string rule = fmt::format("ledger-{}", name(cls));
    results.push_back({{"ruleId", rule},
                       {"level", "error"},
                       {"message", {{"text", fmt::format("{} bytes are {}, which the policy {} does not accept", bytes, name(cls), name(report.policy))}}},
                       {"locations", Json::array({location(report, where)})},
                       {"partialFingerprints", {{"vacant/v1", rule}}}});
  }
}

Json notifications(const Report& report) {
  Json out = Json::array();
  for (const SkippedExtent& part : report.skipped)
    out.push_back({{"level", "error"}, {"message", {{"text", fmt::format("{}+{}: {}", part.extent.offset_bytes, part.extent.length_bytes, printable(part.reason))}}}});
  for (const std::string& problem : report.problems) out.push_back({{"level", "note"}, {"message", {{"text", printable(problem)}}}});
  return out;
}

Json rules_of(const Json& results) {
  std::set<std::string> ids;
  for (const Json& result : results) ids.insert(result["ruleId"].get<std::string>());
  Json out = Json::array();
  for (const std::string& id : ids) out.push_back({{"id", id}, {"shortDescription", {{"text", id}}}});
  return out;
}

}  // namespace

std::string to_sarif(const Report& report) {
  Json results = Json::array();
  add_class_results(report, results);
  for (const Finding& finding : report.findings) results.push_back(finding_result(report, finding));
  Json run;
  run["tool"]["driver"] = {{"name", "vacant"}, {"rules", rules_of(results)}};
  run["invocations"] = Json::array({{{"executionSuccessful", report.verdict != Verdict::kNotProven}, {"toolExecutionNotifications", notifications(report)}}});
  run["results"] = std::move(results);
  run["properties"] = {{"verdict", name(report.verdict)}, {"policy", name(report.policy)}, {"reasons", report.reasons}, {"findingCount", report.finding_count}};
  const Json document = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vacant::scan
