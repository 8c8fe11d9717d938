#include <algorithm>

#include "fs/ext_child.h"

namespace vacant::scan {

namespace {

constexpr std::uint64_t kSuperblockOffset = 1024, kSuperblockBytes = 1024;

class MetadataMapper {
 public:
  MetadataMapper(ext2_filsys fs, ExtentSink& sink) : fs_(fs), sink_(sink), block_bytes_(fs->blocksize) {}

  Result<void> map() {
    if (ext2fs_read_inode_bitmap(fs_) != 0) return fail(Code::kCorrupt, "the inode bitmaps cannot be read");
    if (block_bytes_ > kSuperblockOffset) sink_.add(0, kSuperblockOffset, FsPart::kSuperblockSlack, false);
    for (dgrp_t group = 0; group < fs_->group_desc_count && !sink_.full(); ++group) {
      map_superblock(group);
      map_bitmap(ext2fs_block_bitmap_loc(fs_, group), fs_->super->s_clusters_per_group / 8,
                 FsPart::kBlockBitmap, ext2fs_bg_flags_test(fs_, group, EXT2_BG_BLOCK_UNINIT) == 0);
      map_bitmap(ext2fs_inode_bitmap_loc(fs_, group), fs_->super->s_inodes_per_group / 8,
                 FsPart::kInodeBitmap, ext2fs_bg_flags_test(fs_, group, EXT2_BG_INODE_UNINIT) == 0);
      map_inode_table(group);
    }
    map_mmp();
    return {};
  }

 private:
  void map_superblock(dgrp_t group) {
    blk64_t super = 0, old_table = 0, new_table = 0;
    blk_t used = 0;
    ext2fs_super_and_bgd_loc2(fs_, group, &super, &old_table, &new_table, &used);
    // Block 0 names the superblock of group 0, or nothing; group 0 always has one.
    if (super != 0 || group == 0) {
      const std::uint64_t start =
          super * block_bytes_ + (group == 0 && block_bytes_ > kSuperblockOffset ? kSuperblockOffset : 0);
      sink_.add(start, kSuperblockBytes, FsPart::kSuperblock, true);
      const std::uint64_t end = (super + 1) * block_bytes_;
      if (start + kSuperblockBytes < end)
        sink_.add(start + kSuperblockBytes, end - start - kSuperblockBytes, FsPart::kSuperblockSlack, false);
    }
    if (old_table != 0)
      sink_.add(old_table * block_bytes_, fs_->desc_blocks * block_bytes_, FsPart::kGroupDescriptors, true);
    if (new_table != 0) sink_.add(new_table * block_bytes_, block_bytes_, FsPart::kGroupDescriptors, true);
  }

  // The padding behind the bits that a bitmap needs is all ones by convention; anything else there is
  // nobody's.
  void map_bitmap(blk64_t block, std::uint64_t needed_bytes, FsPart part, bool initialised) {
    if (block == 0) return;
    needed_bytes = std::min(needed_bytes, block_bytes_);
    std::vector<char> bytes(block_bytes_);
    const bool read = io_channel_read_blk64(fs_->io, block, 1, bytes.data()) == 0;
    const bool padded = read && std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(needed_bytes),
                                            bytes.end(), [](char c) { return c == '\xff'; });
    const std::uint64_t live_bytes = !initialised ? 0 : padded ? block_bytes_ : needed_bytes;
    sink_.add(block * block_bytes_, live_bytes, part, true);
    sink_.add(block * block_bytes_ + live_bytes, block_bytes_ - live_bytes, part, false);
  }

  void map_inode_table(dgrp_t group) {
    const blk64_t table = ext2fs_inode_table_loc(fs_, group);
    if (table == 0) return;
    const std::uint64_t inode_bytes = EXT2_INODE_SIZE(fs_->super);
    const std::uint64_t base = table * block_bytes_;
    const ext2_ino_t first = group * fs_->super->s_inodes_per_group + 1;
    const bool empty = ext2fs_bg_flags_test(fs_, group, EXT2_BG_INODE_UNINIT) != 0;
    for (std::uint32_t i = 0; i < fs_->super->s_inodes_per_group && !sink_.full(); ++i) {
      const ext2_ino_t inode = first + i;
      if (inode > fs_->super->s_inodes_count) break;
      const bool used = !empty && (inode < EXT2_FIRST_INODE(fs_->super) ||
                                   ext2fs_test_inode_bitmap2(fs_->inode_map, inode) != 0);
      sink_.add(base + i * inode_bytes, inode_bytes, used ? FsPart::kInodeTable : FsPart::kUnusedInode, used);
    }
    const std::uint64_t table_bytes = fs_->inode_blocks_per_group * block_bytes_;
    const std::uint64_t named_bytes = std::uint64_t{fs_->super->s_inodes_per_group} * inode_bytes;
    if (named_bytes < table_bytes)
      sink_.add(base + named_bytes, table_bytes - named_bytes, FsPart::kUnusedInode, false);
  }

  void map_mmp() {
    if (ext2fs_has_feature_mmp(fs_->super) != 0 && fs_->super->s_mmp_block != 0)
      sink_.add(fs_->super->s_mmp_block * block_bytes_, block_bytes_, FsPart::kOther, true);
  }

  ext2_filsys fs_;
  ExtentSink& sink_;
  std::uint64_t block_bytes_;
};

}  // namespace

Result<void> map_metadata(ext2_filsys fs, ExtentSink& sink) { return MetadataMapper(fs, sink).map(); }

}  // namespace vacant::scan
