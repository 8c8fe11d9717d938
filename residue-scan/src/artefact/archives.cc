// gzip, zip and zstd files by their first bytes and by what they say of the next.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kGlanceBytes = 4096;

bool starts(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && as_text(bytes.first(text.size())) == text;
}

Artefact archive(std::string rule, Confidence confidence, std::uint64_t length, std::string detail) {
  return {FindingKind::kArtefact, std::move(rule), confidence, length, std::move(detail)};
}

// RFC 1952: header fields, then a deflate stream that must inflate as far as one looks.
std::optional<Artefact> gzip(const Candidate& candidate, ArtefactChild& child) {
  const ByteSpan bytes = candidate.bytes;
  if (bytes.size() < 18 || !starts(bytes, "\x1f\x8b\x08")) return std::nullopt;
  const auto flags = load_le<std::uint8_t>(bytes, 3);
  const auto extra = load_le<std::uint8_t>(bytes, 8);
  const auto system = load_le<std::uint8_t>(bytes, 9);
  if ((flags & 0xE0U) != 0 || (extra != 0 && extra != 2 && extra != 4) || (system > 13 && system != 255))
    return std::nullopt;
  if ((bytes.size() > 10 && (flags & 4U) == 0 && (flags & 0x18U) == 0 &&
       ((load_le<std::uint8_t>(bytes, 10) >> 1U) & 3U) == 3))
    return std::nullopt;  // a block type that is none
  if (!candidate.spend(kCallEffortBytes)) return archive("gzip", Confidence::kPossible, 10, "header only");
  const auto start =
      child.inflate(bytes.first(std::min(bytes.size(), kGlanceBytes)), ArtefactChild::Wrapping::kGzip);
  if (!start || start->out_bytes == 0) return std::nullopt;
  if (start->ended) return archive("gzip", Confidence::kProven, start->in_bytes, "whole, its checksum holds");
  return archive("gzip", Confidence::kLikely, start->in_bytes, "its beginning inflates");
}

// The end record that closes the archive whose first byte is bytes[0]; where it ends.
std::optional<std::size_t> zip_end(ByteSpan bytes) {
  constexpr std::size_t kRecord = 22;
  for (std::size_t at = as_text(bytes).find("PK\x05\x06"); at != std::string_view::npos;
       at = as_text(bytes).find("PK\x05\x06", at + 4)) {
    if (bytes.size() - at < kRecord) return std::nullopt;
    const std::size_t size = load_le<std::uint32_t>(bytes, at + 12),
                      begin = load_le<std::uint32_t>(bytes, at + 16);
    if (begin + size == at && size >= 46 && starts(bytes.subspan(begin), "PK\x01\x02"))
      return std::min(at + kRecord + load_le<std::uint16_t>(bytes, at + 20), bytes.size());
  }
  return std::nullopt;
}

std::optional<Artefact> zip(const Candidate& candidate) {
  const ByteSpan bytes = candidate.bytes;
  if (bytes.size() < 30 || !starts(bytes, "PK\x03\x04")) return std::nullopt;
  const auto version = load_le<std::uint16_t>(bytes, 4);
  const auto method = load_le<std::uint16_t>(bytes, 8);
  const std::size_t name_bytes = load_le<std::uint16_t>(bytes, 26);
  const bool known = method == 0 || method == 8 || method == 9 || method == 12 || method == 14 ||
                     method == 93 || method == 95 || method == 99;
  if ((version & 0xFFU) > 63 || !known || name_bytes == 0 || name_bytes > 4096) return std::nullopt;
  if (bytes.size() < 30 + name_bytes ||
      as_text(bytes.subspan(30, name_bytes)).find('\0') != std::string_view::npos)
    return std::nullopt;
  if (candidate.spend(bytes.size() / 16))
    if (const auto end = zip_end(bytes))
      return archive("zip", Confidence::kProven, *end, "first member and central directory agree");
  return archive("zip", Confidence::kLikely, 30 + name_bytes,
                 fmt::format("first member by method {}", method));
}

// RFC 8878: the frame header, then its blocks by their headers as far as they are here.
std::optional<Artefact> zstd(ByteSpan bytes) {
  if (bytes.size() < 9 || !starts(bytes, "\x28\xb5\x2f\xfd")) return std::nullopt;
  const auto descriptor = load_le<std::uint8_t>(bytes, 4);
  if ((descriptor & 0x08U) != 0) return std::nullopt;  // a reserved bit
  const bool single = (descriptor & 0x20U) != 0;
  constexpr std::array<std::size_t, 4> kDictionary = {0, 1, 2, 4};
  constexpr std::array<std::size_t, 4> kContentSize = {0, 2, 4, 8};
  std::size_t content = kContentSize[descriptor >> 6U];
  if (content == 0 && single) content = 1;
  std::size_t at = 5 + (single ? 0 : 1) + kDictionary[descriptor & 3U] + content;
  for (std::size_t blocks = 0;; ++blocks) {
    if (at + 3 > bytes.size())
      return blocks == 0 ? std::nullopt
                         : std::optional(archive("zstd", Confidence::kLikely, bytes.size(),
                                                 "its blocks follow each other"));
    const std::uint32_t header = load_le<std::uint16_t>(bytes, at) | load_le<std::uint8_t>(bytes, at + 2)
                                                                         << 16U;
    const unsigned type = (header >> 1U) & 3U;
    const std::size_t size = header >> 3U;
    if (type == 3 || size > 128 * kKiB) return std::nullopt;
    at += 3 + (type == 1 ? 1 : size);
    if ((header & 1U) == 0) continue;
    at += (descriptor & 4U) != 0 ? 4 : 0;
    if (at > bytes.size())
      return archive("zstd", Confidence::kLikely, bytes.size(), "its blocks follow each other");
    return archive("zstd", Confidence::kLikely, at, fmt::format("one frame of {} blocks", blocks + 1));
  }
}

}  // namespace

std::optional<Artefact> examine_archive(const Candidate& candidate, ArtefactChild& child) {
  if (candidate.bytes.empty()) return std::nullopt;
  switch (std::to_integer<unsigned char>(candidate.bytes[0])) {
    case 0x1f:
      return gzip(candidate, child);
    case 'P':
      return zip(candidate);
    case 0x28:
      return zstd(candidate.bytes);
    default:
      return std::nullopt;
  }
}

}  // namespace vacant::scan
