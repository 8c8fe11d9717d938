#include "ext4/directory.h"

#include <algorithm>
#include <numeric>

namespace vacant::img {

namespace {

constexpr std::size_t kHeaderBytes = 8;  // inode, record length, name length, type
constexpr std::size_t kTailBytes =
    12;  // struct ext2_dir_entry_tail: an entry without a name, and the checksum
constexpr std::size_t kDotBytes = 12;  // "." and ".." each
constexpr std::size_t kRootInfoBytes = 8;
constexpr std::size_t kIndexEntryBytes = 8;
constexpr std::size_t kIndexTailBytes = 8;

std::size_t record_bytes(std::size_t name_bytes) { return round_up(kHeaderBytes + name_bytes, 4); }

// Record lengths of 65536 do not occur: blocks have at most 4 KiB here.
void put_entry(ByteVector& block, std::size_t at, const DirectoryEntry& entry, std::size_t record) {
  store_le(block, at, entry.inode);
  store_le(block, at + 4, static_cast<std::uint16_t>(record));
  block[at + 6] = static_cast<std::byte>(entry.name.size());
  block[at + 7] = static_cast<std::byte>(entry.type);
  std::ranges::copy(vacant::as_bytes(entry.name),
                    block.begin() + static_cast<std::ptrdiff_t>(at + kHeaderBytes));
}

// One block of entries, the last of which reaches up to the tail.
class LeafBlock {
 public:
  explicit LeafBlock(std::size_t block_bytes) : bytes_(block_bytes) {}
  [[nodiscard]] bool fits(const DirectoryEntry& entry) const {
    return used_ + record_bytes(entry.name.size()) <= bytes_.size() - kTailBytes;
  }
  void add(const DirectoryEntry& entry) {
    last_ = used_;
    put_entry(bytes_, used_, entry, record_bytes(entry.name.size()));
    used_ += record_bytes(entry.name.size());
  }
  ByteVector take() {
    const std::size_t end = bytes_.size() - kTailBytes;
    store_le(bytes_, last_ + 4, static_cast<std::uint16_t>(end - last_));
    store_le(bytes_, end + 4, static_cast<std::uint16_t>(kTailBytes));
    bytes_[end + 7] = static_cast<std::byte>(EXT2_DIR_NAME_LEN_CSUM >> 8);
    return std::move(bytes_);
  }

