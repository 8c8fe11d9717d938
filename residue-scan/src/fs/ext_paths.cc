// Paths of inodes: one walk over the directories, breadth first, each directory once.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "fs/ext_walk.h"

namespace vacant::scan::fs {

namespace {

constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxDepth = 512;

struct Name {
  std::uint32_t parent = 0;
  std::string text;
};

struct PathWalk {
  const WalkRequest& request;
  std::unordered_map<std::uint32_t, Name> directories;  // how each was reached first
  std::unordered_map<std::uint32_t, Name> wanted;
  std::deque<std::uint32_t> queue;
  std::uint32_t current = 0;
  bool full = false;

  void add(std::uint32_t inode, std::string_view name, int file_type) {
    if (std::ranges::binary_search(request.paths_of, inode))
      wanted.try_emplace(inode, Name{current, std::string(name)});
    if (file_type != EXT2_FT_DIR && file_type != EXT2_FT_UNKNOWN) return;
    if (directories.size() >= request.max_inodes) {
      full = true;
      return;
    }
    if (directories.try_emplace(inode, Name{current, std::string(name)}).second) queue.push_back(inode);
  }

  static int on_entry(ext2_ino_t /*dir*/, int entry, ext2_dir_entry* dirent, int /*offset*/,
                      int /*blocksize*/, char* /*buffer*/, void* self_pointer) {
    auto& self = *static_cast<PathWalk*>(self_pointer);
    if (entry != DIRENT_OTHER_FILE || dirent->inode == 0) return 0;
    const auto length = static_cast<std::size_t>(ext2fs_dirent_name_len(dirent));
    self.add(dirent->inode, std::string_view(dirent->name, std::min<std::size_t>(length, EXT2_NAME_LEN)),
             ext2fs_dirent_file_type(dirent));
    return self.full ? DIRENT_ABORT : 0;
  }

  std::string path_of(const Name& last) const {
    std::string path = printable("/" + last.text, kMaxPathBytes);
    std::uint32_t at = last.parent;
    for (std::size_t depth = 0; at != EXT2_ROOT_INO; ++depth) {
      const auto found = directories.find(at);
      if (found == directories.end() || depth > kMaxDepth) return "";
      path.insert(0, printable("/" + found->second.text, kMaxPathBytes));
      if (path.size() > kMaxPathBytes) path.erase(0, path.size() - kMaxPathBytes);
      at = found->second.parent;
    }
    return path;
  }
};

}  // namespace

Result<Paths> find_paths(ext2_filsys fs, const WalkRequest& request) {
  PathWalk walk{request, {}, {}, {}, 0, false};
  walk.directories.emplace(EXT2_ROOT_INO, Name{});
  walk.queue.push_back(EXT2_ROOT_INO);
  while (!walk.queue.empty() && !walk.full) {
    walk.current = walk.queue.front();
    walk.queue.pop_front();
    // A directory that cannot be read, or a name of unknown type that is none, has no entries.
    static_cast<void>(ext2fs_dir_iterate2(fs, walk.current, 0, nullptr, PathWalk::on_entry, &walk));
  }
  Paths paths;
  if (std::ranges::binary_search(request.paths_of, std::uint32_t{EXT2_ROOT_INO}))
    paths.emplace(EXT2_ROOT_INO, "/");
  for (const auto& [inode, last] : walk.wanted)
    if (std::string path = walk.path_of(last); !path.empty()) paths.emplace(inode, std::move(path));
  return paths;
}

}  // namespace vacant::scan::fs
