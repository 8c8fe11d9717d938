#include "fs/wire.h"

#include <fmt/format.h>

#include <algorithm>

namespace vacant::scan::fs {

namespace {

constexpr std::uint32_t kMagic = 0x31534656;
constexpr std::size_t kClaimBytes = 22;
constexpr std::size_t kInodeBytes = 8;
constexpr std::size_t kMaxText = 4096;

template <class T>
void put(ByteVector& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  store_le<T>(out, at, value);
}

void put_text(ByteVector& out, std::string_view text) {
  text = text.substr(0, kMaxText);
  put(out, static_cast<std::uint16_t>(text.size()));
  const ByteSpan bytes = as_bytes(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Result<std::string> take_text(Reader& reader) {
  const auto size = VACANT_TRY(reader.le<std::uint16_t>());
  return printable(as_text(VACANT_TRY(reader.take(size))), kMaxText);
}

Result<void> take_claims(Reader& reader, const WireBounds& bounds, std::vector<Claim>& out) {
  const auto count = VACANT_TRY(reader.le<std::uint64_t>());
  if (count > bounds.max_extents || count > reader.remaining() / kClaimBytes)
    return fail(Code::kCorrupt, "the parser's answer has too many extents");
  out.reserve(static_cast<std::size_t>(count));
  std::uint64_t end = 0;
  for (std::uint64_t index = 0; index < count; ++index) {
    const ByteSpan record = VACANT_TRY(reader.take(kClaimBytes));
    const auto part = load_le<std::uint8_t>(record, 20);
    const Claim claim{load_le<std::uint64_t>(record, 0), load_le<std::uint64_t>(record, 8),
                      load_le<std::uint32_t>(record, 16), static_cast<FsPart>(part),
                      load_le<std::uint8_t>(record, 21) == 1};
    const bool inside = claim.offset_bytes >= end && claim.offset_bytes <= bounds.volume_bytes &&
                        claim.length_bytes <= bounds.volume_bytes - claim.offset_bytes;
    if (!inside || claim.length_bytes == 0 || part >= static_cast<std::uint8_t>(FsPart::kFree))
      return fail(Code::kCorrupt, "the parser's answer has an impossible extent");
    end = claim.end_bytes();
    out.push_back(claim);
  }
  return {};
}

Result<void> take_inodes(Reader& reader, const WireBounds& bounds, std::vector<InodeId>& out) {
  const auto count = VACANT_TRY(reader.le<std::uint64_t>());
  if (count > bounds.max_inodes || count > reader.remaining() / kInodeBytes)
    return fail(Code::kCorrupt, "the parser's answer has too many inodes");
  out.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t index = 0; index < count; ++index) {
    const ByteSpan record = VACANT_TRY(reader.take(kInodeBytes));
    out.push_back({load_le<std::uint32_t>(record, 0), load_le<std::uint32_t>(record, 4)});
  }
  return {};
}

// The length of the UTF-8 sequence at the start of `text` (2 to 4), or 0 if there is none that is well-formed
// and printable.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : (lead & 0xF0U) == 0xE0       ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t index = 1; index < length; ++index)
    if ((byte(index) & 0xC0U) != 0x80) return 0;
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool too_high = lead == 0xF4 && byte(1) >= 0x90;
  // U+0080..U+009F are control characters; U+2028..U+202E and U+2066..U+2069 break or reorder lines.
  const bool control = (lead == 0xC2 && byte(1) < 0xA0) ||
                       (lead == 0xE2 && byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||
                       (lead == 0xE2 && byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
  return overlong || surrogate || too_high || control ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text.front());
    std::string piece;
    std::size_t used = 1;
    if (lead >= 0x20 && lead < 0x7F && lead != '\\') {
      piece = text.substr(0, 1);
    } else if (const std::size_t length = utf8_length(text); length > 0) {
      piece = text.substr(0, length);
      used = length;
    } else {
      piece = fmt::format("\\x{:02x}", lead);
    }
    if (out.size() + piece.size() > limit) break;
    out += piece;
    text.remove_prefix(used);
  }
  return out;
}

ByteVector encode(const VolumeAnswer& answer) {
  ByteVector out;
  out.reserve(128 + answer.claims.size() * kClaimBytes + answer.inodes.size() * kInodeBytes);
  put(out, kMagic);
  put(out, static_cast<std::uint8_t>(answer.parsed));
  put(out, static_cast<std::uint8_t>(answer.has_checksums));
  put(out, answer.block_bytes);
  put(out, answer.checksum_seed);
  put(out, answer.file_count);
  put(out, answer.size_bytes);
  out.insert(out.end(), answer.uuid.begin(), answer.uuid.end());
  put_text(out, answer.status);
  put(out, static_cast<std::uint64_t>(answer.claims.size()));
  for (const Claim& claim : answer.claims) {
    put(out, claim.offset_bytes);
    put(out, claim.length_bytes);
    put(out, claim.inode);
    put(out, static_cast<std::uint8_t>(claim.part));
    put(out, static_cast<std::uint8_t>(claim.live));
  }
  put(out, static_cast<std::uint64_t>(answer.inodes.size()));
  for (const InodeId& id : answer.inodes) {
    put(out, id.inode);
    put(out, id.generation);
  }
  return out;
}

Result<VolumeAnswer> decode_volume(ByteSpan bytes, const WireBounds& bounds) {
  Reader reader(bytes);
  VolumeAnswer answer;
  if (VACANT_TRY(reader.le<std::uint32_t>()) != kMagic)
    return fail(Code::kCorrupt, "the parser's answer is not understood");
  answer.parsed = VACANT_TRY(reader.le<std::uint8_t>()) == 1;
  answer.has_checksums = VACANT_TRY(reader.le<std::uint8_t>()) == 1;
  answer.block_bytes = VACANT_TRY(reader.le<std::uint32_t>());
  answer.checksum_seed = VACANT_TRY(reader.le<std::uint32_t>());
  answer.file_count = VACANT_TRY(reader.le<std::uint64_t>());
  answer.size_bytes = VACANT_TRY(reader.le<std::uint64_t>());
  std::ranges::copy(VACANT_TRY(reader.take(answer.uuid.size())), answer.uuid.begin());
  answer.status = VACANT_TRY(take_text(reader));
  VACANT_TRY(take_claims(reader, bounds, answer.claims));
  VACANT_TRY(take_inodes(reader, bounds, answer.inodes));
  if (reader.remaining() != 0) return fail(Code::kCorrupt, "the parser's answer has bytes behind its end");
  if (answer.size_bytes > bounds.volume_bytes) answer.parsed = false;
  return answer;
}

ByteVector encode(const Paths& paths) {
  ByteVector out;
  put(out, kMagic);
  put(out, static_cast<std::uint64_t>(paths.size()));
  for (const auto& [inode, path] : paths) {
    put(out, inode);
    put_text(out, path);
  }
  return out;
}

Result<Paths> decode_paths(ByteSpan bytes, std::span<const std::uint32_t> wanted) {
  Reader reader(bytes);
  if (VACANT_TRY(reader.le<std::uint32_t>()) != kMagic)
    return fail(Code::kCorrupt, "the parser's answer is not understood");
  const auto count = VACANT_TRY(reader.le<std::uint64_t>());
  if (count > wanted.size()) return fail(Code::kCorrupt, "the parser's answer has too many paths");
  Paths paths;
  for (std::uint64_t index = 0; index < count; ++index) {
    const auto inode = VACANT_TRY(reader.le<std::uint32_t>());
    std::string path = VACANT_TRY(take_text(reader));
    if (std::ranges::binary_search(wanted, inode)) paths.emplace(inode, std::move(path));
  }
  return paths;
}

}  // namespace vacant::scan::fs
