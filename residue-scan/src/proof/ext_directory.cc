// Directory leaves and hash-tree nodes. Source of the format: the kernel's
// Documentation/filesystems/ext4/directory.rst.
#include <fmt/format.h>

#include "proof/state.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kTailBytes = 12, kEntryHeader = 8, kDxEntryBytes = 8, kDxTailBytes = 8;

std::size_t record_length(ByteSpan block, std::size_t at, std::size_t block_bytes) {
  const std::size_t raw = load_le<std::uint16_t>(block, at + 4);
  if (block_bytes < 65536) return raw;
  return raw == 0 || raw == 65535 ? block_bytes : (raw & 0xFFFCU) | ((raw & 3U) << 16U);
}

// One entry of a directory: lengths that fit, a type that exists, and a name without "/" and NUL.
bool is_entry(ByteSpan block, std::size_t at, std::size_t record, std::size_t end) {
  const std::size_t name_bytes = load_le<std::uint8_t>(block, at + 6);
  if (record < kEntryHeader || record % 4 != 0 || record > end - at || kEntryHeader + name_bytes > record)
    return false;
  if (load_le<std::uint8_t>(block, at + 7) > 7) return false;
  if (load_le<std::uint32_t>(block, at) == 0) return true;  // unused: the name is left over
  const std::string_view name = as_text(block.subspan(at + kEntryHeader, name_bytes));
  return name_bytes > 0 && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

bool has_tail(ByteSpan window, std::size_t block_bytes) {
  const std::size_t at = block_bytes - kTailBytes;
  return load_le<std::uint64_t>(window, at) == 0xDE00000C00000000ULL;
}

// The entries must fill the block exactly up to the tail.
bool is_leaf(ByteSpan block) {
  const std::size_t end = block.size() - kTailBytes;
  std::size_t at = 0, entries = 0;
  while (at < end) {
    if (end - at < kEntryHeader) return false;
    const std::size_t record = record_length(block, at, block.size());
    if (!is_entry(block, at, record, end)) return false;
    at += record;
    ++entries;
  }
  return at == end && entries > 0;
}

Attribution attribute(ProofKind kind, std::uint32_t state, std::size_t block_bytes, std::string detail,
                      const OwnIdentities& own) {
  const bool ours = own.inode_states.contains(state);
  return {kind, !ours, static_cast<std::uint32_t>(block_bytes), fmt::format("dir:{:08x}", state),
          std::move(detail)};
}

std::optional<Attribution> examine_leaf(ByteSpan block, const OwnIdentities& own) {
  if (!has_tail(block, block.size()) || !is_leaf(block)) return std::nullopt;
  const std::uint32_t checksum = load_le<std::uint32_t>(block, block.size() - 4);
  const std::uint32_t state = crc32c_reverse(checksum, block.first(block.size() - kTailBytes));
  return attribute(ProofKind::kExtDirectoryLeaf, state, block.size(),
                   fmt::format("{}-byte leaf", block.size()), own);
}

// Where the count of a hash-tree block stands: behind "." and ".." in a root, behind a fake entry in an inner
// node.
std::optional<std::size_t> count_offset(ByteSpan window, std::size_t block_bytes) {
  const auto first = load_le<std::uint64_t>(window, 0);
  const bool node = (first & 0xFFFFFFFFU) == 0 && record_length(window, 0, block_bytes) == block_bytes &&
                    load_le<std::uint16_t>(window, 6) == 0;
  if (node) return 8;
  const bool dot = load_le<std::uint16_t>(window, 4) == 12 && load_le<std::uint8_t>(window, 6) == 1 &&
                   window[8] == std::byte{'.'};
  const bool dots = record_length(window, 12, block_bytes) == block_bytes - 12 &&
                    load_le<std::uint8_t>(window, 18) == 2 && as_text(window.subspan(20, 2)) == "..";
  const bool info = load_le<std::uint32_t>(window, 24) == 0 && load_le<std::uint8_t>(window, 29) == 8 &&
                    load_le<std::uint8_t>(window, 28) <= 6;
  if (dot && dots && info) return 32;
  return std::nullopt;
}

std::optional<Attribution> examine_node(ByteSpan block, const OwnIdentities& own) {
  const auto at = count_offset(block, block.size());
  if (!at) return std::nullopt;
  const std::size_t limit = load_le<std::uint16_t>(block, *at);
  const std::size_t count = load_le<std::uint16_t>(block, *at + 2);
  const std::size_t tail = *at + limit * kDxEntryBytes;
  if (count == 0 || count > limit || tail + kDxTailBytes != block.size()) return std::nullopt;
  const std::uint32_t checksum = load_le<std::uint32_t>(block, tail + 4);
  // Over the entries in use, then the tail's reserved word, then the checksum's place as zeros.
  std::uint32_t state = uncrc_u32(checksum, 0);
  state = crc32c_reverse(state, block.subspan(tail, 4));
  state = crc32c_reverse(state, block.first(*at + count * kDxEntryBytes));
  return attribute(ProofKind::kExtHtreeNode, state, block.size(),
                   fmt::format("{}-byte hash-tree node", block.size()), own);
}

}  // namespace

std::optional<Attribution> examine_ext_directory(ByteSpan window, const OwnIdentities& own) {
  // Cheap refusal: a node begins with an unused entry or with ".".
  const bool may_be_node = load_le<std::uint32_t>(window, 0) == 0 || load_le<std::uint16_t>(window, 4) == 12;
  // Small sizes first, and both kinds of one size before the next: a node is one unused entry to those who do
  // not know it, so that it and the leaf behind it look like one leaf of twice the size.
  for (const std::size_t block_bytes : kExtBlockSizes) {
    if (window.size() < block_bytes) break;
    if (auto leaf = examine_leaf(window.first(block_bytes), own)) return leaf;
    if (!may_be_node) continue;
    if (auto node = examine_node(window.first(block_bytes), own)) return node;
  }
  return std::nullopt;
}

}  // namespace vacant::scan
