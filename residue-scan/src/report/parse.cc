// The strict reader of the JSON report.
#include <fmt/format.h>

#include <charconv>

#include "core/strict_json.h"
#include "report/fields.h"

namespace vacant::scan {

namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxReportBytes = 1 * kGiB;
constexpr std::size_t kMaxVolumes = 10'000;
constexpr std::size_t kMaxTexts = 100'000;

Result<Extent> parse_extent(const json& value, std::string_view where) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_unsigned() ||
      !value[1].is_number_unsigned())
    return fail(Code::kCorrupt, fmt::format("{}: an extent must be [offset, length]", where));
  return make_extent(value[0].get<std::uint64_t>(), value[1].get<std::uint64_t>());
}

template <class Enum, class Find>
Result<Enum> parse_name(JsonFields& fields, const char* key, const Find& find) {
  const std::string text = VACANT_TRY(fields.text(key));
  const std::optional<Enum> value = find(text);
  if (!value) return fields.bad(key, "a name that this version knows");
  return *value;
}

std::optional<SourceKind> source_kind(std::string_view text) {
  for (const SourceKind kind :
       {SourceKind::kFile, SourceKind::kBlockDevice, SourceKind::kNbd, SourceKind::kMemory, SourceKind::kRam})
    if (name(kind) == text) return kind;
  return std::nullopt;
}

Result<std::uint32_t> number32(JsonFields& fields, const char* key) {
  const std::uint64_t value = VACANT_TRY(fields.number(key));
  if (value > UINT32_MAX) return fields.bad(key, "smaller");
  return static_cast<std::uint32_t>(value);
}

Result<std::vector<std::string>> parse_texts(JsonFields& fields, const char* key) {
  std::vector<std::string> out;
  for (const json& entry : *VACANT_TRY(fields.array(key, kMaxTexts))) {
    if (!entry.is_string()) return fields.bad(key, "a list of texts");
    out.push_back(entry.get<std::string>());
  }
  return out;
}

Result<DeviceInfo> parse_source(const json& value) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "source"));
  DeviceInfo out;
  out.kind = VACANT_TRY(parse_name<SourceKind>(fields, "kind", source_kind));
  out.name = VACANT_TRY(fields.text("name"));
  out.size_bytes = VACANT_TRY(fields.number("size_bytes"));
  if (out.size_bytes > INT64_MAX) return fields.bad("size_bytes", "the size of a device that can exist");
  out.sector_bytes = VACANT_TRY(number32(fields, "sector_bytes"));
  VACANT_TRY(fields.done());
  return out;
}

Result<void> parse_evidence(const json& value, Report& report) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "evidence"));
  report.base_kind = VACANT_TRY(fields.text("base_kind"));
  report.base_root = VACANT_TRY(fields.text("base_root"));
  report.write_map = VACANT_TRY(fields.text("write_map"));
  report.write_map_bytes = VACANT_TRY(fields.number("write_map_bytes"));
  report.fingerprint_count = VACANT_TRY(fields.number("fingerprints"));
  report.placeholder_key = VACANT_TRY(fields.flag("placeholder_key"));
  report.baseline_date = VACANT_TRY(fields.text("baseline_date"));
  return fields.done();
}

Result<Volume> parse_volume(const json& value) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "volumes"));
  Volume out;
  out.extent = VACANT_TRY(parse_extent(*VACANT_TRY(fields.array("extent", 2)), "volumes"));
  out.partition = VACANT_TRY(fields.text("partition"));
  out.type = VACANT_TRY(fields.text("type"));
  out.status = VACANT_TRY(fields.text("status"));
  out.parsed = VACANT_TRY(fields.flag("parsed"));
  const auto uuid = from_hex(VACANT_TRY(fields.text("uuid")));
  if (!uuid || uuid->size() != out.uuid.size()) return fields.bad("uuid", "32 hex digits");
  std::ranges::copy(*uuid, out.uuid.begin());
  out.block_bytes = VACANT_TRY(number32(fields, "block_bytes"));
  out.checksum_seed = VACANT_TRY(number32(fields, "checksum_seed"));
  out.has_checksums = VACANT_TRY(fields.flag("has_checksums"));
  out.file_count = VACANT_TRY(fields.number("file_count"));
  VACANT_TRY(fields.done());
  return out;
}

std::optional<Codec> codec_from_name(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(Codec::kJson); ++i)
    if (name(static_cast<Codec>(i)) == text) return static_cast<Codec>(i);
  return std::nullopt;
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return value;
}

