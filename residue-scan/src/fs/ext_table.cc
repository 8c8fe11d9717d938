// Inode tables: which slots are in use, and the generations of inodes (also deleted ones).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fs/ext_walk.h"

namespace vacant::scan::fs {

namespace {

constexpr std::size_t kOldInodeBytes = 128;

// The inode's own checksum (metadata_csum): a slot that fails it is not one of ours.
bool checksum_holds(ext2_filsys fs, std::uint32_t inode, ByteSpan slot) {
  if (!ext2fs_has_feature_metadata_csum(fs->super)) return true;
  ByteVector copy(slot.begin(), slot.end());
  std::uint32_t stored = load_le<std::uint16_t>(copy, 124);
  store_le<std::uint16_t>(copy, 124, 0);
  const bool wide = copy.size() > kOldInodeBytes && load_le<std::uint16_t>(copy, 128) >= 4;
  if (wide) {
    stored |= static_cast<std::uint32_t>(load_le<std::uint16_t>(copy, 130)) << 16U;
    store_le<std::uint16_t>(copy, 130, 0);
  }
  std::array<std::byte, 8> head{};
  store_le(head, 0, inode);
  std::ranges::copy(slot.subspan(100, 4), head.begin() + 4);  // i_generation
  const std::uint32_t state = crc32c_raw(crc32c_raw(fs->csum_seed, head), copy);
  return wide ? state == stored : (state & 0xFFFFU) == stored;
}

}  // namespace

// Inodes in use, and deleted ones whose slot still verifies: their old metadata blocks are ours.
void Walk::remember(std::uint32_t inode, ByteSpan slot, bool used) {
  const auto generation = load_le<std::uint32_t>(slot, 100);
  if (!used && (generation == 0 || load_le<std::uint16_t>(slot, 0) == 0 || !checksum_holds(fs_, inode, slot)))
    return;
  if (inodes_.size() >= request_.max_inodes) return over_limit("more inodes than the limit");
  inodes_.push_back({inode, generation});
}

void Walk::claim_inode(std::uint32_t inode, ByteSpan slot) {
  if (!checksum_holds(fs_, inode, slot) && !is_zero(slot)) damage("inode checksums");
  ext2_inode_large data{};
  std::memcpy(&data, slot.data(), std::min(slot.size(), sizeof data));
  if (data.i_mode != 0 || inode < EXT2_FIRST_INO(fs_->super)) claim_inode_blocks(*this, inode, data);
}

// A slot that is all zero hides nothing, so it may count as live beside a used one in the same sector.
void Walk::claim_slot(std::uint64_t offset, std::uint32_t inode, ByteSpan slot) {
  const bool used = ext2fs_test_inode_bitmap2(fs_->inode_map, inode) != 0;
  if (used) {
    ++file_count_;
    claim(offset, slot.size(), FsPart::kInodeTable, true);
  } else {
    claim(offset, slot.size(), FsPart::kUnusedInode, is_zero(slot));
  }
  remember(inode, slot, used);
}

// Slots that were never initialised, and padding: not read, not live.
void Walk::claim_unused_tail(std::uint64_t offset, std::uint64_t length) {
  claim(offset, length, FsPart::kUnusedInode, false);
}

void Walk::claim_table(dgrp_t group) {
  const std::uint64_t first_block = ext2fs_inode_table_loc(fs_, group);
  const std::uint64_t table_blocks = fs_->inode_blocks_per_group;
  if (first_block == 0 || !in_range(first_block, table_blocks))
    return damage("an inode table outside the volume");
  const std::uint64_t inode_bytes = EXT2_INODE_SIZE(fs_->super);
  const std::uint64_t per_group = fs_->super->s_inodes_per_group;
  std::uint64_t used = per_group;
  if (ext2fs_has_group_desc_csum(fs_)) {
    const std::uint64_t unused = ext2fs_bg_itable_unused(fs_, group);
    used =
        ext2fs_bg_flags_test(fs_, group, EXT2_BG_INODE_UNINIT) || unused > per_group ? 0 : per_group - unused;
  }
  const std::uint64_t per_block = block_bytes() / inode_bytes;
  // To the end of the block, so that the sector at the border is told apart by what is in it.
  used = std::min(per_group, round_up(used, per_block));
  for (std::uint64_t index = 0; index < used && !stopped(); index += per_block) {
    const std::uint64_t number = first_block + index / per_block;
    const ByteVector bytes = block(number);
    if (bytes.empty()) continue;
    for (std::uint64_t slot = 0; slot < std::min(per_block, used - index); ++slot) {
      const auto inode = static_cast<std::uint32_t>(group * per_group + index + slot + 1);
      const ByteSpan slot_bytes = ByteSpan(bytes).subspan(slot * inode_bytes, inode_bytes);
      claim_slot(number * block_bytes() + slot * inode_bytes, inode, slot_bytes);
    }
  }
  const std::uint64_t read_bytes = used / per_block * block_bytes() + used % per_block * inode_bytes;
  claim_unused_tail(first_block * block_bytes() + read_bytes, table_blocks * block_bytes() - read_bytes);
  // A second pass, so that the claims of the table merge.
  for (std::uint64_t index = 0; index < used && !stopped(); ++index) {
    const auto inode = static_cast<std::uint32_t>(group * per_group + index + 1);
    if (!ext2fs_test_inode_bitmap2(fs_->inode_map, inode)) continue;
    const ByteVector bytes = block(first_block + index / per_block);
    if (bytes.empty()) continue;
    claim_inode(inode, ByteSpan(bytes).subspan(index % per_block * inode_bytes, inode_bytes));
  }
}

void Walk::claim_inodes() {
  for (dgrp_t group = 0; group < fs_->group_desc_count && !stopped(); ++group) claim_table(group);
}

}  // namespace vacant::scan::fs
