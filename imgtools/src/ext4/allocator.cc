#include "ext4/allocator.h"

#include <fmt/format.h>

#include <algorithm>

namespace vacant::img {

Allocator::Allocator(ext2_filsys fs) : fs_(fs), next_(fs->super->s_first_data_block) {}

Result<Run> Allocator::take(std::uint64_t logical, std::uint64_t wanted) {
  const std::uint64_t last = ext2fs_blocks_count(fs_->super) - 1;
  blk64_t begin = 0;
  if (next_ > last || ext2fs_find_first_zero_block_bitmap2(fs_->block_map, next_, last, &begin) != 0) {
    // Blocks may have been given back behind us.
    next_ = fs_->super->s_first_data_block;
    if (ext2fs_find_first_zero_block_bitmap2(fs_->block_map, next_, last, &begin) != 0)
      return fail(Code::kLimit, fmt::format("no room: all of its {} MiB are in use; give it a larger size",
                                            ext2fs_blocks_count(fs_->super) * fs_->blocksize / kMiB));
  }
  const std::uint64_t stop = std::min<std::uint64_t>(last, begin + wanted - 1);
  blk64_t end = 0;
  if (ext2fs_find_first_set_block_bitmap2(fs_->block_map, begin, stop, &end) != 0) end = stop + 1;
  ext2fs_block_alloc_stats_range(fs_, begin, static_cast<blk_t>(end - begin), +1);
  next_ = end;
  return Run{logical, begin, end - begin};
}

void Allocator::give_back(const Run& run) {
  ext2fs_block_alloc_stats_range(fs_, run.physical, static_cast<blk_t>(run.count), -1);
}

void append_run(std::vector<Run>& runs, const Run& run) {
  if (!runs.empty()) {
    Run& last = runs.back();
    if (last.logical + last.count == run.logical && last.physical + last.count == run.physical) {
      last.count += run.count;
      return;
    }
  }
  runs.push_back(run);
}

}  // namespace vacant::img