// "1048576-GZIP-300-BASE64-30".
Result<Origin> parse_origin(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('-', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  Origin out;
  const auto first = decimal(parts[0]);
  if (!first || parts.size() % 2 == 0)
    return fail(Code::kCorrupt, "findings: \"origin\" must be offset[-CODEC-offset]...");
  out.device_offset_bytes = *first;
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
    const auto codec = codec_from_name(parts[i]);
    const auto offset = decimal(parts[i + 1]);
    if (!codec || !offset)
      return fail(Code::kCorrupt, "findings: \"origin\" names no known codec and offset");
    out.layers.push_back({*codec, *offset});
  }
  return out;
}

Result<Place> parse_place(const json& value) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "place"));
  Place out;
  const std::int64_t volume = VACANT_TRY(fields.integer("volume"));
  if (volume < -1 || volume > static_cast<std::int64_t>(kMaxVolumes))
    return fields.bad("volume", "an index of volumes, or -1");
  out.volume = static_cast<int>(volume);
  out.part = VACANT_TRY(parse_name<FsPart>(fields, "part", fs_part_from_name));
  out.inode = VACANT_TRY(number32(fields, "inode"));
  out.path = VACANT_TRY(fields.text("path"));
  VACANT_TRY(fields.done());
  return out;
}

Result<Finding> parse_finding(const json& value) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "findings"));
  Finding out;
  out.kind = VACANT_TRY(parse_name<FindingKind>(fields, "kind", finding_kind_from_name));
  out.rule = VACANT_TRY(fields.text("rule"));
  out.confidence = VACANT_TRY(parse_name<Confidence>(fields, "confidence", confidence_from_name));
  out.origin = VACANT_TRY(parse_origin(VACANT_TRY(fields.text("origin"))));
  out.length_bytes = VACANT_TRY(fields.number("length_bytes"));
  out.extent = VACANT_TRY(parse_extent(*VACANT_TRY(fields.array("extent", 2)), "findings"));
  out.cls = VACANT_TRY(parse_name<Class>(fields, "class", class_from_name));
  out.place = VACANT_TRY(parse_place(*VACANT_TRY(fields.object("place"))));
  out.detail = VACANT_TRY(fields.text("detail"));
  out.identity = VACANT_TRY(fields.text("identity"));
  out.digest_prefix = VACANT_TRY(fields.text("digest_prefix"));
  VACANT_TRY(fields.done());
  return out;
}

Result<AcceptedExtent> parse_accepted(const json& value) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "accepted"));
  AcceptedExtent out;
  out.extent = VACANT_TRY(parse_extent(*VACANT_TRY(fields.array("extent", 2)), "accepted"));
  out.digest = VACANT_TRY(fields.text("digest"));
  out.reason = VACANT_TRY(fields.text("reason"));
  out.expires = VACANT_TRY(fields.text("expires"));
  out.applied = VACANT_TRY(fields.flag("applied"));
  out.note = VACANT_TRY(fields.text("note"));
  VACANT_TRY(fields.done());
  return out;
}

Result<RuleCount> parse_rule(const json& value) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_string() || !value[1].is_number_unsigned())
    return fail(Code::kCorrupt, "rules: each entry must be [rule, count]");
  return RuleCount{value[0].get<std::string>(), value[1].get<std::uint64_t>()};
}

Result<SkippedExtent> parse_skipped(const json& value) {
  JsonFields fields = VACANT_TRY(JsonFields::of(value, "skipped"));
  SkippedExtent out;
  out.extent = VACANT_TRY(parse_extent(*VACANT_TRY(fields.array("extent", 2)), "skipped"));
  out.reason = VACANT_TRY(fields.text("reason"));
  VACANT_TRY(fields.done());
  return out;
}

Result<ClassExtent> parse_class_extent(const json& value) {
  if (!value.is_array() || value.size() != 3 || !value[0].is_number_unsigned() ||
      !value[1].is_number_unsigned() || !value[2].is_string())
    return fail(Code::kCorrupt, "extents: each entry must be [offset, length, class]");
  const auto cls = class_from_name(value[2].get<std::string>());
  if (!cls) return fail(Code::kCorrupt, "extents: unknown class");
  return ClassExtent{VACANT_TRY(make_extent(value[0].get<std::uint64_t>(), value[1].get<std::uint64_t>())),
                     *cls};
}

Result<ClassBytes> parse_cell(const json& value) {
  if (!value.is_array() || value.size() != kClassCount)
    return fail(Code::kCorrupt, "map: each cell must hold a number a class");
  ClassBytes out{};
  for (std::size_t i = 0; i < kClassCount; ++i) {
    if (!value[i].is_number_unsigned()) return fail(Code::kCorrupt, "map: whole numbers from 0");
    out[i] = value[i].get<std::uint64_t>();
  }
  return out;
}

