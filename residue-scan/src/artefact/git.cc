// git's packs, pack indexes and loose objects. Source: git's gitformat-pack and git-hash-object documents.
#include <fmt/format.h>

#include <algorithm>

#include "artefact/digest.h"
#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kHashBytes = 20;
constexpr std::uint64_t kMaxLooseBytes = 16 * kMiB;

bool starts(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && as_text(bytes.first(text.size())) == text;
}

Artefact git(std::string rule, Confidence confidence, std::uint64_t length, std::string detail) {
  return {FindingKind::kArtefact, std::move(rule), confidence, length, std::move(detail)};
}

// Walks the objects; behind the last one the pack's SHA-1 must stand.
std::optional<Artefact> walked_pack(const Candidate& candidate, ArtefactChild& child, std::uint64_t objects,
                                    std::uint64_t size, bool& cut_off) {
  const auto bytes = candidate.read(size);
  if (!bytes) return std::nullopt;
  const auto pack = child.walk_pack(*bytes);
  if (!pack) return std::nullopt;
  cut_off = pack->cut_off;
  const std::string so_far = fmt::format("{} of {} objects inflate", pack->objects, objects);
  if (pack->objects < objects || pack->end_bytes + kHashBytes > bytes->size()) {
    cut_off |= pack->objects == objects;
    return pack->objects == 0 ? std::nullopt
                              : std::optional(git("git-pack", Confidence::kLikely, pack->end_bytes, so_far));
  }
  const std::size_t end = static_cast<std::size_t>(pack->end_bytes);
  const bool holds =
      std::ranges::equal(sha1(ByteSpan(*bytes).first(end)), ByteSpan(*bytes).subspan(end, kHashBytes));
  return git("git-pack", holds ? Confidence::kProven : Confidence::kLikely, end + kHashBytes,
             fmt::format("{}, its SHA-1 {}", so_far, holds ? "holds" : "does not hold"));
}

std::optional<Artefact> pack(const Candidate& candidate, ArtefactChild& child) {
  const ByteSpan bytes = candidate.bytes;
  if (bytes.size() < 32 || !starts(bytes, "PACK")) return std::nullopt;
  const auto version = load_be<std::uint32_t>(bytes, 4);
  const auto count = load_be<std::uint32_t>(bytes, 8);
  const unsigned type = (load_le<std::uint8_t>(bytes, 12) >> 4U) & 7U;
  if ((version != 2 && version != 3) || count == 0 || type == 0 || type == 5) return std::nullopt;
  bool cut_off = false;
  const std::uint64_t most = std::min(candidate.left_bytes(), kMaxWholeBytes);
  const std::uint64_t here = std::min<std::uint64_t>(bytes.size(), most);
  auto found = walked_pack(candidate, child, count, std::min(here, kMiB), cut_off);
  if (found && cut_off && most > kMiB)
    if (auto longer = walked_pack(candidate, child, count, most, cut_off)) found = std::move(longer);
  return found;
}

// Fan-out table that rises; then names, checksums and offsets, whose length follows from the count.
std::optional<Artefact> pack_index(const Candidate& candidate) {
  constexpr std::size_t kFanOut = 8, kNames = kFanOut + 1024;
  const ByteSpan bytes = candidate.bytes;
  if (bytes.size() < kNames || !starts(bytes, std::string_view("\377tOc\0\0\0\2", 8))) return std::nullopt;
  for (std::size_t i = 1; i < 256; ++i)
    if (load_be<std::uint32_t>(bytes, kFanOut + i * 4) < load_be<std::uint32_t>(bytes, kFanOut + (i - 1) * 4))
      return std::nullopt;
  const std::uint64_t count = load_be<std::uint32_t>(bytes, kFanOut + 255 * 4);
  const std::string objects = fmt::format("{} objects", count);
  // Offsets beyond 2 GiB would follow: packs that large are told by their fan-out alone.
  const std::uint64_t size = kNames + count * (kHashBytes + 4 + 4) + 2 * kHashBytes;
  const auto whole = candidate.read(size);
  if (!whole) return git("git-pack-index", Confidence::kLikely, kNames, objects + ", fan-out rises");
  const std::size_t end = whole->size() - kHashBytes;
  const bool holds = std::ranges::equal(sha1(ByteSpan(*whole).first(end)), ByteSpan(*whole).subspan(end));
  return git("git-pack-index", holds ? Confidence::kProven : Confidence::kLikely, holds ? size : kNames,
             objects + (holds ? ", its SHA-1 holds" : ", fan-out rises"));
}

struct LooseHeader {
  std::string_view type;
  std::uint64_t object_bytes = 0;  // header and content, inflated
};

// "blob 123" and a zero byte.
std::optional<LooseHeader> loose_header(std::string_view text) {
  for (const std::string_view type : {"blob", "tree", "commit", "tag"}) {
    if (!text.starts_with(type) || !text.substr(type.size()).starts_with(' ')) continue;
    std::uint64_t size = 0;
    std::size_t at = type.size() + 1;
    const std::size_t begin = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 12; ++at)
      size = size * 10 + static_cast<std::uint64_t>(text[at] - '0');
    if (at > begin && at < text.size() && text[at] == '\0') return LooseHeader{type, size + at + 1};
  }
  return std::nullopt;
}

// A loose object is one zlib stream, as long inflated as it says.
std::optional<Artefact> loose_object(const Candidate& candidate, ArtefactChild& child) {
  const ByteSpan bytes = candidate.bytes;
  const bool zlib = bytes.size() >= 16 && bytes[0] == std::byte{0x78} &&
                    load_be<std::uint16_t>(bytes, 0) % 31 == 0 &&
                    (load_le<std::uint8_t>(bytes, 1) & 0x20U) == 0;
  if (!zlib || !candidate.spend(kCallEffortBytes)) return std::nullopt;
  const auto glance =
      child.inflate(bytes.first(std::min<std::size_t>(bytes.size(), 64)), ArtefactChild::Wrapping::kZlib);
  if (!glance) return std::nullopt;
  const auto header = loose_header(as_text(glance->first));
  if (!header) return std::nullopt;
  auto found =
      git("git-object", Confidence::kLikely, glance->in_bytes, fmt::format("loose {}", header->type));
  if (header->object_bytes > kMaxLooseBytes) return found;
  const std::uint64_t most =
      header->object_bytes + header->object_bytes / 1000 + 4096;  // deflate's worst case
  const auto whole = candidate.read(std::min(most, candidate.left_bytes()));
  const auto inflated = whole ? child.inflate(*whole, ArtefactChild::Wrapping::kZlib)
                              : Result<ArtefactChild::Inflated>(fail(Code::kLimit, "not read"));
  if (!inflated || !inflated->ended || inflated->out_bytes != header->object_bytes) return found;
  found.confidence = Confidence::kProven;
  found.length_bytes = inflated->in_bytes;
  found.detail += ", whole: length and checksum hold";
  return found;
}

}  // namespace

std::optional<Artefact> examine_git(const Candidate& candidate, ArtefactChild& child) {
  if (candidate.bytes.empty()) return std::nullopt;
  switch (std::to_integer<unsigned char>(candidate.bytes[0])) {
    case 'P':
      return pack(candidate, child);
    case 0xff:
      return pack_index(candidate);
    case 0x78:
      return loose_object(candidate, child);
    default:
      return std::nullopt;
  }
}

}  // namespace vacant::scan
