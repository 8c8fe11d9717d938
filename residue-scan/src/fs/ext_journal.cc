// The internal journal (jbd2). Source of the format: the kernel's Documentation/filesystems/ext4/journal.rst.
#include "fs/ext_child.h"

namespace vacant::scan {

namespace {

constexpr std::uint32_t kMagic = 0xC03B3998U;
constexpr std::uint32_t kDescriptor = 1, kCommit = 2, kSuperV1 = 3, kSuperV2 = 4, kRevoke = 5;
constexpr std::uint32_t kFlagSameUuid = 2, kFlagLast = 8;
constexpr std::uint32_t kFeature64Bit = 2, kFeatureCsumV2 = 8, kFeatureCsumV3 = 16;
constexpr std::size_t kHeaderBytes = 12;

class JournalMapper {
 public:
  JournalMapper(ext2_filsys fs, const std::vector<blk64_t>& blocks)
      : fs_(fs), blocks_(blocks), live_(blocks.size(), false), bytes_(fs->blocksize) {}

  const std::vector<bool>& map() {
    if (blocks_.empty() || !load(0) || be(0) != kMagic || (be(4) != kSuperV1 && be(4) != kSuperV2))
      return live_;
    live_[0] = true;
    first_ = be(20) == 0 ? 1 : be(20);
    features_ = be(4) == kSuperV2 ? be(40) : 0;
    const std::uint32_t length = be(16);
    end_ = length == 0 || length > blocks_.size() ? blocks_.size() : length;
    for (std::size_t i = first_; i < end_; ++i) map_block(i);
    return live_;
  }

 private:
  void map_block(std::size_t index) {
    if (!load(index) || be(0) != kMagic) return;
    const std::uint32_t type = be(4);
    if (type == kCommit || type == kRevoke) live_[index] = true;
    if (type != kDescriptor) return;
    live_[index] = true;
    mark_following(index, count_tags());
  }

  // The log is a ring: what follows the last block is the first one behind the superblock.
  void mark_following(std::size_t index, std::size_t count) {
    for (std::size_t i = 0; i < count && i < end_; ++i) {
      index = index + 1 >= end_ ? first_ : index + 1;
      live_[index] = true;
    }
  }

  [[nodiscard]] std::size_t tag_bytes() const {
    if ((features_ & kFeatureCsumV3) != 0) return 16;
    std::size_t size = 8;
    if ((features_ & kFeatureCsumV2) != 0) size += 2;
    if ((features_ & kFeature64Bit) != 0) size += 4;
    return size;
  }

  [[nodiscard]] std::size_t count_tags() const {
    const std::size_t tag = tag_bytes();
    std::size_t count = 0;
    for (std::size_t at = kHeaderBytes; at + tag <= bytes_.size();) {
      const ByteSpan view = std::as_bytes(std::span(bytes_));
      const std::uint32_t flags = (features_ & kFeatureCsumV3) != 0 ? load_be<std::uint32_t>(view, at + 4)
                                                                    : load_be<std::uint16_t>(view, at + 6);
      ++count;
      if ((flags & kFlagLast) != 0) break;
      at += tag + ((flags & kFlagSameUuid) != 0 ? 0 : 16);
    }
    return count;
  }

  bool load(std::size_t index) {
    return blocks_[index] != 0 && io_channel_read_blk64(fs_->io, blocks_[index], 1, bytes_.data()) == 0;
  }
  [[nodiscard]] std::uint32_t be(std::size_t at) const {
    return load_be<std::uint32_t>(std::as_bytes(std::span(bytes_)), at);
  }

  ext2_filsys fs_;
  const std::vector<blk64_t>& blocks_;
  std::vector<bool> live_;
  std::vector<char> bytes_;
  std::size_t first_ = 1, end_ = 0;
  std::uint32_t features_ = 0;
};

}  // namespace

void map_journal(ext2_filsys fs, const std::vector<blk64_t>& blocks, std::uint32_t inode, ExtentSink& sink) {
  JournalMapper mapper(fs, blocks);
  const std::vector<bool>& live = mapper.map();
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i] != 0)
      sink.add(blocks[i] * fs->blocksize, fs->blocksize, live[i] ? FsPart::kJournal : FsPart::kJournalSlack,
               live[i], inode);
}

}  // namespace vacant::scan