template <class T, class Parse>
Result<std::vector<T>> parse_list(JsonFields& fields, const char* key, std::size_t limit,
                                  const Parse& parse) {
  std::vector<T> out;
  const json* list = VACANT_TRY(fields.array(key, limit));
  out.reserve(list->size());
  for (const json& entry : *list) out.push_back(VACANT_TRY(parse(entry)));
  return out;
}

Result<void> parse_totals(JsonFields& fields, Report& report) {
  JsonFields classes = VACANT_TRY(JsonFields::of(*VACANT_TRY(fields.object("class_bytes")), "class_bytes"));
  for (const Class cls : kAllClasses)
    report.class_bytes[static_cast<std::size_t>(cls)] =
        VACANT_TRY(classes.number(std::string(name(cls)).c_str()));
  VACANT_TRY(classes.done());
  JsonFields summary = VACANT_TRY(JsonFields::of(*VACANT_TRY(fields.object("summary")), "summary"));
  for (const auto& [key, member] : kSummaryFields) report.summary.*member = VACANT_TRY(summary.number(key));
  return summary.done();
}

Result<void> parse_lists(JsonFields& fields, Report& report) {
  report.volumes = VACANT_TRY(parse_list<Volume>(fields, "volumes", kMaxVolumes, parse_volume));
  report.problems = VACANT_TRY(parse_texts(fields, "problems"));
  report.accepted =
      VACANT_TRY(parse_list<AcceptedExtent>(fields, "accepted", kMaxLedgerExtents, parse_accepted));
  report.rules = VACANT_TRY(parse_list<RuleCount>(fields, "rules", kMaxTexts, parse_rule));
  report.finding_count = VACANT_TRY(fields.number("finding_count"));
  report.findings = VACANT_TRY(parse_list<Finding>(fields, "findings", kMaxFindings, parse_finding));
  report.skipped_count = VACANT_TRY(fields.number("skipped_count"));
  report.skipped = VACANT_TRY(parse_list<SkippedExtent>(fields, "skipped", kMaxSkipped + 1, parse_skipped));
  report.extent_count = VACANT_TRY(fields.number("extent_count"));
  report.extents =
      VACANT_TRY(parse_list<ClassExtent>(fields, "extents", kMaxLedgerExtents, parse_class_extent));
  if (!fields.has("map")) return {};
  report.map.cell_bytes = VACANT_TRY(fields.number("map_cell_bytes"));
  report.map.cells = VACANT_TRY(parse_list<ClassBytes>(fields, "map", kMapCells, parse_cell));
  return {};
}

// Rebuilds the map that a whole list of extents implies. A list that is not gapless gets none;
// check_arithmetic says why.
void rebuild_map(Report& report) {
  if (!report.map.cells.empty() || report.extent_count != report.extents.size()) return;
  Ledger ledger(report.source.size_bytes);
  for (const ClassExtent& part : report.extents) {
    if (part.extent.offset_bytes != ledger.covered_bytes() ||
        part.extent.end_bytes() > report.source.size_bytes)
      return;
    ledger.append(part.extent, part.cls);
  }
  report.map = ledger.map();
}

}  // namespace

Result<Report> parse_report(std::string_view text) {
  if (text.size() > kMaxReportBytes) return fail(Code::kLimit, "the report is longer than 1 GiB");
  const json document = VACANT_TRY(parse_strict_json(text));
  JsonFields fields = VACANT_TRY(JsonFields::of(document, "report"));
  if (VACANT_TRY(fields.text("format")) != "vacant-report/1")
    return fail(Code::kUnsupported, "not a report of version 1");
  Report report;
  report.verdict = VACANT_TRY(parse_name<Verdict>(fields, "verdict", verdict_from_name));
  report.reasons = VACANT_TRY(parse_texts(fields, "reasons"));
  report.source = VACANT_TRY(parse_source(*VACANT_TRY(fields.object("source"))));
  report.policy = VACANT_TRY(parse_name<Policy>(fields, "policy", policy_from_name));
  report.profile = VACANT_TRY(parse_name<Profile>(fields, "profile", profile_from_name));
  VACANT_TRY(parse_evidence(*VACANT_TRY(fields.object("evidence")), report));
  VACANT_TRY(parse_totals(fields, report));
  VACANT_TRY(parse_lists(fields, report));
  VACANT_TRY(fields.done());
  rebuild_map(report);
  return report;
}

}  // namespace vacant::scan
