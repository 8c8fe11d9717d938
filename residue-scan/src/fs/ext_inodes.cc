#include <algorithm>
#include <cstring>
#include <vector>

#include "fs/ext_child.h"

namespace vacant::scan {

namespace {

constexpr int kScanBufferBlocks = 0;  // libext2fs's own choice
constexpr std::size_t kMaxJournalBlocks = 4'000'000;
constexpr std::uint64_t kMaxTreeSteps = 50'000'000;  // per volume: a looping tree ends here

struct CloseScan {
  void operator()(ext2_inode_scan scan) const { ext2fs_close_inode_scan(scan); }
};
struct FreeExtents {
  void operator()(ext2_extent_handle_t handle) const { ext2fs_extent_free(handle); }
};

class InodeMapper {
 public:
  InodeMapper(ext2_filsys fs, ExtentSink& sink, ExtAnswer& answer)
      : fs_(fs), sink_(sink), answer_(answer), block_bytes_(fs->blocksize) {}

  Result<void> map() {
    ext2_inode_scan raw = nullptr;
    if (ext2fs_open_inode_scan(fs_, kScanBufferBlocks, &raw) != 0)
      return fail(Code::kCorrupt, "the inode tables cannot be read");
    const std::unique_ptr<std::remove_pointer_t<ext2_inode_scan>, CloseScan> scan(raw);
    std::vector<char> memory(std::max<std::size_t>(EXT2_INODE_SIZE(fs_->super), sizeof(ext2_inode_large)));
    auto* inode = reinterpret_cast<ext2_inode*>(
        memory.data());  // SAFETY: at least as large, from operator new: aligned
    std::uint64_t used = 0;
    for (;;) {
      ext2_ino_t number = 0;
      const errcode_t problem =
          ext2fs_get_next_inode_full(scan.get(), &number, inode, static_cast<int>(memory.size()));
      if (problem == EXT2_ET_BAD_BLOCK_IN_INODE_TABLE) continue;
      if (problem != 0 && problem != EXT2_ET_INODE_CSUM_INVALID)
        return fail(Code::kCorrupt, "an inode table cannot be read");
      if (number == 0) break;
      if (sink_.full()) return {};
      used += map_inode(number, *inode) ? 1 : 0;
      if (steps_ > kMaxTreeSteps) return fail(Code::kLimit, "its extent trees do not end");
    }
    answer_.file_count = used;
    return {};
  }

 private:
  bool map_inode(ext2_ino_t number, const ext2_inode& inode) {
    const bool used =
        number < EXT2_FIRST_INODE(fs_->super) || ext2fs_test_inode_bitmap2(fs_->inode_map, number) != 0;
    // A deleted inode that still has its generation says whose a left directory block is.
    if (used || inode.i_generation != 0) sink_.add_inode(number, inode.i_generation);
    if (!used) return false;
    auto* mutable_inode =
        const_cast<ext2_inode*>(&inode);  // libext2fs takes no const, and does not write here
    if (const blk64_t xattr = ext2fs_file_acl_block(fs_, mutable_inode); xattr != 0)
      add_blocks(xattr, 1, FsPart::kXattr, true, number);
    if (number == EXT2_BAD_INO || ext2fs_inode_has_valid_blocks2(fs_, mutable_inode) == 0) return true;
    number_ = number;
    size_bytes_ = EXT2_I_SIZE(&inode);
    part_ = part_of(number, inode);
    journal_.clear();
    if ((inode.i_flags & EXT4_EXTENTS_FL) != 0)
      map_extents(number, mutable_inode);
    else
      map_indirect(number, mutable_inode);
    if (part_ == FsPart::kJournal) map_journal(fs_, journal_, number, sink_);
    return true;
  }

  FsPart part_of(ext2_ino_t number, const ext2_inode& inode) const {
    if (number == fs_->super->s_journal_inum) return FsPart::kJournal;
    if (number == EXT2_RESIZE_INO) return FsPart::kReservedGdt;
    if ((inode.i_flags & EXT4_EA_INODE_FL) != 0) return FsPart::kXattr;
    if (LINUX_S_ISDIR(inode.i_mode)) return FsPart::kDirectory;
    if (LINUX_S_ISLNK(inode.i_mode)) return FsPart::kSymlink;
    return LINUX_S_ISREG(inode.i_mode) ? FsPart::kFile : FsPart::kOther;
  }

  void add_blocks(blk64_t block, std::uint64_t count, FsPart part, bool live, ext2_ino_t inode) {
    std::uint64_t offset = 0, length = 0;
    if (__builtin_mul_overflow(block, block_bytes_, &offset) ||
        __builtin_mul_overflow(count, block_bytes_, &length))
      return;
    sink_.add(offset, length, part, live, inode);
  }

  // A run of an inode's blocks: what lies before the end of the file is live, the rest of it is slack.
  void add_run(blk64_t logical, blk64_t physical, std::uint64_t count, bool unwritten) {
    steps_ += 1;
    if (part_ == FsPart::kJournal) {
      for (std::uint64_t i = 0; i < count && journal_.size() < kMaxJournalBlocks; ++i) {
        if (logical + i >= kMaxJournalBlocks) break;
        if (journal_.size() <= logical + i) journal_.resize(static_cast<std::size_t>(logical + i + 1));
        journal_[static_cast<std::size_t>(logical + i)] = physical + i;
      }
      return;
    }
    if (part_ == FsPart::kDirectory && !unwritten) {
      for (std::uint64_t i = 0; i < count && !sink_.full(); ++i, ++steps_)
        map_directory_block(fs_, physical + i, number_, sink_);
      return;
    }
    // Copies of the reserved descriptor blocks: no reader looks at them before a resize.
    if (part_ == FsPart::kReservedGdt) return add_blocks(physical, count, part_, false, number_);
    add_data(logical, physical, count, unwritten);
  }

