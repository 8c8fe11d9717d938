// The blocks of one inode: data, mapping blocks, extended attributes.
#include <algorithm>

#include "fs/ext_split.h"
#include "fs/ext_walk.h"

namespace vacant::scan::fs {

void claim_split(Walk& walk, std::uint32_t inode, std::uint64_t block_offset, ByteSpan block,
                 const std::vector<Used>& used, SplitParts parts) {
  std::size_t at = 0;
  const auto gap = [&](std::size_t end) {
    if (end <= at) return;
    const bool zero = is_zero(block.subspan(at, end - at));
    walk.claim(block_offset + at, end - at, zero ? parts.used : parts.slack, zero, inode);
  };
  for (const Used& piece : used) {
    gap(piece.begin);
    if (piece.end > std::max(at, piece.begin)) {
      const std::size_t begin = std::max(at, piece.begin);
      walk.claim(block_offset + begin, piece.end - begin, parts.used, true, inode);
    }
    at = std::max(at, piece.end);
  }
  gap(block.size());
}

namespace {

constexpr std::size_t kMaxJournalBlocks = 4U << 20U;
constexpr std::uint32_t kEaInodeFlag = 0x200000;
constexpr std::uint32_t kIndexFlag = 0x1000;

enum class Kind { kFile, kDirectory, kSymlink, kXattr, kJournal, kResize, kBad, kOther };

struct Run {
  std::uint64_t logical = 0;
  std::uint64_t physical = 0;
  std::uint64_t count = 0;
  bool unwritten = false;
};

Kind kind_of(const ext2_super_block& super, std::uint32_t inode, const ext2_inode_large& data) {
  if (inode == super.s_journal_inum && inode != 0) return Kind::kJournal;
  if (inode == EXT2_RESIZE_INO) return Kind::kResize;
  if (inode == EXT2_BAD_INO) return Kind::kBad;
  if (inode == super.s_usr_quota_inum || inode == super.s_grp_quota_inum || inode == super.s_prj_quota_inum ||
      inode == super.s_orphan_file_inum)
    return Kind::kOther;
  if ((data.i_flags & kEaInodeFlag) != 0) return Kind::kXattr;
  if (LINUX_S_ISDIR(data.i_mode)) return Kind::kDirectory;
  if (LINUX_S_ISLNK(data.i_mode)) return Kind::kSymlink;
  return Kind::kFile;
}

FsPart part_of(Kind kind) {
  switch (kind) {
    case Kind::kFile:
      return FsPart::kFile;
    case Kind::kDirectory:
      return FsPart::kDirectory;
    case Kind::kSymlink:
      return FsPart::kSymlink;
    case Kind::kXattr:
      return FsPart::kXattr;
    case Kind::kJournal:
      return FsPart::kJournal;
    case Kind::kResize:
      return FsPart::kReservedGdt;
    case Kind::kBad:
    case Kind::kOther:
      return FsPart::kOther;
  }
  return FsPart::kOther;
}

}  // namespace

struct InodeWalk {
  Walk& walk;
  std::uint32_t inode;
  ext2_inode_large& data;
  Kind kind;
  std::uint64_t size_bytes;
  std::vector<std::uint64_t> journal;        // physical blocks in logical order
  std::vector<std::uint64_t> resize_tables;  // mapping blocks of the resize inode
  std::set<std::uint64_t> resize_data;

  ext2_inode* plain() {
    return reinterpret_cast<ext2_inode*>(&data);
  }  // SAFETY: a prefix, by libext2fs's design

  void add_run(const Run& run) {
    if (!walk.in_range(run.physical, run.count) || run.logical > UINT64_MAX / 65536 - run.count)
      return walk.damage("blocks outside the volume");
    if (kind == Kind::kJournal && !run.unwritten) return add_journal(run);
    if (kind == Kind::kResize) {
      for (std::uint64_t index = 0; index < run.count; ++index) resize_data.insert(run.physical + index);
      return walk.claim(run.physical * walk.block_bytes(), run.count * walk.block_bytes(),
                        FsPart::kReservedGdt, false, inode);
    }
    if (kind == Kind::kDirectory && !run.unwritten) return add_directory(run);
    add_data(run);
  }

