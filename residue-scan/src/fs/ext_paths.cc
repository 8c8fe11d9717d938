#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "fs/ext_child.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxPathBytes = 4096;
constexpr int kMaxPathDepth = 256;
constexpr std::uint64_t kMaxEntries = 20'000'000;

struct Name {
  ext2_ino_t parent = 0;
  std::string text;
};

// Reads every directory once and keeps the names of directories and of the inodes that are wanted.
class NameCollector {
 public:
  NameCollector(ext2_filsys fs, const ExtRequest& request)
      : fs_(fs), wanted_(request.inodes.begin(), request.inodes.end()), max_names_(request.max_inodes) {}

  Result<void> collect() {
    ext2_inode_scan scan = nullptr;
    if (ext2fs_open_inode_scan(fs_, 0, &scan) != 0)
      return fail(Code::kCorrupt, "the inode tables cannot be read");
    ext2_ino_t number = 0;
    ext2_inode inode{};
    for (;;) {
      const errcode_t problem = ext2fs_get_next_inode(scan, &number, &inode);
      if (problem == EXT2_ET_BAD_BLOCK_IN_INODE_TABLE) continue;
      if ((problem != 0 && problem != EXT2_ET_INODE_CSUM_INVALID) || number == 0) break;
      if (inode.i_links_count == 0 || !LINUX_S_ISDIR(inode.i_mode)) continue;
      ext2fs_dir_iterate2(fs_, number, 0, nullptr, &NameCollector::on_entry, this);
      if (entries_ > kMaxEntries || names_.size() > max_names_) break;
    }
    ext2fs_close_inode_scan(scan);
    return {};
  }

  [[nodiscard]] std::string path_of(ext2_ino_t inode) const {
    std::string path;
    for (int depth = 0; depth < kMaxPathDepth && inode != EXT2_ROOT_INO; ++depth) {
      const auto name = names_.find(inode);
      if (name == names_.end() || path.size() + name->second.text.size() + 1 > kMaxPathBytes) return "";
      path.insert(0, "/" + name->second.text);
      inode = name->second.parent;
    }
    if (inode != EXT2_ROOT_INO) return "";
    return path.empty() ? "/" : path;
  }

 private:
  // SAFETY: libext2fs passes `self` through unchanged, and checks an entry's name against its block.
  static int on_entry(ext2_ino_t directory, int, ext2_dir_entry* entry, int, int, char*, void* self) {
    auto* collector = static_cast<NameCollector*>(self);
    if (++collector->entries_ > kMaxEntries) return DIRENT_ABORT;
    const std::string_view name(entry->name, static_cast<std::size_t>(ext2fs_dirent_name_len(entry)));
    if (entry->inode == 0 || name == "." || name == "..") return 0;
    const bool directory_entry =
        ext2fs_dirent_file_type(entry) == EXT2_FT_DIR || ext2fs_dirent_file_type(entry) == EXT2_FT_UNKNOWN;
    if (directory_entry || collector->wanted_.contains(entry->inode))
      collector->names_.try_emplace(entry->inode, Name{directory, std::string(name)});
    return 0;
  }

  ext2_filsys fs_;
  std::unordered_set<ext2_ino_t> wanted_;
  std::unordered_map<ext2_ino_t, Name> names_;
  std::uint64_t max_names_;
  std::uint64_t entries_ = 0;
};

}  // namespace

Result<void> resolve(ext2_filsys fs, const ExtRequest& request, ExtAnswer& answer) {
  NameCollector collector(fs, request);
  VACANT_TRY(collector.collect());
  for (const std::uint32_t inode : request.inodes) {
    std::string path = collector.path_of(inode);
    if (!path.empty()) answer.paths[inode] = std::move(path);
  }
  return {};
}

}  // namespace vacant::scan
