// Encrypted containers and key stores: LUKS, KeePass, Java key stores.
#include <fmt/format.h>

#include <algorithm>

#include "artefact/digest.h"
#include "artefact/parts.h"
#include "artefact/text.h"

namespace vacant::scan {

namespace {

constexpr std::string_view kLuksMagic{"LUKS\xba\xbe", 6};

// A field of text that ends in zeros.
bool is_padded_text(ByteSpan bytes) {
  const std::string_view text = as_text(bytes);
  const std::size_t end = std::min(text.find('\0'), text.size());
  return end > 0 && end < text.size() && leading_text(text.substr(0, end)).size() == end &&
         is_zero(bytes.subspan(end));
}

std::optional<Artefact> luks1(ByteSpan bytes) {
  if (!is_padded_text(bytes.subspan(8, 32)) || !is_padded_text(bytes.subspan(40, 32)) ||
      !is_padded_text(bytes.subspan(72, 32)))
    return std::nullopt;
  const auto key_bytes = load_be<std::uint32_t>(bytes, 108);
  if (key_bytes < 16 || key_bytes > 128) return std::nullopt;
  std::size_t active = 0;
  for (std::size_t slot = 0; slot < 8; ++slot) {
    const auto state = load_be<std::uint32_t>(bytes, 208 + slot * 48);
    if (state != 0x0000DEADU && state != 0x00AC71F3U) return std::nullopt;
    active += state == 0x00AC71F3U ? 1 : 0;
  }
  return Artefact{FindingKind::kArtefact, "luks-header", Confidence::kLikely, 592,
                  fmt::format("version 1, {} key slots in use", active)};
}

// Version 2 carries a SHA-256 of header and JSON, taken with the field itself zero.
std::optional<Artefact> luks2(const Candidate& candidate) {
  constexpr std::size_t kSum = 448, kSumBytes = 64;
  const auto size = load_be<std::uint64_t>(candidate.bytes, 8);
  if (size < 16 * kKiB || size > 4 * kMiB || (size & (size - 1)) != 0) return std::nullopt;
  Artefact found{FindingKind::kArtefact, "luks-header", Confidence::kLikely, size, "version 2"};
  auto whole = candidate.read(size);
  if (!whole || !as_text(*whole).substr(72).starts_with(std::string_view("sha256\0", 7))) return found;
  const ByteVector stored(whole->begin() + kSum, whole->begin() + kSum + 32);
  std::fill_n(whole->begin() + kSum, kSumBytes, std::byte{0});
  if (sha256(*whole) != stored) return std::nullopt;
  found.confidence = Confidence::kProven;
  found.detail += ", its checksum holds";
  return found;
}

std::optional<Artefact> luks(const Candidate& candidate) {
  if (candidate.bytes.size() < 592) return std::nullopt;
  const auto version = load_be<std::uint16_t>(candidate.bytes, 6);
  if (version == 1) return luks1(candidate.bytes);
  return version == 2 ? luks2(candidate) : std::nullopt;
}

// KDBX: signature, version, then fields (id, length, value) up to the end field. Version 4 hashes them.
std::optional<Artefact> keepass(ByteSpan bytes) {
  const auto second = load_le<std::uint32_t>(bytes, 4);
  const unsigned major = load_le<std::uint16_t>(bytes, 10);
  if (second != 0xB54BFB67U || (major != 3 && major != 4)) return std::nullopt;
  std::size_t at = 12;
  const std::size_t length_bytes = major == 4 ? 4 : 2;
  for (int fields = 0; fields < 32 && at + 1 + length_bytes <= bytes.size(); ++fields) {
    const unsigned id = load_le<std::uint8_t>(bytes, at);
    const std::size_t length =
        major == 4 ? load_le<std::uint32_t>(bytes, at + 1) : load_le<std::uint16_t>(bytes, at + 1);
    at += 1 + length_bytes;
    if (length > bytes.size() - at || id > 12) return std::nullopt;
    at += length;
    if (id != 0) continue;
    const bool holds = major == 4 && at + 32 <= bytes.size() &&
                       std::ranges::equal(sha256(bytes.first(at)), bytes.subspan(at, 32));
    if (major == 4 && !holds) return std::nullopt;
    return Artefact{
        FindingKind::kCredentialFile, "keepass-database", holds ? Confidence::kProven : Confidence::kLikely,
        at,
        fmt::format("version {}, {} header fields{}", major, fields + 1, holds ? ", their hash holds" : "")};
  }
  return std::nullopt;
}

// The entries of a Java key store up to the first private or secret key. Stores of certificates alone are
// public and no finding.
std::optional<Artefact> java_keystore(ByteSpan bytes) {
  const auto version = load_be<std::uint32_t>(bytes, 4);
  const auto entries = load_be<std::uint32_t>(bytes, 8);
  if ((version != 1 && version != 2) || entries == 0 || entries > 100'000) return std::nullopt;
  Reader reader(bytes.subspan(12));
  for (std::uint32_t i = 0; i < entries; ++i) {
    const auto tag = reader.be<std::uint32_t>();
    const auto alias_bytes = reader.be<std::uint16_t>();
    if (!tag || !alias_bytes || *tag == 0 || *tag > 3) return std::nullopt;
    if (!reader.take(*alias_bytes) || !reader.take(8)) return std::nullopt;
    if (*tag != 2)
      return Artefact{FindingKind::kCredentialFile, "java-keystore", Confidence::kLikely,
                      12 + reader.position(), fmt::format("{} entries, one of them a key", entries)};
    const auto type_bytes =
        version == 2 ? reader.be<std::uint16_t>() : Result<std::uint16_t>(std::uint16_t{0});
    if (!type_bytes || !reader.take(*type_bytes)) return std::nullopt;
    const auto certificate_bytes = reader.be<std::uint32_t>();
    if (!certificate_bytes || !reader.take(*certificate_bytes)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Artefact> examine_container(const Candidate& candidate) {
  const ByteSpan bytes = candidate.bytes;
  if (bytes.size() < 64) return std::nullopt;
  if (as_text(bytes.first(kLuksMagic.size())) == kLuksMagic) return luks(candidate);
  if (load_le<std::uint32_t>(bytes, 0) == 0x9AA2D903U) return keepass(bytes);
  if (load_be<std::uint32_t>(bytes, 0) == 0xFEEDFEEDU) return java_keystore(bytes);
  return std::nullopt;
}

}  // namespace vacant::scan
