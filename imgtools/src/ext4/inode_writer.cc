#include "ext4/inode_writer.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "ext4/directory.h"

namespace vacant::img {

namespace {

constexpr std::uint16_t kExtraBytes = 32;
constexpr std::uint64_t kMaxExtentBlocks = 32'768;  // of one initialised extent
constexpr std::uint16_t kInlineExtents = 4;         // in the inode itself
constexpr std::size_t kFastSymlinkBytes = 60;       // i_block, with a zero at the end
constexpr std::uint32_t kMaxLinks = 65'000;
constexpr std::size_t kLostAndFoundBlocks = 4;  // fsck needs room where it must not allocate

std::uint16_t type_bits(const Node& node) {
  switch (node.kind) {
    case NodeKind::kDirectory:
      return S_IFDIR;
    case NodeKind::kFile:
      return S_IFREG;
    case NodeKind::kSymlink:
      return S_IFLNK;
    case NodeKind::kSpecial:
      break;
  }
  switch (node.special) {
    case SpecialKind::kFifo:
      return S_IFIFO;
    case SpecialKind::kSocket:
      return S_IFSOCK;
    case SpecialKind::kCharacterDevice:
      return S_IFCHR;
    case SpecialKind::kBlockDevice:
      return S_IFBLK;
  }
  return S_IFIFO;
}

std::uint8_t entry_type(const Node& node) {
  switch (type_bits(node)) {
    case S_IFDIR:
      return EXT2_FT_DIR;
    case S_IFREG:
      return EXT2_FT_REG_FILE;
    case S_IFLNK:
      return EXT2_FT_SYMLINK;
    case S_IFIFO:
      return EXT2_FT_FIFO;
    case S_IFSOCK:
      return EXT2_FT_SOCK;
    case S_IFCHR:
      return EXT2_FT_CHRDEV;
    default:
      return EXT2_FT_BLKDEV;
  }
}

// 32 signed bits of seconds, two more in the low bits of the extra field, nanoseconds above them.
void put_times(ext2_inode_large& inode, const Attributes& attributes) {
  constexpr std::int64_t kLeast = INT32_MIN, kMost = kLeast + (std::int64_t{1} << 34) - 1;
  const std::int64_t seconds = std::clamp(attributes.mtime_seconds, kLeast, kMost);
  const auto low = static_cast<std::uint32_t>(seconds);
  const auto epoch = static_cast<std::uint32_t>((seconds - static_cast<std::int32_t>(low)) >> 32) & 3U;
  const std::uint32_t extra = epoch | attributes.mtime_nanoseconds << 2U;
  inode.i_atime = inode.i_ctime = inode.i_mtime = inode.i_crtime = low;
  inode.i_atime_extra = inode.i_ctime_extra = inode.i_mtime_extra = inode.i_crtime_extra = extra;
}

ext2_inode_large base_inode(const Node& node) {
  ext2_inode_large inode{};
  inode.i_mode = static_cast<__u16>(type_bits(node) | (node.attributes.mode & 07777U));
  inode.i_uid = static_cast<__u16>(node.attributes.uid);
  inode.i_uid_high = static_cast<__u16>(node.attributes.uid >> 16U);
  inode.i_gid = static_cast<__u16>(node.attributes.gid);
  inode.i_gid_high = static_cast<__u16>(node.attributes.gid >> 16U);
  inode.i_links_count = static_cast<__u16>(node.names);
  inode.i_extra_isize = kExtraBytes;
  put_times(inode, node.attributes);
  return inode;
}

// SAFETY: libext2fs takes the large inode through a pointer to the small one, which is its beginning.
ext2_inode* small(ext2_inode_large& inode) { return reinterpret_cast<ext2_inode*>(&inode); }

// As the kernel's new_encode_dev, or the old form for small numbers.
void put_device(ext2_inode_large& inode, std::uint32_t major, std::uint32_t minor) {
  if (major < 256 && minor < 256)
    inode.i_block[0] = major << 8U | minor;
  else
    inode.i_block[1] = (minor & 0xffU) | major << 8U | (minor & ~0xffU) << 12U;
}

std::vector<Run> cut_runs(const std::vector<Run>& runs) {
  std::vector<Run> out;
  for (const Run& run : runs)
    for (std::uint64_t at = 0; at < run.count; at += kMaxExtentBlocks)
      out.push_back({run.logical + at, run.physical + at, std::min(kMaxExtentBlocks, run.count - at)});
  return out;
}

void put_extent_header(ext2_inode_large& inode, std::uint16_t entries) {
  ext3_extent_header header{};
  header.eh_magic = EXT3_EXT_MAGIC;
  header.eh_entries = entries;
  header.eh_max = kInlineExtents;
  std::memcpy(inode.i_block, &header, sizeof header);
  inode.i_flags |= EXT4_EXTENTS_FL;
}

ext3_extent encode(const Run& run) {
  ext3_extent extent{};
  extent.ee_block = static_cast<__u32>(run.logical);
  extent.ee_len = static_cast<__u16>(run.count);
  extent.ee_start = static_cast<__u32>(run.physical);
  extent.ee_start_hi = static_cast<__u16>(run.physical >> 32U);
  return extent;
}

}  // namespace

// More extents than the inode holds: libext2fs grows the tree.
Result<void> InodeWriter::put_extents(std::uint32_t number, ext2_inode_large& inode,
                                      const std::vector<Run>& runs) {
  put_extent_header(inode, 0);
  VACANT_TRY(io_.check(ext2fs_write_inode_full(fs_, number, small(inode), sizeof inode), "writing an inode"));
  ext2_extent_handle_t raw = nullptr;
  VACANT_TRY(io_.check(ext2fs_extent_open2(fs_, number, small(inode), &raw), "opening an extent tree"));
  const std::unique_ptr<struct ext2_extent_handle, decltype(&ext2fs_extent_free)> tree(raw,
                                                                                       &ext2fs_extent_free);
  for (const Run& run : runs) {
    ext2fs_extent extent{};
    extent.e_lblk = run.logical;
    extent.e_pblk = run.physical;
    extent.e_len = static_cast<__u32>(run.count);
    VACANT_TRY(io_.check(ext2fs_extent_insert(tree.get(), EXT2_EXTENT_INSERT_AFTER, &extent),
                         "growing an extent tree"));
  }
  return {};
}

Result<void> InodeWriter::put(Node& node, ext2_inode_large& inode, const std::vector<Run>& runs) {
  const std::vector<Run> cut = cut_runs(runs);
  std::uint64_t blocks = 0;
  for (const Run& run : cut) blocks += run.count;
  VACANT_TRY(io_.check(ext2fs_iblk_set(fs_, small(inode), blocks), "counting blocks"));
  if (cut.size() <= kInlineExtents) {
    put_extent_header(inode, static_cast<std::uint16_t>(cut.size()));
    for (std::size_t i = 0; i < cut.size(); ++i) {
      const ext3_extent extent = encode(cut[i]);
      std::memcpy(&inode.i_block[3 * (i + 1)], &extent, sizeof extent);
    }
  } else {
    VACANT_TRY(put_extents(node.inode, inode, cut));
  }
  return io_.check(ext2fs_write_inode_full(fs_, node.inode, small(inode), sizeof inode), "writing an inode");
}

Result<void> InodeWriter::put_symlink(Node& node, ext2_inode_large& inode) {
  const std::string& target = node.symlink_target;
  inode.i_size = static_cast<__u32>(target.size());
  if (target.size() >= kFastSymlinkBytes) {
    const auto runs = VACANT_TRY(content_.write(vacant::as_bytes(target)));
    return put(node, inode, runs);
  }
  std::memcpy(inode.i_block, target.data(), target.size());
  return io_.check(ext2fs_write_inode_full(fs_, node.inode, small(inode), sizeof inode), "writing an inode");
}

Result<void> InodeWriter::put_xattrs(const Node& node, const std::string& path) {
  if (node.attributes.xattrs.empty()) return {};
  ext2_xattr_handle* raw = nullptr;
  VACANT_TRY(io_.check(ext2fs_xattrs_open(fs_, node.inode, &raw), "opening extended attributes"));
  const auto close = [](ext2_xattr_handle* handle) { ext2fs_xattrs_close(&handle); };
  const std::unique_ptr<ext2_xattr_handle, decltype(close)> handle(raw, close);
  VACANT_TRY(io_.check(ext2fs_xattrs_read(handle.get()), "reading extended attributes"));
  for (const auto& [name, value] : node.attributes.xattrs)
    VACANT_TRY(io_.check(ext2fs_xattr_set(handle.get(), name.c_str(), value.data(), value.size()),
                         fmt::format("{}: the extended attribute {}", printable(path), printable(name))));
  return {};
}

Result<std::vector<Run>> InodeWriter::take_blocks(std::uint64_t count) {
  std::vector<Run> runs;
  for (std::uint64_t done = 0; done < count;) {
    append_run(runs, VACANT_TRY(allocator_.take(done, count - done)));
    done = runs.back().logical + runs.back().count;
  }
  return runs;
}

Result<void> InodeWriter::write_directory(Node& node, std::uint32_t parent_inode, const std::string& path) {
  std::vector<DirectoryEntry> entries;
  entries.reserve(node.children.size());
  std::uint32_t folders = 0;
  for (const auto& [name, child] : node.children) {
    entries.push_back({name, child->inode, entry_type(*child)});
    folders += child->kind == NodeKind::kDirectory ? 1 : 0;
  }
  const bool lost_and_found = path == "lost+found";
  auto made =
      directory_blocks(fs_, node.inode, parent_inode, entries, lost_and_found ? kLostAndFoundBlocks : 1);
  if (!made) return fail(made.error().in(printable(path)));
  ext2_inode_large inode = base_inode(node);
  // "." and the ".." of each folder in it; 1 means "not counted" (dir_nlink).
  inode.i_links_count = static_cast<__u16>(folders + 2 >= kMaxLinks ? 1 : folders + 2);
  if (made->indexed) inode.i_flags |= EXT2_INDEX_FL;
  VACANT_TRY(io_.check(ext2fs_inode_size_set(fs_, small(inode), made->blocks.size() * fs_->blocksize),
                       "a folder's size"));
  const std::vector<Run> runs = VACANT_TRY(take_blocks(made->blocks.size()));
  VACANT_TRY(put(node, inode, runs));
  for (const Run& run : runs)
    for (std::uint64_t i = 0; i < run.count; ++i)
      VACANT_TRY(io_.check(
          ext2fs_write_dir_block4(fs_, run.physical + i, made->blocks[run.logical + i].data(), 0, node.inode),
          "writing a folder"));
  return {};
}

Result<void> InodeWriter::write(Node& node, std::uint32_t parent_inode, const std::string& path) {
  ext2fs_inode_alloc_stats2(fs_, node.inode, +1, node.kind == NodeKind::kDirectory ? 1 : 0);
  ext2_inode_large inode = base_inode(node);
  switch (node.kind) {
    case NodeKind::kDirectory:
      VACANT_TRY(write_directory(node, parent_inode, path));
      break;
    case NodeKind::kFile:
      VACANT_TRY(io_.check(ext2fs_inode_size_set(fs_, small(inode), node.size_bytes), "a file's size"));
      VACANT_TRY(put(node, inode, node.runs));
      break;
    case NodeKind::kSymlink:
      VACANT_TRY(put_symlink(node, inode));
      break;
    case NodeKind::kSpecial:
      if (node.special == SpecialKind::kCharacterDevice || node.special == SpecialKind::kBlockDevice)
        put_device(inode, node.major, node.minor);
      VACANT_TRY(io_.check(ext2fs_write_inode_full(fs_, node.inode, small(inode), sizeof inode),
                           "writing an inode"));
      break;
  }
  return put_xattrs(node, path);
}

}  // namespace vacant::img
