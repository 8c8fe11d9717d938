// The journal (jbd2): which of its blocks belong to it. Big-endian. A block belongs to the journal if it is
// its superblock, or part of a transaction that ends in a commit block and whose descriptors name our
// journal: by their checksum where the journal has checksums, else by the UUID in the first tag (the kernel
// writes zeros there). Everything else in the journal's blocks is slack: what lay on the disk before.
#include <algorithm>
#include <array>

#include "fs/ext_split.h"
#include "fs/ext_walk.h"

namespace vacant::scan::fs {

namespace {

constexpr std::uint32_t kMagic = 0xC03B3998;
constexpr std::uint32_t kDescriptor = 1;
constexpr std::uint32_t kCommit = 2;
constexpr std::uint32_t kRevoke = 5;
constexpr std::uint32_t kIncompat64Bit = 0x2;
constexpr std::uint32_t kIncompatCsumV2 = 0x8;
constexpr std::uint32_t kIncompatCsumV3 = 0x10;
constexpr std::uint32_t kFlagSameUuid = 2;
constexpr std::uint32_t kFlagLast = 8;

struct Tag {
  std::uint32_t checksum = 0;
};

struct Journal {
  Walk& walk;
  const std::vector<std::uint64_t>& blocks;
  std::size_t first = 1;
  std::size_t length = 0;
  std::uint32_t incompat = 0;
  std::uint32_t seed = 0;
  Uuid uuid{};
  std::vector<bool> ours{};  // by logical block

  [[nodiscard]] bool checksums() const { return (incompat & (kIncompatCsumV2 | kIncompatCsumV3)) != 0; }
  [[nodiscard]] bool v3() const { return (incompat & kIncompatCsumV3) != 0; }

  ByteVector read(std::size_t logical) {
    return blocks[logical] == 0 ? ByteVector{} : walk.block(blocks[logical]);
  }

  // Descriptor, revoke and (v2, v3) commit blocks end or carry a checksum over themselves.
  [[nodiscard]] bool tail_holds(ByteSpan block, std::size_t at) const {
    if (!checksums()) return true;
    ByteVector copy(block.begin(), block.end());
    const auto stored = load_be<std::uint32_t>(copy, at);
    store_le<std::uint32_t>(copy, at, 0);
    return crc32c_raw(seed, copy) == stored;
  }

  bool load_superblock() {
    if (blocks.empty()) return false;
    const ByteVector block = read(0);
    if (block.size() < 1024 || load_be<std::uint32_t>(block, 0) != kMagic) return false;
    const auto type = load_be<std::uint32_t>(block, 4);
    if (type != 3 && type != 4) return false;
    if (load_be<std::uint32_t>(block, 12) != walk.block_bytes()) return false;
    length = std::min<std::size_t>(load_be<std::uint32_t>(block, 16), blocks.size());
    first = std::max<std::size_t>(load_be<std::uint32_t>(block, 20), 1);
    if (type == 4) {
      incompat = load_be<std::uint32_t>(block, 40);
      std::ranges::copy(ByteSpan(block).subspan(48, uuid.size()), uuid.begin());
    }
    seed = crc32c_raw(~0U, uuid);
    return first < length;
  }

  [[nodiscard]] std::size_t tag_bytes() const {
    if (v3()) return 16;
    const std::size_t wide = (incompat & kIncompatCsumV2) != 0 ? 14 : 12;
    return (incompat & kIncompat64Bit) != 0 ? wide : wide - 4;
  }

  // The tags of a descriptor block; empty if it is not ours.
  std::vector<Tag> tags(ByteSpan block) const {
    const std::size_t end = block.size() - (checksums() ? 4 : 0);
    if (checksums() && !tail_holds(block, end)) return {};
    std::vector<Tag> out;
    for (std::size_t at = 12; at + tag_bytes() <= end;) {
      const std::uint32_t flags =
          v3() ? load_be<std::uint32_t>(block, at + 4) : load_be<std::uint16_t>(block, at + 6);
      out.push_back({v3() ? load_be<std::uint32_t>(block, at + 12) : load_be<std::uint16_t>(block, at + 4)});
      at += tag_bytes();
      if ((flags & kFlagSameUuid) == 0) {
        if (at + 16 > end) return {};
        const ByteSpan named = block.subspan(at, 16);
        if (!is_zero(named) && !std::ranges::equal(named, uuid)) return {};
        at += 16;
      }
      if ((flags & kFlagLast) != 0) return out;
    }
    return out;
  }

  [[nodiscard]] bool data_holds(ByteSpan block, const Tag& tag, std::uint32_t sequence) const {
    if (!checksums()) return true;
    std::array<std::byte, 4> head{};
    store_le<std::uint32_t>(head, 0, __builtin_bswap32(sequence));
    const std::uint32_t sum = crc32c_raw(crc32c_raw(seed, head), block);
    return v3() ? sum == tag.checksum : (sum & 0xFFFFU) == tag.checksum;
  }

  void scan() {
    std::vector<std::size_t> pending;  // of one transaction, until its commit block
    std::uint32_t sequence = 0;
    for (std::size_t at = first; at < length; ++at) {
      const ByteVector block = read(at);
      if (block.empty() || load_be<std::uint32_t>(block, 0) != kMagic) {
        pending.clear();
        continue;
      }
      const auto type = load_be<std::uint32_t>(block, 4);
      const auto number = load_be<std::uint32_t>(block, 8);
      if (!pending.empty() && number != sequence) pending.clear();
      sequence = number;
      if (type == kDescriptor) {
        at = take_descriptor(at, block, sequence, pending);
      } else if (type == kRevoke && tail_holds(block, block.size() - 4)) {
        pending.push_back(at);
      } else if (type == kCommit && tail_holds(block, 16)) {
        for (const std::size_t logical : pending) ours[logical] = true;
        ours[at] = !pending.empty() || checksums();
        pending.clear();
      } else {
        pending.clear();
      }
    }
  }

  // Answers the last block that the descriptor covers.
  std::size_t take_descriptor(std::size_t at, ByteSpan block, std::uint32_t sequence,
                              std::vector<std::size_t>& pending) {
    const std::vector<Tag> found = tags(block);
    if (found.empty()) {
      pending.clear();
      return at;
    }
    pending.push_back(at);
    for (std::size_t index = 0; index < found.size() && at + 1 < length; ++index) {
      const ByteVector data = read(++at);
      if (!data.empty() && data_holds(data, found[index], sequence)) pending.push_back(at);
    }
    return at;
  }
};

}  // namespace

void claim_journal(Walk& walk, std::uint32_t inode, const std::vector<std::uint64_t>& blocks) {
  Journal journal{walk, blocks};
  journal.ours.assign(blocks.size(), false);
  const bool sound = journal.load_superblock();
  if (sound)
    journal.scan();
  else
    walk.damage("the journal's superblock");
  for (std::size_t logical = 0; logical < blocks.size() && !walk.stopped(); ++logical) {
    if (blocks[logical] == 0) continue;
    const std::uint64_t offset = blocks[logical] * walk.block_bytes();
    if (logical > 0 || !sound) {
      const bool ours = journal.ours[logical];
      walk.claim(offset, walk.block_bytes(), ours ? FsPart::kJournal : FsPart::kJournalSlack, ours, inode);
      continue;
    }
    const ByteVector block = walk.block(blocks[0]);
    if (!block.empty())
      claim_split(walk, inode, offset, block, {{0, 1024}}, {FsPart::kJournal, FsPart::kJournalSlack});
  }
}

}  // namespace vacant::scan::fs
