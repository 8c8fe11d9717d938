// SQLite's write-ahead log. Its header and each frame carry a running checksum.
// Source of the format: https://www.sqlite.org/fileformat2.html, section 4.
#include <fmt/format.h>

#include "artefact/parts.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kHeaderBytes = 32, kFrameHeaderBytes = 24;

struct Sums {
  std::uint32_t first = 0, second = 0;
  bool operator==(const Sums&) const = default;
};

Sums add(Sums sums, ByteSpan bytes, bool big_endian) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    sums.first +=
        (big_endian ? load_be<std::uint32_t>(bytes, at) : load_le<std::uint32_t>(bytes, at)) + sums.second;
    sums.second +=
        (big_endian ? load_be<std::uint32_t>(bytes, at + 4) : load_le<std::uint32_t>(bytes, at + 4)) +
        sums.first;
  }
  return sums;
}

Sums stored(ByteSpan bytes, std::size_t at) {
  return {load_be<std::uint32_t>(bytes, at), load_be<std::uint32_t>(bytes, at + 4)};
}

}  // namespace

std::optional<Artefact> examine_sqlite_wal(const Candidate& candidate) {
  const ByteSpan head = candidate.bytes;
  if (head.size() < kHeaderBytes) return std::nullopt;
  const auto magic = load_be<std::uint32_t>(head, 0);
  const std::size_t page = load_be<std::uint32_t>(head, 8);
  if ((magic != 0x377F0682U && magic != 0x377F0683U) || load_be<std::uint32_t>(head, 4) != 3007000U)
    return std::nullopt;
  if (page < 512 || page > 65536 || (page & (page - 1)) != 0) return std::nullopt;
  const bool big_endian = (magic & 1U) != 0;
  Sums sums = add({}, head.first(24), big_endian);
  if (sums != stored(head, 24))
    return Artefact{FindingKind::kArtefact, "sqlite-wal", Confidence::kPossible, kHeaderBytes,
                    fmt::format("page size {}, the header's checksum does not hold", page)};
  const std::size_t frame = kFrameHeaderBytes + page;
  std::uint64_t frames = 0, at = kHeaderBytes;
  ByteVector bytes(frame);
  for (; at + frame <= candidate.left_bytes() && at + frame <= kMaxWholeBytes; at += frame, ++frames) {
    ByteSpan part = bytes;
    if (at + frame <= head.size())
      part = head.subspan(static_cast<std::size_t>(at), frame);
    else if (candidate.device == nullptr ||
             !candidate.device->read(candidate.device_offset_bytes + at, bytes))
      break;
    if (load_be<std::uint32_t>(part, 0) == 0 || as_text(part.subspan(8, 8)) != as_text(head.subspan(16, 8)))
      break;
    const Sums next = add(add(sums, part.first(8), big_endian), part.subspan(kFrameHeaderBytes), big_endian);
    if (next != stored(part, 16)) break;
    sums = next;
  }
  return Artefact{FindingKind::kArtefact, "sqlite-wal", Confidence::kProven, at,
                  fmt::format("page size {}, {} frames whose checksums hold", page, frames)};
}

}  // namespace vacant::scan
