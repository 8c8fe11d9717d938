// Binary files by their structure: LevelDB, git, archives, encrypted containers, key stores.
#include <fmt/format.h>

#include <algorithm>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

bool starts(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && as_text(bytes.first(text.size())) == text;
}

Artefact likely(std::string rule, std::uint64_t length, std::string detail) {
  return {FindingKind::kArtefact, std::move(rule), Confidence::kLikely, length, std::move(detail)};
}

// LevelDB masks stored CRCs: rotate right by 15 and add a constant (its log_format document).
std::uint32_t unmask(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xA282EAD8U;
  return (rotated >> 17U) | (rotated << 15U);
}

// The first record of a log or MANIFEST: CRC over type and payload.
std::optional<Artefact> leveldb_log(ByteSpan bytes) {
  constexpr std::size_t kHeader = 7, kBlock = 32768;
  if (bytes.size() < kHeader) return std::nullopt;
  const std::size_t length = load_le<std::uint16_t>(bytes, 4);
  const auto type = load_le<std::uint8_t>(bytes, 6);
  if (type < 1 || type > 4 || length == 0 || length > kBlock - kHeader || bytes.size() < kHeader + length)
    return std::nullopt;
  const std::uint32_t crc = ~crc32c_raw(~0U, bytes.subspan(6, 1 + length));
  if (crc != unmask(load_le<std::uint32_t>(bytes, 0))) return std::nullopt;
  const bool manifest =
      as_text(bytes.subspan(kHeader, length)).find("leveldb.BytewiseComparator") != std::string_view::npos;
  return Artefact{FindingKind::kArtefact, manifest ? "leveldb-manifest" : "leveldb-log", Confidence::kProven,
                  kHeader + length, "record checksum holds"};
}

// A pack of git objects: version, a count, and a first object header that is one.
std::optional<Artefact> git_pack(ByteSpan bytes) {
  if (bytes.size() < 16 || !starts(bytes, "PACK")) return std::nullopt;
  const auto version = load_be<std::uint32_t>(bytes, 4);
  const auto count = load_be<std::uint32_t>(bytes, 8);
  const unsigned type = (load_le<std::uint8_t>(bytes, 12) >> 4U) & 7U;
  if ((version != 2 && version != 3) || count == 0 || type == 0 || type == 5) return std::nullopt;
  return likely("git-pack", 16, fmt::format("version {}, {} objects", version, count));
}

std::optional<Artefact> git_index(ByteSpan bytes) {
  if (bytes.size() < 8 + 1024 || !starts(bytes, std::string_view("\377tOc\0\0\0\2", 8))) return std::nullopt;
  for (std::size_t i = 1; i < 256; ++i)
    if (load_be<std::uint32_t>(bytes, 8 + i * 4) < load_be<std::uint32_t>(bytes, 8 + (i - 1) * 4))
      return std::nullopt;
  return Artefact{FindingKind::kArtefact, "git-pack-index", Confidence::kProven, 8 + 1024,
                  fmt::format("{} objects, fan-out rises", load_be<std::uint32_t>(bytes, 8 + 255 * 4))};
}

std::optional<Artefact> gzip(ByteSpan bytes) {
  if (bytes.size() < 18 || !starts(bytes, "\x1f\x8b\x08")) return std::nullopt;
  const auto flags = load_le<std::uint8_t>(bytes, 3);
  const auto extra = load_le<std::uint8_t>(bytes, 8);
  const auto system = load_le<std::uint8_t>(bytes, 9);
  if ((flags & 0xE0U) != 0 || (extra != 0 && extra != 2 && extra != 4) || (system > 13 && system != 255))
    return std::nullopt;
  return likely("gzip", 10, "");
}

std::optional<Artefact> zip(ByteSpan bytes) {
  if (bytes.size() < 30 || !starts(bytes, "PK\x03\x04")) return std::nullopt;
  const auto version = load_le<std::uint16_t>(bytes, 4);
  const auto method = load_le<std::uint16_t>(bytes, 8);
  const std::size_t name_bytes = load_le<std::uint16_t>(bytes, 26);
  const bool known = method == 0 || method == 8 || method == 9 || method == 12 || method == 14 ||
                     method == 93 || method == 95 || method == 99;
  if (version > 100 || !known || name_bytes == 0 || name_bytes > 4096) return std::nullopt;
  return likely("zip", 30 + name_bytes, fmt::format("first member by method {}", method));
}

