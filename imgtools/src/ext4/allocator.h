// Hands out blocks of a file system that is being made, front to back. Private to imgtools.
#pragma once

#include <cstdint>
#include <vector>

#include "ext4/ext_io.h"

namespace vacant::img {

// Blocks [physical, physical + count) hold the file's blocks from `logical` on.
struct Run {
  std::uint64_t logical = 0, physical = 0, count = 0;
};

class Allocator {
 public:
  explicit Allocator(ext2_filsys fs);
  // At most `wanted` blocks in one run, at least one, behind what was handed out last. kLimit when full.
  Result<Run> take(std::uint64_t logical, std::uint64_t wanted);
  void give_back(const Run& run);

 private:
  ext2_filsys fs_;
  std::uint64_t next_;
};

// Appends to the runs of a file; joins with the last one where both sides go on.
void append_run(std::vector<Run>& runs, const Run& run);

}  // namespace vacant::img
