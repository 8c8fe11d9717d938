// Walks a folder of the host, top down, each folder's names in the order of their bytes. Descriptors are
// used throughout, and links never followed: what was looked at is what is read.
//
// Thread-safety: one walk runs on one thread; several may run at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "vacant/base/bytes.h"
#include "vacant/base/cancel.h"
#include "vacant/base/fd.h"
#include "vacant/base/result.h"

namespace vacant {

enum class FileType { kDirectory, kRegular, kSymlink, kFifo, kSocket, kCharacterDevice, kBlockDevice };

struct FileStatus {
  FileType type = FileType::kRegular;
  std::uint32_t mode = 0;  // permission bits only: 07777
  std::uint32_t uid = 0, gid = 0;
  std::uint64_t size_bytes = 0, allocated_bytes = 0;
  std::int64_t mtime_seconds = 0;
  std::uint32_t mtime_nanoseconds = 0;
  std::uint32_t major = 0, minor = 0;      // of a device
  std::uint64_t links = 1;                 // names that it has
  std::uint64_t device_id = 0, inode = 0;  // together: which file it is
};

// A regular file that is open for reading. Sole owner of its descriptor.
class HostFile {
 public:
  HostFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  // Exactly out.size() bytes, or an error (kIo also if the file has become shorter).
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) const;
  // The first byte from `offset_bytes` on that is not known to be a hole; UINT64_MAX: there is none.
  [[nodiscard]] std::uint64_t next_data(std::uint64_t offset_bytes) const;
  [[nodiscard]] Result<FileStatus> status() const;
  [[nodiscard]] int descriptor() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::string path_;  // for messages
};

struct WalkEntry {
  std::string_view path;  // from the folder on, "" for itself
  FileStatus status;
  std::map<std::string, std::string> xattrs;  // those that were wanted
  std::string symlink_target;
  const HostFile* file = nullptr;  // of a regular file, during the visit
};

struct WalkOptions {
  bool one_file_system = false;  // folders that something is mounted on are visited, but not entered
  std::function<bool(std::string_view name)> want_xattr;  // empty: none
  const CancelToken* cancel = nullptr;
};

// Calls `visit` for the folder itself and for everything in it. Ends with the first error, its own or the
// visitor's. At most 64 folders are open at a time, however deep it goes.
Result<void> walk_tree(const std::string& folder, const WalkOptions& options,
                       const std::function<Result<void>(const WalkEntry&)>& visit);

// For messages: bytes that are not printable ASCII escaped, long texts cut.
std::string printable(std::string_view text);

}  // namespace vacant
