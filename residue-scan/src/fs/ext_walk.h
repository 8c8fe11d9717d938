// Runs in the isolated child: walks an ext2/3/4 file system with libext2fs and tells the owner of its bytes.
// Every loop is bounded by the limits below, by the size of the volume, or by the parent's clock.
//
// What counts as live (the file system refers to these bytes as they are): see docs/formats/fs-view.md.
#pragma once

#include <ext2fs/ext2fs.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fs/wire.h"
#include "vacant/base/isolate.h"

namespace vacant::scan::fs {

struct WalkRequest {
  std::uint64_t volume_bytes = 0;
  std::uint64_t backup_block = 0;  // 0: use the primary superblock
  std::uint32_t backup_block_bytes = 0;
  std::uint64_t max_extents = 0;
  std::uint64_t max_inodes = 0;
  std::vector<std::uint32_t> paths_of;  // not empty: answer paths, sorted
};
ByteVector encode(const WalkRequest& request);
Result<WalkRequest> decode_request(ByteSpan bytes);

struct CloseFs {
  void operator()(ext2_filsys fs) const { ext2fs_free(fs); }
};
using FsHandle = std::unique_ptr<struct_ext2_filsys, CloseFs>;

struct Opened {
  FsHandle fs;
  std::string note;  // damage that was worked around; empty if none
};
// An error is one whose text is fit for Volume::status ("not parsed: ...", "damaged: ...").
Result<Opened> open_fs(const WalkRequest& request);

// Collects claims and the damage seen on the way. A claim outside the volume is damage, not a claim.
class Walk {
 public:
  Walk(ext2_filsys fs, const WalkRequest& request);

  void claim(std::uint64_t offset_bytes, std::uint64_t length_bytes, FsPart part, bool live,
             std::uint32_t inode = 0);
  void damage(std::string what) {
    if (damage_.empty()) damage_ = std::move(what);
  }
  void over_limit(std::string what) {
    if (limit_.empty()) limit_ = std::move(what);
  }
  [[nodiscard]] bool stopped() const { return !limit_.empty(); }
  [[nodiscard]] ext2_filsys fs() const { return fs_; }
  [[nodiscard]] std::uint64_t block_bytes() const { return fs_->blocksize; }
  // One block of the volume; empty if it cannot be read (which is damage).
  ByteVector block(std::uint64_t number);
  [[nodiscard]] bool in_range(std::uint64_t block, std::uint64_t count) const {
    const std::uint64_t total = ext2fs_blocks_count(fs_->super);
    return block < total && count <= total - block;
  }

  // The parts of the walk.
  void claim_superblocks();
  void claim_bitmaps();
  void claim_inodes();  // tables, and everything that inodes in use refer to
  VolumeAnswer finish(const std::string& note);

 private:
  friend struct InodeWalk;
  void claim_group_head(dgrp_t group);
  void claim_descriptors(std::uint64_t first_block, std::uint64_t count, std::uint64_t done_bytes);
  void claim_bitmap(std::uint64_t block, std::uint64_t used_bytes, FsPart part, bool initialised);
  void claim_table(dgrp_t group);
  void claim_unused_tail(std::uint64_t offset, std::uint64_t length);
  void claim_slot(std::uint64_t offset, std::uint32_t inode, ByteSpan slot);
  void claim_inode(std::uint32_t inode, ByteSpan slot);
  void remember(std::uint32_t inode, ByteSpan slot, bool used);
  void sort_claims();
  void check_bitmap();
  void claim_leftovers();

  ext2_filsys fs_;
  const WalkRequest& request_;
  std::vector<Claim> claims_;
  std::vector<InodeId> inodes_;
  std::set<std::uint64_t> xattr_blocks_;
  std::uint64_t file_count_ = 0;
  std::string damage_;
  std::string limit_;
};

// Splits one directory block into entries and slack (ext_dir.cc).
void claim_directory_block(Walk& walk, std::uint32_t inode, std::uint64_t block_offset, ByteSpan block,
                           bool indexed, bool first);
// Splits the journal by what belongs to it (ext_journal.cc). `blocks`: physical numbers in logical order, 0
// for a hole.
void claim_journal(Walk& walk, std::uint32_t inode, const std::vector<std::uint64_t>& blocks);
// Everything outside the inode itself that it refers to (ext_inode.cc).
void claim_inode_blocks(Walk& walk, std::uint32_t inode, struct ext2_inode_large& data);

Result<Paths> find_paths(ext2_filsys fs, const WalkRequest& request);

// The body of the isolated child.
Result<ByteVector> serve_walk(ByteSpan request_bytes, IsolateChannel& channel);

}  // namespace vacant::scan::fs