  // Bytes up to the end of the file are live. Unwritten extents read as zeros whatever lies in them, so what
  // lies in them is slack; so are blocks behind the end.
  void add_data(const Run& run) {
    const std::uint64_t bytes = walk.block_bytes();
    const std::uint64_t begin = run.logical * bytes;
    std::uint64_t used = size_bytes > begin ? std::min(size_bytes - begin, run.count * bytes) : 0;
    if (run.unwritten) used = 0;
    walk.claim(run.physical * bytes, used, part_of(kind), kind != Kind::kBad, inode);
    walk.claim(run.physical * bytes + used, run.count * bytes - used, FsPart::kFileTailSlack, false, inode);
  }

  void add_journal(const Run& run) {
    if (journal.size() + run.count > kMaxJournalBlocks || run.logical > kMaxJournalBlocks)
      return walk.claim(run.physical * walk.block_bytes(), run.count * walk.block_bytes(),
                        FsPart::kJournalSlack, false, inode);
    if (run.logical < journal.size()) return walk.damage("journal mapped twice");
    journal.resize(static_cast<std::size_t>(run.logical), 0);
    for (std::uint64_t index = 0; index < run.count; ++index) journal.push_back(run.physical + index);
  }

  void add_directory(const Run& run) {
    for (std::uint64_t index = 0; index < run.count && !walk.stopped(); ++index) {
      const std::uint64_t logical = run.logical + index;
      const std::uint64_t offset = (run.physical + index) * walk.block_bytes();
      if (logical * walk.block_bytes() >= size_bytes) {
        walk.claim(offset, walk.block_bytes(), FsPart::kDirectorySlack, false, inode);
        continue;
      }
      const ByteVector block = walk.block(run.physical + index);
      if (block.empty()) continue;
      claim_directory_block(walk, inode, offset, block, (data.i_flags & kIndexFlag) != 0, logical == 0);
    }
  }

  void add_extent_block(std::uint64_t number) {
    if (!walk.in_range(number, 1)) return walk.damage("blocks outside the volume");
    const ByteVector block = walk.block(number);
    if (block.empty()) return;
    const std::size_t entries = load_le<std::uint16_t>(block, 2);
    const std::size_t room = load_le<std::uint16_t>(block, 4);
    std::vector<Used> used{{0, std::min(block.size(), 12 + 12 * entries)}};
    if (ext2fs_has_feature_metadata_csum(walk.fs()->super) && 12 + 12 * room + 4 <= block.size())
      used.push_back({12 + 12 * room, 16 + 12 * room});
    claim_split(walk, inode, number * walk.block_bytes(), block, used,
                {FsPart::kExtentTree, FsPart::kExtentTree});
  }

  void add_mapping_block(std::uint64_t number) {
    if (!walk.in_range(number, 1)) return walk.damage("blocks outside the volume");
    if (kind == Kind::kResize)
      resize_tables.push_back(number);
    else
      walk.claim(number * walk.block_bytes(), walk.block_bytes(), FsPart::kExtentTree, true, inode);
  }

  // The reserved descriptor blocks of the first group hold the numbers of their backups. They are live only
  // if they hold nothing else.
  void claim_resize_tables() {
    for (const std::uint64_t number : resize_tables) resize_data.insert(number);
    for (const std::uint64_t number : resize_tables) {
      const ByteVector block = walk.block(number);
      if (block.empty()) continue;
      bool ours = true;
      for (std::size_t at = 0; at < block.size() && ours; at += 4) {
        const auto entry = load_le<std::uint32_t>(block, at);
        ours = entry == 0 || resize_data.contains(entry);
      }
      walk.claim(number * walk.block_bytes(), block.size(), FsPart::kReservedGdt, ours, inode);
    }
  }

