// The JSON report: one field a line, one list entry a line, so that two reports can be compared with diff.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/fields.h"

namespace vacant::scan {

namespace {

using Json = nlohmann::ordered_json;

// Paths and names come from hostile disks: bytes that are no UTF-8 are replaced, never passed on.
std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json extent_json(const Extent& extent) { return Json::array({extent.offset_bytes, extent.length_bytes}); }

Json source_json(const DeviceInfo& source) {
  return {{"kind", name(source.kind)}, {"name", source.name}, {"size_bytes", source.size_bytes}, {"sector_bytes", source.sector_bytes}};
}

Json class_bytes_json(const ClassBytes& bytes) {
  Json out = Json::object();
  for (const Class cls : kAllClasses) out[std::string(name(cls))] = bytes[static_cast<std::size_t>(cls)];
  return out;
}

Json summary_json(const Summary& summary) {
  Json out = Json::object();
  for (const auto& [key, member] : kSummaryFields) out[key] = summary.*member;
  return out;
}

Json evidence_json(const Report& report) {
  return {{"base_kind", report.base_kind},
          {"base_root", report.base_root},
          {"write_map", report.write_map},
          {"write_map_bytes", report.write_map_bytes},
          {"fingerprints", report.fingerprint_count},
          {"placeholder_key", report.placeholder_key},
          {"baseline_date", report.baseline_date}};
}

Json volume_json(const Volume& volume) {
  return {{"extent", extent_json(volume.extent)},
          {"partition", volume.partition},
          {"type", volume.type},
          {"status", volume.status},
          {"parsed", volume.parsed},
          {"uuid", to_hex(volume.uuid)},
          {"block_bytes", volume.block_bytes},
          {"checksum_seed", volume.checksum_seed},
          {"has_checksums", volume.has_checksums},
          {"file_count", volume.file_count}};
}

Json finding_json(const Finding& finding) {
  Json out = {{"kind", name(finding.kind)},
              {"rule", finding.rule},
              {"confidence", name(finding.confidence)},
              {"origin", to_string(finding.origin)},
              {"length_bytes", finding.length_bytes},
              {"extent", extent_json(finding.extent)},
              {"class", name(finding.cls)},
              {"place", {{"volume", finding.place.volume}, {"part", name(finding.place.part)}, {"inode", finding.place.inode}, {"path", finding.place.path}}},
              {"detail", finding.detail},
              {"identity", finding.identity},
              {"digest_prefix", finding.digest_prefix}};
  return out;
}

Json accepted_json(const AcceptedExtent& entry) {
  return {{"extent", extent_json(entry.extent)}, {"digest", entry.digest}, {"reason", entry.reason},
          {"expires", entry.expires}, {"applied", entry.applied}, {"note", entry.note}};
}

class Writer {
 public:
  void field(std::string_view key, const Json& value) { line(key, dump(value)); }
  template <class List, class Make>
  void list(std::string_view key, const List& list, const Make& make) {
    if (list.empty()) return line(key, "[]");
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
      text += i == 0 ? "\n    " : ",\n    ";
      text += dump(make(list[i]));
    }
    line(key, text + "\n  ]");
  }
  std::string finish() { return "{\n" + out_ + "\n}\n"; }

 private:
  void line(std::string_view key, const std::string& value) {
    if (!out_.empty()) out_ += ",\n";
    out_ += fmt::format("  \"{}\": {}", key, value);
  }
  std::string out_;
};

}  // namespace

std::string to_json(const Report& report) {
  Writer writer;
  writer.field("format", "vacant-report/1");
  writer.field("verdict", name(report.verdict));
  writer.list("reasons", report.reasons, [](const std::string& text) { return Json(text); });
  writer.field("source", source_json(report.source));
  writer.field("policy", name(report.policy));
  writer.field("profile", name(report.profile));
  writer.field("evidence", evidence_json(report));
  writer.field("class_bytes", class_bytes_json(report.class_bytes));
  writer.field("summary", summary_json(report.summary));
  writer.list("volumes", report.volumes, volume_json);
  writer.list("problems", report.problems, [](const std::string& text) { return Json(text); });
  writer.list("accepted", report.accepted, accepted_json);
  writer.list("rules", report.rules, [](const RuleCount& rule) { return Json::array({rule.rule, rule.count}); });
  writer.field("finding_count", report.finding_count);
  writer.list("findings", report.findings, finding_json);
  writer.field("skipped_count", report.skipped_count);
  writer.list("skipped", report.skipped, [](const SkippedExtent& part) { return Json{{"extent", extent_json(part.extent)}, {"reason", part.reason}}; });
  writer.field("extent_count", report.extent_count);
  writer.list("extents", report.extents, [](const ClassExtent& part) { return Json::array({part.extent.offset_bytes, part.extent.length_bytes, name(part.cls)}); });
  // A whole list of extents says what the map says; only a cut one needs the map beside it.
  if (report.extent_count > report.extents.size()) {
    writer.field("map_cell_bytes", report.map.cell_bytes);
    writer.list("map", report.map.cells, [](const ClassBytes& cell) { return Json(cell); });
  }
  return writer.finish();
}

}  // namespace vacant::scan