std::optional<Artefact> zstd(ByteSpan bytes) {
  if (bytes.size() < 12 || !starts(bytes, "\x28\xb5\x2f\xfd")) return std::nullopt;
  if ((load_le<std::uint8_t>(bytes, 4) & 0x08U) != 0) return std::nullopt;  // a reserved bit
  return likely("zstd", 4, "");
}

}  // namespace

std::optional<Artefact> examine_leveldb(const Candidate& candidate) { return leveldb_log(candidate.bytes); }

std::optional<Artefact> examine_archive(const Candidate& candidate) {
  switch (std::to_integer<unsigned char>(candidate.bytes[0])) {
    case 0x1f:
      return gzip(candidate.bytes);
    case 'P':
      return zip(candidate.bytes);
    case 0x28:
      return zstd(candidate.bytes);
    default:
      return std::nullopt;
  }
}

std::optional<Artefact> examine_git(const Candidate& candidate, ArtefactChild& child) {
  const ByteSpan bytes = candidate.bytes;
  if (bytes[0] == std::byte{'P'}) return git_pack(bytes);
  if (bytes[0] == std::byte{0xff}) return git_index(bytes);
  // A loose object is a zlib stream that begins with its type and length.
  const bool zlib =
      bytes[0] == std::byte{0x78} && bytes.size() >= 16 && load_be<std::uint16_t>(bytes, 0) % 31 == 0;
  if (!zlib) return std::nullopt;
  const auto start = child.inflate_start(bytes);
  if (!start) return std::nullopt;
  const std::string_view text = as_text(*start);
  for (const std::string_view type : {"blob ", "tree ", "commit ", "tag "}) {
    if (!text.starts_with(type)) continue;
    const std::size_t end = text.find_first_not_of("0123456789", type.size());
    if (end != std::string_view::npos && end > type.size() && text[end] == '\0')
      return Artefact{FindingKind::kArtefact, "git-object", Confidence::kProven, 16,
                      fmt::format("loose {}", type.substr(0, type.size() - 1))};
  }
  return std::nullopt;
}

std::optional<Artefact> examine_container(ByteSpan bytes) {
  if (bytes.size() < 512) return std::nullopt;
  if (starts(bytes, "LUKS\xba\xbe") &&
      (load_be<std::uint16_t>(bytes, 6) == 1 || load_be<std::uint16_t>(bytes, 6) == 2))
    return likely("luks-header", 592, fmt::format("version {}", load_be<std::uint16_t>(bytes, 6)));
  const auto first = load_le<std::uint32_t>(bytes, 0);
  const auto second = load_le<std::uint32_t>(bytes, 4);
  if (first == 0x9AA2D903U && second >= 0xB54BFB65U && second <= 0xB54BFB67U)
    return Artefact{FindingKind::kCredentialFile, "keepass-database", Confidence::kLikely, 12, ""};
  if (load_be<std::uint32_t>(bytes, 0) == 0xFEEDFEEDU && load_be<std::uint32_t>(bytes, 4) <= 2 &&
      load_be<std::uint32_t>(bytes, 8) < 10'000)
    return Artefact{FindingKind::kCredentialFile, "java-keystore", Confidence::kLikely, 12,
                    fmt::format("{} entries", load_be<std::uint32_t>(bytes, 8))};
  // SQLite's write-ahead log: magic, version, page size.
  const auto wal = load_be<std::uint32_t>(bytes, 0);
  const auto page = load_be<std::uint32_t>(bytes, 8);
  if ((wal == 0x377F0682U || wal == 0x377F0683U) && load_be<std::uint32_t>(bytes, 4) == 3007000U &&
      page >= 512 && page <= 65536 && (page & (page - 1)) == 0)
    return likely("sqlite-wal", 32, fmt::format("page size {}", page));
  return std::nullopt;
}

}  // namespace vacant::scan
