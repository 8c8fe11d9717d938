// One directory block: entries in use, htree index, checksum tail; the rest is slack.
#include <optional>

#include "fs/ext_split.h"
#include "fs/ext_walk.h"

namespace vacant::scan::fs {

namespace {

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kTailBytes = 12;

// Blocks of 64 KiB cannot write their size into 16 bits.
std::size_t record_length(ByteSpan block, std::size_t at) {
  const std::size_t length = load_le<std::uint16_t>(block, at + 4);
  if (block.size() < 65536) return length;
  if (length == 65535 || length == 0) return 65536;
  return (length & 65532U) | ((length & 3U) << 16U);
}

// An index node: its counter says how many 8-byte entries there are. nullopt if it is none.
std::optional<std::vector<Used>> index_node(ByteSpan block, std::size_t entries_at, bool checksums) {
  const std::size_t limit = load_le<std::uint16_t>(block, entries_at);
  const std::size_t count = load_le<std::uint16_t>(block, entries_at + 2);
  const std::size_t room = (block.size() - entries_at - (checksums ? 8 : 0)) / 8;
  if (limit != room || count == 0 || count > limit) return std::nullopt;
  std::vector<Used> used{{0, entries_at + 8 * count}};
  if (checksums) used.push_back({entries_at + 8 * limit, entries_at + 8 * limit + 8});
  return used;
}

std::optional<std::vector<Used>> index_block(ByteSpan block, bool first, bool checksums) {
  if (first) {
    const std::size_t info = load_le<std::uint8_t>(block, 29);  // length of dx_root_info behind . and ..
    if (info != 8 || record_length(block, 0) != 12) return std::nullopt;
    return index_node(block, 32, checksums);
  }
  if (load_le<std::uint32_t>(block, 0) != 0 || record_length(block, 0) != block.size()) return std::nullopt;
  return index_node(block, 8, checksums);
}

bool is_tail(ByteSpan block, std::size_t at, std::size_t length) {
  return at + kTailBytes == block.size() && length == kTailBytes && load_le<std::uint32_t>(block, at) == 0 &&
         load_le<std::uint16_t>(block, at + 6) == 0xDE00;
}

std::vector<Used> leaf_block(Walk& walk, ByteSpan block, std::size_t hash_bytes) {
  std::vector<Used> used;
  for (std::size_t at = 0; at + kHeaderBytes <= block.size();) {
    const std::size_t length = record_length(block, at);
    if (length < kHeaderBytes || length % 4 != 0 || length > block.size() - at) {
      walk.damage("directories");
      break;
    }
    std::size_t taken = kHeaderBytes;
    if (is_tail(block, at, length))
      taken = kTailBytes;
    else if (load_le<std::uint32_t>(block, at) != 0)
      taken = round_up(kHeaderBytes + load_le<std::uint8_t>(block, at + 6) + hash_bytes, 4);
    used.push_back({at, at + std::min(taken, length)});
    at += length;
  }
  return used;
}

}  // namespace

void claim_directory_block(Walk& walk, std::uint32_t inode, std::uint64_t block_offset, ByteSpan block,
                           bool indexed, bool first) {
  const bool checksums = ext2fs_has_feature_metadata_csum(walk.fs()->super) != 0;
  const bool hashes =
      ext2fs_has_feature_casefold(walk.fs()->super) && ext2fs_has_feature_encrypt(walk.fs()->super);
  std::optional<std::vector<Used>> used;
  if (indexed) used = index_block(block, first, checksums);
  if (!used) used = leaf_block(walk, block, hashes ? 8 : 0);
  claim_split(walk, inode, block_offset, block, *used, {FsPart::kDirectory, FsPart::kDirectorySlack});
}

}  // namespace vacant::scan::fs