  void add_data(blk64_t logical, blk64_t physical, std::uint64_t count, bool unwritten) {
    std::uint64_t start = 0, offset = 0, length = 0;
    if (__builtin_mul_overflow(logical, block_bytes_, &start) ||
        __builtin_mul_overflow(physical, block_bytes_, &offset) ||
        __builtin_mul_overflow(count, block_bytes_, &length))
      return;
    // Unwritten extents read as zeros: what is on the disk under them is no content of the file.
    std::uint64_t live = unwritten || start >= size_bytes_ ? 0 : std::min(length, size_bytes_ - start);
    if (part_ == FsPart::kSymlink || part_ == FsPart::kXattr)
      live = unwritten ? 0 : std::min(length, std::max<std::uint64_t>(live, block_bytes_));
    sink_.add(offset, live, part_, true, number_);
    sink_.add(offset + live, length - live, FsPart::kFileTailSlack, false, number_);
  }

  void map_extents(ext2_ino_t number, ext2_inode* inode) {
    ext2_extent_handle_t raw = nullptr;
    if (ext2fs_extent_open2(fs_, number, inode, &raw) != 0) return;
    const std::unique_ptr<std::remove_pointer_t<ext2_extent_handle_t>, FreeExtents> handle(raw);
    ext2fs_extent extent{};
    for (errcode_t problem = ext2fs_extent_get(handle.get(), EXT2_EXTENT_ROOT, &extent); problem == 0;
         problem = ext2fs_extent_get(handle.get(), EXT2_EXTENT_NEXT, &extent)) {
      if (++steps_ > kMaxTreeSteps || sink_.full()) return;
      if ((extent.e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT) != 0) continue;
      if ((extent.e_flags & EXT2_EXTENT_FLAGS_LEAF) == 0)
        add_blocks(extent.e_pblk, 1, FsPart::kExtentTree, true, number);
      else
        add_run(extent.e_lblk, extent.e_pblk, extent.e_len, (extent.e_flags & EXT2_EXTENT_FLAGS_UNINIT) != 0);
    }
  }

  void map_indirect(ext2_ino_t number, ext2_inode* /*inode*/) {
    ext2fs_block_iterate3(fs_, number, BLOCK_FLAG_READ_ONLY, nullptr, &InodeMapper::on_block, this);
  }

  // SAFETY: libext2fs passes `self` through unchanged.
  static int on_block(ext2_filsys, blk64_t* block, e2_blkcnt_t logical, blk64_t, int, void* self) {
    auto* mapper = static_cast<InodeMapper*>(self);
    if (++mapper->steps_ > kMaxTreeSteps || mapper->sink_.full()) return BLOCK_ABORT;
    // Negative: an indirect block. The resize inode's are the reserved descriptor blocks themselves.
    if (logical < 0) {
      const FsPart part = mapper->part_ == FsPart::kReservedGdt ? FsPart::kReservedGdt : FsPart::kExtentTree;
      mapper->add_blocks(*block, 1, part, true, mapper->number_);
    } else {
      mapper->add_run(static_cast<blk64_t>(logical), *block, 1, false);
    }
    return 0;
  }

  ext2_filsys fs_;
  ExtentSink& sink_;
  ExtAnswer& answer_;
  std::uint64_t block_bytes_;
  ext2_ino_t number_ = 0;
  std::uint64_t size_bytes_ = 0;
  FsPart part_ = FsPart::kFile;
  std::vector<blk64_t> journal_;
  std::uint64_t steps_ = 0;
};

}  // namespace

Result<void> map_inodes(ext2_filsys fs, ExtentSink& sink, ExtAnswer& answer) {
  return InodeMapper(fs, sink, answer).map();
}

// Entries fill a block: the bytes between an entry's name and the next entry are slack, where deleted names
// stay. All of it was written by this file system, so it is live; it is told apart for the reader of a
// report.
void map_directory_block(ext2_filsys fs, blk64_t block, std::uint32_t inode, ExtentSink& sink) {
  constexpr std::size_t kEntryHeader = 8, kLeastSlack = 16;
  const std::size_t size = fs->blocksize;
  const std::uint64_t base = block * size;
  std::vector<char> memory(size);
  if (io_channel_read_blk64(fs->io, block, 1, memory.data()) != 0)
    return sink.add(base, size, FsPart::kDirectory, true, inode);
  const ByteSpan bytes = std::as_bytes(std::span(memory));
  std::size_t from = 0;
  for (std::size_t at = 0; at + kEntryHeader <= size;) {
    std::size_t record = load_le<std::uint16_t>(bytes, at + 4);
    if (record == 0xFFFF || record == 0) record = size;  // 64 KiB blocks
    if (record < kEntryHeader || record > size - at) break;
    const bool used = load_le<std::uint32_t>(bytes, at) != 0;
    const std::size_t named = round_up(kEntryHeader + load_le<std::uint8_t>(bytes, at + 6), 4);
    const std::size_t own = used ? std::min(named, record) : kEntryHeader;
    // The tail entry that holds the checksum is no slack.
    if (record - own >= kLeastSlack) {
      sink.add(base + from, at + own - from, FsPart::kDirectory, true, inode);
      sink.add(base + at + own, record - own, FsPart::kDirectorySlack, true, inode);
      from = at + record;
    }
    at += record;
  }
  sink.add(base + from, size - from, FsPart::kDirectory, true, inode);
}

}  // namespace vacant::scan
