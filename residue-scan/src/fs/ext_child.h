// The isolated child's work on one ext2/3/4 volume, through libext2fs. Private to scan.
#pragma once

#include <ext2fs/ext2fs.h>

#include <memory>

#include "fs/wire.h"
#include "vacant/base/isolate.h"

namespace vacant::scan {

struct CloseFs {
  void operator()(ext2_filsys fs) const { ext2fs_free(fs); }
};
using ExtFs = std::unique_ptr<struct_ext2_filsys, CloseFs>;

// Collects extents up to a limit; past it the answer counts as not parsed.
class ExtentSink {
 public:
  ExtentSink(ExtAnswer& answer, const ExtRequest& request) : answer_(answer), request_(request) {}
  void add(std::uint64_t offset, std::uint64_t length, FsPart part, bool live, std::uint32_t inode = 0);
  void add_inode(std::uint32_t inode, std::uint32_t generation);
  [[nodiscard]] bool full() const { return full_; }

 private:
  ExtAnswer& answer_;
  const ExtRequest& request_;
  bool full_ = false;
};

// The body of the Isolate.
Result<ByteVector> ext_child(ByteSpan request, IsolateChannel& channel);

// Opens by the primary superblock, or by a backup (then `note` says so).
Result<ExtFs> open_ext(io_manager manager, const ExtRequest& request, std::string& note);
// Superblocks, descriptors, bitmaps, inode tables.
Result<void> map_metadata(ext2_filsys fs, ExtentSink& sink);
// What every inode owns.
Result<void> map_inodes(ext2_filsys fs, ExtentSink& sink, ExtAnswer& answer);
// The journal's blocks, given in logical order: those that the log's own records account for are live.
void map_journal(ext2_filsys fs, const std::vector<blk64_t>& blocks, std::uint32_t inode, ExtentSink& sink);
// Splits a directory block at its slack.
void map_directory_block(ext2_filsys fs, blk64_t block, std::uint32_t inode, ExtentSink& sink);
Result<void> resolve(ext2_filsys fs, const ExtRequest& request, ExtAnswer& answer);

}  // namespace vacant::scan
