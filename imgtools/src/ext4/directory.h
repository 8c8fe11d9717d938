// The blocks of one directory: a plain list where that fits into a block, else a hash tree as the kernel
// builds one, filled from the sorted hashes. Private to imgtools.
// Format: the kernel's Documentation/filesystems/ext4/directory.rst.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ext4/ext_io.h"
#include "vacant/base/bytes.h"

namespace vacant::img {

struct DirectoryEntry {
  std::string_view name;
  std::uint32_t inode;
  std::uint8_t type;  // EXT2_FT_*
};

struct DirectoryBlocks {
  std::vector<ByteVector> blocks;  // without checksums
  bool indexed = false;
};

// `entries` without "." and "..", in any order; at least `least_blocks` blocks. kLimit if they are more than
// two levels of a tree hold.
Result<DirectoryBlocks> directory_blocks(ext2_filsys fs, std::uint32_t self, std::uint32_t parent,
                                         const std::vector<DirectoryEntry>& entries,
                                         std::size_t least_blocks);

}  // namespace vacant::img
