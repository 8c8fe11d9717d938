// LevelDB: logs and MANIFEST by their first records, tables by the footer at their end. Sources: LevelDB's
// documents log_format and table_format; it masks stored CRCs by a rotation and an addition.
#include <fmt/format.h>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kRecordHeader = 7, kLogBlock = 32768, kBlockTrailer = 5;
constexpr std::uint64_t kMaxTableBytes = 1ULL << 32U;

std::uint32_t unmask(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xA282EAD8U;
  return (rotated >> 17U) | (rotated << 15U);
}

struct Record {
  unsigned type = 0;  // 1 whole, 2 first, 3 middle, 4 last
  std::size_t bytes = 0;
  bool operator==(const Record&) const = default;
};

// The record at the start of `bytes`, if its checksum holds.
std::optional<Record> parse_record(ByteSpan bytes) {
  if (bytes.size() < kRecordHeader) return std::nullopt;
  const std::size_t length = load_le<std::uint16_t>(bytes, 4);
  const unsigned type = load_le<std::uint8_t>(bytes, 6);
  if (type < 1 || type > 4 || length == 0 || length > kLogBlock - kRecordHeader) return std::nullopt;
  if (bytes.size() < kRecordHeader + length) return std::nullopt;
  if (~crc32c_raw(~0U, bytes.subspan(6, 1 + length)) != unmask(load_le<std::uint32_t>(bytes, 0)))
    return std::nullopt;
  return Record{type, kRecordHeader + length};
}

// A number of 7 bits a byte, the lowest first.
std::optional<std::uint64_t> varint(ByteSpan bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 63 && at < bytes.size(); shift += 7) {
    const auto octet = std::to_integer<std::uint64_t>(bytes[at++]);
    value |= (octet & 0x7FU) << shift;
    if (octet < 0x80) return value;
  }
  return std::nullopt;
}

struct Handle {
  std::uint64_t offset = 0, size = 0;
  [[nodiscard]] std::uint64_t end() const { return offset + size + kBlockTrailer; }
};

std::optional<Handle> parse_handle(ByteSpan bytes, std::size_t& at) {
  const auto offset = varint(bytes, at);
  const auto size = offset ? varint(bytes, at) : std::nullopt;
  if (!size || *offset > kMaxTableBytes || *size > kMaxTableBytes) return std::nullopt;
  return Handle{*offset, *size};
}

}  // namespace

std::optional<Artefact> examine_leveldb_log(ByteSpan bytes) {
  const auto first = parse_record(bytes);
  if (!first || first->type > 2) return std::nullopt;  // a file begins with the beginning of a record
  const std::string_view payload = as_text(bytes.subspan(kRecordHeader, first->bytes - kRecordHeader));
  const bool manifest = payload.find("leveldb.BytewiseComparator") != std::string_view::npos ||
                        payload.find("idb_cmp1") != std::string_view::npos;
  // A log's record is a batch: sequence number, count, then at least one operation.
  if (!manifest && first->bytes < kRecordHeader + 12) return std::nullopt;
  std::size_t at = first->bytes, records = 1;
  while (at < bytes.size()) {
    if (kLogBlock - at % kLogBlock < kRecordHeader) at += kLogBlock - at % kLogBlock;
    const auto next = at < bytes.size() ? parse_record(bytes.subspan(at)) : std::nullopt;
    if (!next) break;
    at += next->bytes;
    ++records;
  }
  return Artefact{FindingKind::kArtefact, manifest ? "leveldb-manifest" : "leveldb-log", Confidence::kProven,
                  std::min(at, bytes.size()), fmt::format("{} records whose checksums hold", records)};
}

std::optional<TableFooter> examine_table_footer(ByteSpan bytes, std::size_t footer_at,
                                                std::uint64_t before_bytes) {
  if (footer_at > bytes.size() || bytes.size() - footer_at < kTableFooterBytes) return std::nullopt;
  const ByteSpan footer = bytes.subspan(footer_at, kTableFooterBytes);
  if (as_text(footer.last(kTableMagic.size())) != kTableMagic) return std::nullopt;
  const ByteSpan handles = footer.first(kTableFooterBytes - kTableMagic.size());
  std::size_t at = 0;
  const auto metaindex = parse_handle(handles, at);
  const auto index = metaindex ? parse_handle(handles, at) : std::nullopt;
  // The blocks lie back to back: metaindex, index, footer. The rest of the footer is padding.
  if (!index || metaindex->end() != index->offset || !is_zero(handles.subspan(at))) return std::nullopt;
  if (index->end() > before_bytes + footer_at) return std::nullopt;
  TableFooter out{index->end() + kTableFooterBytes, false};
  if (index->size + kBlockTrailer <= footer_at) {
    const std::size_t trailer = footer_at - kBlockTrailer;
    const ByteSpan block = bytes.subspan(trailer - static_cast<std::size_t>(index->size),
                                         static_cast<std::size_t>(index->size) + 1);
    out.index_holds = ~crc32c_raw(~0U, block) == unmask(load_le<std::uint32_t>(bytes, trailer + 1));
  }
  return out;
}

}  // namespace vacant::scan
