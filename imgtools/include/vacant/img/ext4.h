// Makes an ext4 file system in a disk image, empty or with a tree of files, without mounting and without
// root. Every block is written by us or reads as zero.
//
// Layout: files in the order in which they are added, each in one run where there is room; folders and
// inodes afterwards, in the order of their paths. The image is a function of the options and of what was
// added, in the order in which it was added: no clock, no host name, no owner of the process gets in.
// Format: the kernel's Documentation/filesystems/ext4; written through libext2fs.
//
// Not thread-safe. Memory: some 300 bytes an entry and its names, and 64 MiB of write-back.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vacant/base/cancel.h"
#include "vacant/base/device.h"
#include "vacant/base/result.h"

namespace vacant::img {

using Uuid = std::array<std::byte, 16>;
Result<Uuid> parse_uuid(std::string_view text);  // 8-4-4-4-12 hex digits
std::string to_string(const Uuid& uuid);
Uuid random_uuid();
// A version 8 UUID that is a function of the bytes.
Uuid uuid_of(ByteSpan bytes);

struct Ext4Options {
  std::uint64_t size_bytes = 0;      // of the file system; a multiple of block_bytes is used
  std::uint32_t block_bytes = 4096;  // 1024, 2048 or 4096
  std::uint64_t inode_count = 0;     // 0: one for each 16 KiB
  std::optional<Uuid> uuid;          // nullopt: a function of what is in the file system
  std::string label;                 // at most 16 bytes
  // Of the file system and what it makes itself; 1 .. 2^34-1. nullopt: the latest of what was added.
  std::optional<std::int64_t> time_seconds;
  std::uint32_t journal_mib = 0;  // 0: what suits the size
  bool journal = true;
  bool resize_inode = false;           // room for growing while mounted beyond what meta_bg gives
  std::uint32_t reserved_percent = 5;  // of the blocks, for root; 0..50
};

// Of a file of any type. Times are those of the last change of the content; all four of the inode are set
// to it.
struct Attributes {
  std::uint32_t mode = 0;  // permission bits only: 07777
  std::uint32_t uid = 0, gid = 0;
  std::int64_t mtime_seconds = 0;
  std::uint32_t mtime_nanoseconds = 0;
  // Name with its prefix ("user.x", "security.capability", "system.posix_acl_access") and value, as the
  // kernel hands them out.
  std::map<std::string, std::string> xattrs;
};

enum class SpecialKind { kFifo, kSocket, kCharacterDevice, kBlockDevice };

// The content of a file, read once and in order.
class FileContent {
 public:
  virtual ~FileContent() = default;
  // A part that is known to read as zeros, from `offset_bytes` on; 0 if the next byte must be read.
  virtual Result<std::uint64_t> zeros_at(std::uint64_t /*offset_bytes*/) { return 0; }
  // Fills `out` with what stands at the offset, exactly.
  virtual Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) = 0;
  // The open file that it comes from, whose blocks may be shared with the image; -1 if there is none.
  [[nodiscard]] virtual int file_descriptor() const { return -1; }
};

struct BuildSummary {
  std::uint64_t directories = 0, files = 0, symlinks = 0, specials = 0, hard_links = 0;
  std::uint64_t content_bytes = 0;  // of the files, holes included
  std::uint64_t shared_bytes = 0;   // of them, shared with the source by its file system
  std::uint64_t used_bytes = 0;     // blocks in use in the file system
  Uuid uuid{};
  std::vector<Extent> written;  // what the device was asked to write, sorted and merged
};

class Ext4Builder {
 public:
  // `target` must read as zeros in its first size_bytes, and outlive the builder.
  static Result<Ext4Builder> start(BlockDevice& target, const Ext4Options& options);
  Ext4Builder(Ext4Builder&&) noexcept;
  Ext4Builder& operator=(Ext4Builder&&) noexcept;
  ~Ext4Builder();

  // Paths: components of 1..255 bytes other than "." and "..", joined by "/", no slash in front; "" is the
  // root. Folders that were not named are made with mode 0755. What is added twice replaces the former one,
  // as when an archive is unpacked; only a folder that is named again keeps what is in it.
  // Errors: kInvalidArgument (a path like that cannot be), kLimit (no room; a value too large).
  Result<void> add_directory(std::string_view path, const Attributes& attributes);
  Result<void> add_file(std::string_view path, const Attributes& attributes, std::uint64_t size_bytes,
                        FileContent& content);
  Result<void> add_symlink(std::string_view path, const Attributes& attributes, std::string_view target);
  Result<void> add_special(std::string_view path, const Attributes& attributes, SpecialKind kind,
                           std::uint32_t major, std::uint32_t minor);
  // A further name of a file that was added before.
  Result<void> add_hard_link(std::string_view path, std::string_view existing);

  // Writes everything that is left, the superblock last. The builder is spent.
  Result<BuildSummary> finish();

 private:
  struct State;
  explicit Ext4Builder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace vacant::img