 private:
  ByteVector bytes_;
  std::size_t used_ = 0, last_ = 0;
};

struct Hashed {
  std::uint32_t hash, minor;
  std::size_t index;
  friend auto operator<=>(const Hashed&, const Hashed&) = default;
};

// A leaf of the tree and the least hash in it; the lowest bit says that the leaf before ends in the same one.
struct HashedLeaf {
  std::uint32_t hash;
  ByteVector bytes;
};

std::vector<HashedLeaf> hashed_leaves(ext2_filsys fs, const std::vector<DirectoryEntry>& entries) {
  std::vector<Hashed> order;
  order.reserve(entries.size());
  for (const DirectoryEntry& entry : entries) {
    Hashed hashed{0, 0, order.size()};
    ext2fs_dirhash2(fs->super->s_def_hash_version, entry.name.data(), static_cast<int>(entry.name.size()),
                    nullptr, 0, fs->super->s_hash_seed, &hashed.hash, &hashed.minor);
    order.push_back(hashed);
  }
  std::ranges::sort(order);
  std::vector<HashedLeaf> leaves;
  LeafBlock leaf(fs->blocksize);
  std::uint32_t first = 0, before = 0;
  for (const Hashed& hashed : order) {
    const DirectoryEntry& entry = entries[hashed.index];
    if (!leaf.fits(entry)) {
      leaves.push_back({first, leaf.take()});
      leaf = LeafBlock(fs->blocksize);
      first = hashed.hash | (hashed.hash == before ? 1U : 0U);
    }
    leaf.add(entry);
    before = hashed.hash;
  }
  leaves.push_back({first, leaf.take()});
  return leaves;
}

struct Child {
  std::uint32_t hash, block;
};

// Limit and count, then (hash, block) pairs; the first one's hash gives its place to the two numbers.
void put_index(ByteVector& block, std::size_t at, const std::vector<Child>& children) {
  const std::size_t limit = (block.size() - at - kIndexTailBytes) / kIndexEntryBytes;
  VACANT_ASSERT(!children.empty() && children.size() <= limit);
  for (std::size_t i = 0; i < children.size(); ++i) {
    store_le(block, at + i * kIndexEntryBytes, children[i].hash);
    store_le(block, at + i * kIndexEntryBytes + 4, children[i].block);
  }
  store_le(block, at, static_cast<std::uint16_t>(limit));
  store_le(block, at + 2, static_cast<std::uint16_t>(children.size()));
}

void put_dots(ByteVector& block, std::uint32_t self, std::uint32_t parent) {
  put_entry(block, 0, {".", self, EXT2_FT_DIR}, kDotBytes);
  put_entry(block, kDotBytes, {"..", parent, EXT2_FT_DIR}, block.size() - kDotBytes);
}

constexpr std::size_t kRootIndexAt = 2 * kDotBytes + kRootInfoBytes;

ByteVector index_root(ext2_filsys fs, std::uint32_t self, std::uint32_t parent, bool two_levels,
                      const std::vector<Child>& children) {
  ByteVector block(fs->blocksize);
  put_dots(block, self, parent);
  block[2 * kDotBytes + 4] = static_cast<std::byte>(fs->super->s_def_hash_version);
  block[2 * kDotBytes + 5] = static_cast<std::byte>(kRootInfoBytes);
  block[2 * kDotBytes + 6] = static_cast<std::byte>(two_levels ? 1 : 0);
  put_index(block, kRootIndexAt, children);
  return block;
}

ByteVector index_node(ext2_filsys fs, const std::vector<Child>& children) {
  ByteVector block(fs->blocksize);
  store_le(block, 4, static_cast<std::uint16_t>(block.size()));  // an unused entry over the whole block
  put_index(block, kHeaderBytes, children);
  return block;
}

// Root, then the nodes of the second level if there is one, then the leaves.
Result<DirectoryBlocks> hash_tree(ext2_filsys fs, std::uint32_t self, std::uint32_t parent,
                                  const std::vector<DirectoryEntry>& entries) {
  std::vector<HashedLeaf> leaves = hashed_leaves(fs, entries);
  const std::size_t root_limit = (fs->blocksize - kRootIndexAt - kIndexTailBytes) / kIndexEntryBytes;
  const std::size_t node_limit = (fs->blocksize - kHeaderBytes - kIndexTailBytes) / kIndexEntryBytes;
  const bool two_levels = leaves.size() > root_limit;
  const std::size_t nodes = two_levels ? (leaves.size() + node_limit - 1) / node_limit : 0;
  if (nodes > root_limit) return fail(Code::kLimit, "a folder has more entries than ext4's hash tree holds");
  std::vector<Child> root;
  std::vector<std::vector<Child>> node_children(nodes);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Child child{leaves[i].hash, static_cast<std::uint32_t>(1 + nodes + i)};
    (two_levels ? node_children[i / node_limit] : root).push_back(child);
  }
  for (std::size_t i = 0; i < nodes; ++i)
    root.push_back({node_children[i].front().hash, static_cast<std::uint32_t>(1 + i)});
  DirectoryBlocks out;
  out.indexed = true;
  out.blocks.push_back(index_root(fs, self, parent, two_levels, root));
  for (const auto& children : node_children) out.blocks.push_back(index_node(fs, children));
  for (HashedLeaf& leaf : leaves) out.blocks.push_back(std::move(leaf.bytes));
  return out;
}

// An entry that is in no use and reaches up to the tail.
ByteVector empty_block(std::size_t block_bytes) {
  LeafBlock leaf(block_bytes);
  leaf.add({"", 0, 0});
  return leaf.take();
}

}  // namespace

Result<DirectoryBlocks> directory_blocks(ext2_filsys fs, std::uint32_t self, std::uint32_t parent,
                                         const std::vector<DirectoryEntry>& entries,
                                         std::size_t least_blocks) {
  const std::size_t names = std::accumulate(
      entries.begin(), entries.end(), std::size_t{0},
      [](std::size_t sum, const DirectoryEntry& entry) { return sum + record_bytes(entry.name.size()); });
  if (2 * kDotBytes + names > fs->blocksize - kTailBytes) return hash_tree(fs, self, parent, entries);
  DirectoryBlocks out;
  LeafBlock leaf(fs->blocksize);
  leaf.add({".", self, EXT2_FT_DIR});
  leaf.add({"..", parent, EXT2_FT_DIR});
  for (const DirectoryEntry& entry : entries) leaf.add(entry);
  out.blocks.push_back(leaf.take());
  while (out.blocks.size() < least_blocks) out.blocks.push_back(empty_block(fs->blocksize));
  return out;
}

}  // namespace vacant::img