  void walk_extents() {
    ext2_extent_handle_t handle = nullptr;
    if (ext2fs_extent_open2(walk.fs(), inode, plain(), &handle) != 0) return walk.damage("extent trees");
    struct Free {
      ext2_extent_handle_t handle;
      ~Free() { ext2fs_extent_free(handle); }
    } const free_handle{handle};
    ext2fs_extent extent{};
    errcode_t error = ext2fs_extent_get(handle, EXT2_EXTENT_ROOT, &extent);
    std::uint64_t next_logical = 0;
    for (; error == 0 && !walk.stopped(); error = ext2fs_extent_get(handle, EXT2_EXTENT_NEXT, &extent)) {
      if ((extent.e_flags & EXT2_EXTENT_FLAGS_LEAF) == 0) {
        if ((extent.e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT) == 0) add_extent_block(extent.e_pblk);
        continue;
      }
      // Extents of a sound tree come in order; a tree that loops does not, which ends the walk here.
      if (extent.e_lblk < next_logical) return walk.damage("extent trees");
      next_logical = extent.e_lblk + extent.e_len;
      add_run({extent.e_lblk, extent.e_pblk, extent.e_len, (extent.e_flags & EXT2_EXTENT_FLAGS_UNINIT) != 0});
    }
    if (error != 0 && error != EXT2_ET_EXTENT_NO_NEXT) walk.damage("extent trees");
  }

  static int on_block(ext2_filsys /*fs*/, blk64_t* block, e2_blkcnt_t logical, blk64_t /*ref*/,
                      int /*offset*/, void* self_pointer) {
    auto& self = *static_cast<InodeWalk*>(self_pointer);
    if (self.walk.stopped()) return BLOCK_ABORT;
    if (logical < 0)
      self.add_mapping_block(*block);
    else
      self.add_run({static_cast<std::uint64_t>(logical), *block, 1, false});
    return 0;
  }

  void walk_blocks() {
    if (ext2fs_block_iterate3(walk.fs(), inode, BLOCK_FLAG_READ_ONLY, nullptr, on_block, this) != 0)
      walk.damage("block maps");
  }

  // An attribute block may be shared by many inodes: the first one names it.
  void claim_xattr_block() {
    const std::uint64_t number = ext2fs_file_acl_block(walk.fs(), plain());
    if (number == 0 || !walk.xattr_blocks_.insert(number).second) return;
    if (!walk.in_range(number, 1)) return walk.damage("blocks outside the volume");
    walk.claim(number * walk.block_bytes(), walk.block_bytes(), FsPart::kXattr, true, inode);
  }

  void run() {
    claim_xattr_block();
    if ((data.i_flags & EXT4_INLINE_DATA_FL) != 0) return;
    const bool special = kind == Kind::kResize || kind == Kind::kBad;
    if (!special && ext2fs_inode_has_valid_blocks2(walk.fs(), plain()) == 0) return;
    if ((data.i_flags & EXT4_EXTENTS_FL) != 0)
      walk_extents();
    else
      walk_blocks();
    if (!journal.empty()) claim_journal(walk, inode, journal);
    claim_resize_tables();
  }
};

void claim_inode_blocks(Walk& walk, std::uint32_t inode, ext2_inode_large& data) {
  const Kind kind = kind_of(*walk.fs()->super, inode, data);
  std::uint64_t size = data.i_size | (static_cast<std::uint64_t>(data.i_size_high) << 32U);
  if (kind == Kind::kDirectory && !ext2fs_has_feature_largedir(walk.fs()->super)) size = data.i_size;
  InodeWalk{walk, inode, data, kind, size, {}, {}, {}}.run();
}

}  // namespace vacant::scan::fs
