#include "ext4/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace vacant::img {

namespace {

constexpr std::uint32_t kInodeBytes = 256;
constexpr std::uint64_t kBytesPerInode = 16 * kKiB;
constexpr std::uint64_t kLeastBlocks = 256;
constexpr std::size_t kLabelBytes = 16;
constexpr std::int64_t kMaxTime = (std::int64_t{1} << 34) - 1;
constexpr std::uint32_t kMaxReservedPercent = 50;
constexpr std::uint16_t kExtraInodeBytes = 32;  // up to i_projid, as the kernel wants for new inodes

Result<void> check(const Ext4Options& options) {
  const std::uint32_t block = options.block_bytes;
  if (block != 1024 && block != 2048 && block != 4096)
    return fail(Code::kInvalidArgument, "the block size is 1024, 2048 or 4096");
  if (options.size_bytes / block < kLeastBlocks)
    return fail(Code::kInvalidArgument,
                fmt::format("a file system of {} bytes is too small: it needs at least {} KiB",
                            options.size_bytes, kLeastBlocks * block / kKiB));
  if (options.size_bytes > std::uint64_t{1} << 50)
    return fail(Code::kInvalidArgument, "a file system has at most 1 PiB here");
  if (options.label.size() > kLabelBytes || options.label.find('\0') != std::string::npos)
    return fail(Code::kInvalidArgument, "a label has at most 16 bytes");
  if (options.time_seconds && (*options.time_seconds < 1 || *options.time_seconds > kMaxTime))
    return fail(Code::kInvalidArgument, "the time is from 1 to 17179869183 seconds");
  if (options.reserved_percent > kMaxReservedPercent)
    return fail(Code::kInvalidArgument, "at most 50 percent can be reserved");
  return {};
}

void set_features(ext2_super_block& super, const Ext4Options& options) {
  ext2fs_set_feature_xattr(&super);
  ext2fs_set_feature_dir_index(&super);
  ext2fs_set_feature_filetype(&super);
  ext2fs_set_feature_extents(&super);
  ext2fs_set_feature_64bit(&super);
  ext2fs_set_feature_flex_bg(&super);
  ext2fs_set_feature_sparse_super(&super);
  ext2fs_set_feature_large_file(&super);
  ext2fs_set_feature_huge_file(&super);
  ext2fs_set_feature_dir_nlink(&super);
  ext2fs_set_feature_extra_isize(&super);
  ext2fs_set_feature_metadata_csum(&super);
  if (options.resize_inode) ext2fs_set_feature_resize_inode(&super);
}

Result<ext2_super_block> parameters(const Ext4Options& options) {
  ext2_super_block super{};
  const std::uint64_t blocks = options.size_bytes / options.block_bytes;
  const std::uint64_t inodes = options.inode_count != 0
                                   ? options.inode_count
                                   : std::max<std::uint64_t>(options.size_bytes / kBytesPerInode, 64);
  if (inodes > UINT32_MAX) return fail(Code::kInvalidArgument, "a file system has at most 4294967295 inodes");
  super.s_rev_level = EXT2_DYNAMIC_REV;
  super.s_log_block_size = static_cast<__u32>(std::countr_zero(options.block_bytes / 1024));
  super.s_log_cluster_size = super.s_log_block_size;
  ext2fs_blocks_count_set(&super, blocks);
  ext2fs_r_blocks_count_set(&super, blocks * options.reserved_percent / 100);
  super.s_inodes_count = static_cast<__u32>(inodes);
  super.s_inode_size = kInodeBytes;
  super.s_desc_size = EXT2_MIN_DESC_SIZE_64BIT;
  super.s_log_groups_per_flex = 4;
  set_features(super, options);
  // Growth to 1024 times the size, as mke2fs plans for; libext2fs cuts it to what one block can index.
  if (options.resize_inode) super.s_reserved_gdt_blocks = static_cast<__u16>(options.block_bytes / 4);
  return super;
}

void set_defaults(ext2_filsys fs, const Ext4Options& options) {
  ext2_super_block& super = *fs->super;
  super.s_checksum_type = EXT2_CRC32C_CHKSUM;
  super.s_creator_os = EXT2_OS_LINUX;
  super.s_max_mnt_count = -1;
  super.s_checkinterval = 0;
  super.s_errors = EXT2_ERRORS_CONTINUE;
  super.s_default_mount_opts = EXT2_DEFM_XATTR_USER | EXT2_DEFM_ACL;
  super.s_def_hash_version = EXT2_HASH_HALF_MD4;
  // Whether `char` has a sign must not depend on the machine: x86's way, said so in the superblock.
  super.s_flags = EXT2_FLAGS_SIGNED_HASH;
  super.s_min_extra_isize = super.s_want_extra_isize = kExtraInodeBytes;
  std::memcpy(super.s_volume_name, options.label.data(), options.label.size());
  // The device reads as zeros, unused inode tables too: nobody has to clear them later.
  for (dgrp_t group = 0; group < fs->group_desc_count; ++group)
    ext2fs_bg_flags_set(fs, group, EXT2_BG_INODE_ZEROED);
}

Result<void> reserve_inodes(ExtIo& io, ext2_filsys fs) {
  for (ext2_ino_t inode = 1; inode < EXT2_FIRST_INODE(fs->super); ++inode) {
    if (ext2fs_test_inode_bitmap2(fs->inode_map, inode) != 0) continue;
    ext2fs_inode_alloc_stats2(fs, inode, +1, 0);
  }
  return io.check(ext2fs_update_bb_inode(fs, nullptr), "writing the list of bad blocks");
}

Result<void> add_journal(ExtIo& io, ext2_filsys fs, const Ext4Options& options) {
  if (!options.journal) return {};
  const int suitable = ext2fs_default_journal_size(ext2fs_blocks_count(fs->super));
  const std::uint64_t blocks = options.journal_mib != 0 ? options.journal_mib * kMiB / fs->blocksize
                                                        : static_cast<std::uint64_t>(std::max(suitable, 0));
  if (blocks == 0) return {};  // too small a file system for one
  if (blocks < 1024 || blocks > INT32_MAX)
    return fail(Code::kInvalidArgument, "a journal has at least 1024 blocks, and at most 2^31");
  ext2fs_journal_params wanted{};
  wanted.num_journal_blocks = static_cast<blk_t>(blocks);
  // Its blocks read as zeros already, so they need no writing.
  return io.check(
      ext2fs_add_journal_inode3(fs, &wanted, ~0ULL, EXT2_MKJOURNAL_LAZYINIT | EXT2_MKJOURNAL_NO_MNT_CHECK),
      "making the journal");
}

}  // namespace

