// Splits a metadata block into the bytes that its structure uses and the rest.
#pragma once

#include <vector>

#include "fs/ext_walk.h"

namespace vacant::scan::fs {

struct Used {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct SplitParts {
  FsPart used;
  FsPart slack;
};

// `used` is sorted and inside the block. A gap that is all zero hides nothing and is joined to the used
// bytes; any other gap becomes slack, which is not live.
void claim_split(Walk& walk, std::uint32_t inode, std::uint64_t block_offset, ByteSpan block,
                 const std::vector<Used>& used, SplitParts parts);

}  // namespace vacant::scan::fs
