// Writes one inode with all that hangs on it: extents, extended attributes, the blocks of a directory.
// Private to imgtools.
#pragma once

#include <vector>

#include "ext4/allocator.h"
#include "ext4/content.h"
#include "ext4/ext_io.h"
#include "ext4/nodes.h"

namespace vacant::img {

class InodeWriter {
 public:
  InodeWriter(ExtIo& io, ext2_filsys fs, Allocator& allocator, ContentWriter& content)
      : io_(io), fs_(fs), allocator_(allocator), content_(content) {}
  // The node and, for a folder, its list of children, who must have their numbers already.
  Result<void> write(Node& node, std::uint32_t parent_inode, const std::string& path);

 private:
  Result<void> write_directory(Node& node, std::uint32_t parent_inode, const std::string& path);
  Result<void> put(Node& node, ext2_inode_large& inode, const std::vector<Run>& runs);
  Result<void> put_extents(std::uint32_t number, ext2_inode_large& inode, const std::vector<Run>& runs);
  Result<void> put_symlink(Node& node, ext2_inode_large& inode);
  Result<void> put_xattrs(const Node& node, const std::string& path);
  Result<std::vector<Run>> take_blocks(std::uint64_t count);

  ExtIo& io_;
  ext2_filsys fs_;
  Allocator& allocator_;
  ContentWriter& content_;
};

}  // namespace vacant::img