Result<FsHandle> lay_out(ExtIo& io, const Ext4Options& options) {
  VACANT_TRY(check(options));
  ext2_super_block wanted = VACANT_TRY(parameters(options));
  ext2_filsys raw = nullptr;
  VACANT_TRY(io.check(ext2fs_initialize("device", EXT2_FLAG_64BITS, &wanted, io.manager(), &raw),
                      "laying out the file system"));
  FsHandle fs(raw);
  set_defaults(fs.get(), options);
  VACANT_TRY(io.check(ext2fs_allocate_tables(fs.get()), "laying out the inode tables"));
  return fs;
}

void set_identity(ext2_filsys fs, const Uuid& uuid, std::int64_t time_seconds) {
  ext2_super_block& super = *fs->super;
  fs->now = std::clamp<std::int64_t>(time_seconds, 1, kMaxTime);
  // libext2fs has stamped these from the clock before it could be told the time.
  super.s_mkfs_time = super.s_lastcheck = super.s_wtime = static_cast<__u32>(fs->now);
  super.s_mkfs_time_hi = super.s_lastcheck_hi = super.s_wtime_hi = static_cast<__u8>(fs->now >> 32);
  std::memcpy(super.s_uuid, uuid.data(), uuid.size());
  const Uuid seed = uuid_of(uuid);
  std::memcpy(super.s_hash_seed, seed.data(), seed.size());
  ext2fs_init_csum_seed(fs);
}

Result<void> add_internals(ExtIo& io, ext2_filsys fs, const Ext4Options& options) {
  VACANT_TRY(reserve_inodes(io, fs));
  if (options.resize_inode) VACANT_TRY(io.check(ext2fs_create_resize_inode(fs), "making the resize inode"));
  return add_journal(io, fs, options);
}

Result<void> close_fs(ExtIo& io, FsHandle fs) {
  VACANT_TRY(io.check(ext2fs_set_gdt_csum(fs.get()), "closing the groups"));
  ext2fs_mark_super_dirty(fs.get());
  return io.check(ext2fs_flush2(fs.get(), 0), "writing the groups and the superblock");
}

}  // namespace vacant::img
