// The tree of what goes into a file system, by path. Private to imgtools.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ext4/allocator.h"
#include "vacant/base/tree_walk.h"
#include "vacant/img/ext4.h"

namespace vacant::img {

enum class NodeKind { kDirectory, kFile, kSymlink, kSpecial };

struct Node {
  NodeKind kind = NodeKind::kDirectory;
  Attributes attributes;
  std::map<std::string, Node*, std::less<>> children;  // of a directory; hard links give one node two names
  std::vector<Run> runs;                               // of a file
  std::uint64_t size_bytes = 0;                        // of a file
  std::string symlink_target;
  SpecialKind special = SpecialKind::kFifo;
  std::uint32_t major = 0, minor = 0;
  std::uint32_t names = 0;  // directory entries that lead here, without "." and ".."
  std::uint32_t inode = 0;  // numbered at the end
};

// Owns the nodes; addresses are stable. No recursion anywhere: depth comes from outside.
class NodeTree {
 public:
  NodeTree();
  [[nodiscard]] Node& root() { return nodes_.front(); }
  // The node of a path; nullptr if there is none.
  [[nodiscard]] Node* find(std::string_view path);
  // A node to fill in at the path: folders on the way are made; one that is there is replaced, or kept if
  // both are folders. `dropped`: a node that lost its last name by it, else nullptr.
  Result<Node*> place(std::string_view path, NodeKind kind, Node*& dropped);
  // Gives `node` a further name.
  Result<void> link(std::string_view path, Node& node, Node*& dropped);

 private:
  struct Spot {
    Node* parent;
    std::string name;
  };
  Result<Spot> spot_of(std::string_view path);
  Result<void> vacate(const Spot& spot, bool directory_comes, Node*& dropped);
  std::deque<Node> nodes_;
};

// kInvalidArgument, with the reason, for a path that cannot be.
Result<std::vector<std::string_view>> split_path(std::string_view path);

}  // namespace vacant::img
