#include "engine/journal.h"

#include <fmt/format.h>

namespace vacant::scan {

namespace {

constexpr std::string_view kMagic = "vacant-journal/1\n";
constexpr std::uint32_t kMaxItems = 1'000'000;
constexpr std::uint32_t kMaxTextBytes = 64 * 1024;

class Writer {
 public:
  void u64(std::uint64_t value) {
    std::array<std::byte, 8> raw{};
    store_le(raw, 0, value);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void text(std::string_view value) {
    u64(value.size());
    const ByteSpan raw = as_bytes(value);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void extent(const Extent& extent) {
    u64(extent.offset_bytes);
    u64(extent.length_bytes);
  }
  ByteVector take() { return std::move(bytes_); }

 private:
  ByteVector bytes_;
};

Result<std::string> read_text(Reader& reader) {
  const std::uint64_t size = VACANT_TRY(reader.le<std::uint64_t>());
  if (size > kMaxTextBytes) return fail(Code::kCorrupt, "journal: text too long");
  return std::string(as_text(VACANT_TRY(reader.take(static_cast<std::size_t>(size)))));
}

Result<Extent> read_extent(Reader& reader) {
  const std::uint64_t offset = VACANT_TRY(reader.le<std::uint64_t>());
  const std::uint64_t length = VACANT_TRY(reader.le<std::uint64_t>());
  return make_extent(offset, length);
}

Result<std::uint64_t> read_below(Reader& reader, std::uint64_t bound) {
  const std::uint64_t value = VACANT_TRY(reader.le<std::uint64_t>());
  if (value >= bound) return fail(Code::kCorrupt, "journal: number out of range");
  return value;
}

void write_finding(Writer& writer, const Finding& finding) {
  writer.u64(static_cast<std::uint64_t>(finding.kind));
  writer.text(finding.rule);
  writer.u64(static_cast<std::uint64_t>(finding.confidence));
  writer.u64(finding.origin.device_offset_bytes);
  writer.u64(finding.origin.layers.size());
  for (const Layer& layer : finding.origin.layers) {
    writer.u64(static_cast<std::uint64_t>(layer.codec));
    writer.u64(layer.offset_bytes);
  }
  writer.u64(finding.length_bytes);
  writer.extent(finding.extent);
  writer.u64(static_cast<std::uint64_t>(finding.cls));
  writer.text(finding.detail);
  writer.text(finding.identity);
  writer.text(finding.digest_prefix);
}

Result<Finding> read_finding(Reader& reader) {
  Finding finding;
  finding.kind = static_cast<FindingKind>(VACANT_TRY(read_below(reader, 6)));
  finding.rule = VACANT_TRY(read_text(reader));
  finding.confidence = static_cast<Confidence>(VACANT_TRY(read_below(reader, 3)));
  finding.origin.device_offset_bytes = VACANT_TRY(reader.le<std::uint64_t>());
  const std::uint64_t layers = VACANT_TRY(read_below(reader, kMaxDecodeDepth + 1));
  for (std::uint64_t i = 0; i < layers; ++i) {
    const auto codec = static_cast<Codec>(VACANT_TRY(read_below(reader, 11)));
    finding.origin.layers.push_back({codec, VACANT_TRY(reader.le<std::uint64_t>())});
  }
  finding.length_bytes = VACANT_TRY(reader.le<std::uint64_t>());
  finding.extent = VACANT_TRY(read_extent(reader));
  finding.cls = static_cast<Class>(VACANT_TRY(read_below(reader, kClassCount)));
  finding.detail = VACANT_TRY(read_text(reader));
  finding.identity = VACANT_TRY(read_text(reader));
  finding.digest_prefix = VACANT_TRY(read_text(reader));
  return finding;
}

}  // namespace

ByteVector encode_segment(const SegmentResult& result) {
  Writer writer;
  writer.u64(result.runs.size());
  for (const ClassExtent& run : result.runs) {
    writer.extent(run.extent);
    writer.u64(static_cast<std::uint64_t>(run.cls));
  }
  writer.u64(result.findings.size());
  for (const Finding& finding : result.findings) write_finding(writer, finding);
  writer.u64(result.rule_counts.size());
  for (const auto& [rule, count] : result.rule_counts) {
    writer.text(rule);
    writer.u64(count);
  }
  writer.u64(result.skipped.size());
  for (const SkippedExtent& part : result.skipped) {
    writer.extent(part.extent);
    writer.text(part.reason);
  }
  writer.u64(result.identities.size());
  for (const std::string& identity : result.identities) writer.text(identity);
  writer.u64(result.skipped_count);
  writer.u64(result.placeholders);
  writer.u64(result.foreign_blocks);
  return writer.take();
}

Result<SegmentResult> decode_segment(ByteSpan bytes) {
  Reader reader(bytes);
  SegmentResult result;
  for (std::uint64_t i = 0, n = VACANT_TRY(read_below(reader, kMaxItems)); i < n; ++i) {
    const Extent extent = VACANT_TRY(read_extent(reader));
    result.runs.push_back({extent, static_cast<Class>(VACANT_TRY(read_below(reader, kClassCount)))});
  }
  for (std::uint64_t i = 0, n = VACANT_TRY(read_below(reader, kMaxItems)); i < n; ++i)
    result.findings.push_back(VACANT_TRY(read_finding(reader)));
  for (std::uint64_t i = 0, n = VACANT_TRY(read_below(reader, kMaxItems)); i < n; ++i) {
    std::string rule = VACANT_TRY(read_text(reader));
    result.rule_counts[std::move(rule)] = VACANT_TRY(reader.le<std::uint64_t>());
  }
  for (std::uint64_t i = 0, n = VACANT_TRY(read_below(reader, kMaxItems)); i < n; ++i) {
    const Extent extent = VACANT_TRY(read_extent(reader));
    result.skipped.push_back({extent, VACANT_TRY(read_text(reader))});
  }
  for (std::uint64_t i = 0, n = VACANT_TRY(read_below(reader, kMaxItems)); i < n; ++i)
    result.identities.push_back(VACANT_TRY(read_text(reader)));
  result.skipped_count = VACANT_TRY(reader.le<std::uint64_t>());
  result.placeholders = VACANT_TRY(reader.le<std::uint64_t>());
  result.foreign_blocks = VACANT_TRY(reader.le<std::uint64_t>());
  if (reader.remaining() != 0) return fail(Code::kCorrupt, "journal: bytes behind a record");
  return result;
}

Result<Journal> Journal::open(const std::string& path, ByteSpan identity,
                              const std::function<Result<void>(SegmentResult)>& replay) {
  ByteVector header(as_bytes(kMagic).begin(), as_bytes(kMagic).end());
  header.insert(header.end(), identity.begin(), identity.end());
  bool first = true;
  auto log = AppendLog::open(path, [&](ByteSpan record) -> Result<void> {
    if (std::exchange(first, false)) {
      if (std::ranges::equal(record, header)) return {};
      return fail(Code::kMismatch, fmt::format("{} belongs to another scan (other disk, disk content or "
                                               "options): name another file, or remove it",
                                               path));
    }
    return replay(VACANT_TRY(decode_segment(record)));
  });
  if (!log) return fail(log.error());
  if (log->record_count() == 0) VACANT_TRY(log->append(header));
  return Journal(std::move(*log));
}

Result<void> Journal::add(const SegmentResult& result) { return log_.append(encode_segment(result)); }

}  // namespace vacant::scan
