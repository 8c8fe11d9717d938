#include "vacant/base/tree_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <vector>

namespace vacant {

namespace {

constexpr std::size_t kOpenFolders = 64;
constexpr std::size_t kMaxXattrBytes = 65'536;  // the kernel's own limit, of names and of a value
constexpr std::size_t kShownBytes = 200;

std::unexpected<Error> failed(std::string_view doing, std::string_view path) {
  const int problem = errno;
  return fail_errno(fmt::format("{} {}", doing, path.empty() ? "the folder" : printable(path)), problem);
}

FileType type_of(mode_t mode) {
  if (S_ISDIR(mode)) return FileType::kDirectory;
  if (S_ISREG(mode)) return FileType::kRegular;
  if (S_ISLNK(mode)) return FileType::kSymlink;
  if (S_ISFIFO(mode)) return FileType::kFifo;
  if (S_ISSOCK(mode)) return FileType::kSocket;
  return S_ISCHR(mode) ? FileType::kCharacterDevice : FileType::kBlockDevice;
}

FileStatus status_of(const struct stat& raw) {
  FileStatus out;
  out.type = type_of(raw.st_mode);
  out.mode = raw.st_mode & 07777U;
  out.uid = raw.st_uid;
  out.gid = raw.st_gid;
  out.size_bytes = static_cast<std::uint64_t>(raw.st_size);
  out.allocated_bytes = static_cast<std::uint64_t>(raw.st_blocks) * 512;
  out.mtime_seconds = raw.st_mtim.tv_sec;
  out.mtime_nanoseconds = static_cast<std::uint32_t>(raw.st_mtim.tv_nsec);
  out.major = major(raw.st_rdev);
  out.minor = minor(raw.st_rdev);
  out.links = raw.st_nlink;
  out.device_id = raw.st_dev;
  out.inode = raw.st_ino;
  return out;
}

Result<FileStatus> status_of_fd(int fd, std::string_view path) {
  struct stat raw{};
  if (::fstat(fd, &raw) != 0) return failed("looking at", path);
  return status_of(raw);
}

// Names of extended attributes, or the value of one, with whatever call fits the file.
template <class Call>
Result<std::string> xattr_bytes(std::string_view path, const Call& call) {
  std::string bytes(256, '\0');
  for (;;) {
    const ssize_t got = call(bytes.data(), bytes.size());
    if (got >= 0) {
      bytes.resize(static_cast<std::size_t>(got));
      return bytes;
    }
    if (errno == EOPNOTSUPP || errno == ENODATA) return std::string();
    if (errno != ERANGE || bytes.size() >= kMaxXattrBytes)
      return failed("reading the extended attributes of", path);
    bytes.resize(kMaxXattrBytes);
  }
}

Result<std::vector<std::string>> names_in(int fd, std::string_view path) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return failed("reading the folder", path);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(copy), &::closedir);
  if (listing == nullptr) {
    ::close(copy);
    return failed("reading the folder", path);
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(listing.get());
    if (entry == nullptr && errno != 0) return failed("reading the folder", path);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

UniqueFd open_folder(int parent, const std::string& name) {
  return UniqueFd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

class Walk {
 public:
  Walk(const WalkOptions& options, const std::function<Result<void>(const WalkEntry&)>& visit)
      : options_(options), visit_(visit) {}

  Result<void> run(const std::string& folder) {
    UniqueFd root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root.valid()) return fail_errno(fmt::format("opening the folder {}", folder), errno);
    root_device_ = VACANT_TRY(status_of_fd(root.get(), "")).device_id;
    VACANT_TRY(enter(std::move(root), ""));
    while (frames_.size() > 1 || frames_.front().next < frames_.front().names.size()) {
      if (options_.cancel != nullptr && options_.cancel->cancelled())
        return fail(Code::kCancelled, "stopped");
      Frame& frame = frames_.back();
      if (frame.next == frame.names.size()) {
        frames_.pop_back();
        continue;
      }
      const std::string name = frame.names[frame.next++];
      VACANT_TRY(reopen(frame));
      VACANT_TRY(look_at(frame.fd.get(), name, frame.path.empty() ? name : frame.path + "/" + name));
    }
    return {};
  }

 private:
  struct Frame {
    UniqueFd fd;
    std::string path;
    std::vector<std::string> names;
    std::size_t next = 0;
  };

  Result<void> enter(UniqueFd fd, const std::string& path) {
    WalkEntry entry;
    entry.path = path;
    entry.status = VACANT_TRY(status_of_fd(fd.get(), path));
    entry.xattrs = VACANT_TRY(xattrs_of(fd.get(), "", path));
    VACANT_TRY(visit_(entry));
    if (options_.one_file_system && entry.status.device_id != root_device_) return {};
    Frame frame{std::move(fd), path, {}, 0};
    frame.names = VACANT_TRY(names_in(frame.fd.get(), path));
    frames_.push_back(std::move(frame));
    // Those far above are closed, and opened again on the way back; the root stays open.
    if (frames_.size() > kOpenFolders + 1) frames_[frames_.size() - kOpenFolders].fd.reset();
    return {};
  }

  // Opens the folder of this frame again, from the root down.
  Result<void> reopen(Frame& frame) {
    if (frame.fd.valid()) return {};
    UniqueFd at(::fcntl(frames_.front().fd.get(), F_DUPFD_CLOEXEC, 0));
    for (std::size_t begin = 0; begin < frame.path.size();) {
      const std::size_t end = std::min(frame.path.find('/', begin), frame.path.size());
      at = open_folder(at.get(), frame.path.substr(begin, end - begin));
      if (!at.valid()) return failed("opening the folder", frame.path);
      begin = end + 1;
    }
    frame.fd = std::move(at);
    return {};
  }

  Result<void> look_at(int folder, const std::string& name, const std::string& path) {
    struct stat raw{};
    if (::fstatat(folder, name.c_str(), &raw, AT_SYMLINK_NOFOLLOW) != 0) return failed("looking at", path);
    if (S_ISDIR(raw.st_mode)) {
      UniqueFd fd = open_folder(folder, name);
      if (!fd.valid()) return failed("opening the folder", path);
      return enter(std::move(fd), path);
    }
    if (S_ISREG(raw.st_mode)) return visit_file(folder, name, path);
    WalkEntry entry;
    entry.path = path;
    entry.status = status_of(raw);
    entry.xattrs = VACANT_TRY(xattrs_of(-1, fmt::format("/proc/self/fd/{}/{}", folder, name), path));
    if (S_ISLNK(raw.st_mode)) {
      entry.symlink_target.resize(PATH_MAX);
      const ssize_t got =
          ::readlinkat(folder, name.c_str(), entry.symlink_target.data(), entry.symlink_target.size());
      if (got < 0) return failed("reading the link", path);
      entry.symlink_target.resize(static_cast<std::size_t>(got));
    }
    return visit_(entry);
  }

  Result<void> visit_file(int folder, const std::string& name, const std::string& path) {
    // Not blocking: a FIFO may have taken the name since.
    const HostFile file(
        UniqueFd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)), path);
    if (file.descriptor() < 0) return failed("opening", path);
    WalkEntry entry;
    entry.path = path;
    entry.status = VACANT_TRY(file.status());
    if (entry.status.type != FileType::kRegular)
      return fail(Code::kIo, fmt::format("{} changed while it was read", printable(path)));
    entry.xattrs = VACANT_TRY(xattrs_of(file.descriptor(), "", path));
    entry.file = &file;
    return visit_(entry);
  }

  // Through the descriptor, or by name where there is none.
  Result<std::map<std::string, std::string>> xattrs_of(int fd, const std::string& name,
                                                       std::string_view path) {
    std::map<std::string, std::string> out;
    if (!options_.want_xattr) return out;
    const std::string names = VACANT_TRY(xattr_bytes(path, [&](char* to, std::size_t size) {
      return fd >= 0 ? ::flistxattr(fd, to, size) : ::llistxattr(name.c_str(), to, size);
    }));
    for (std::size_t at = 0; at < names.size();) {
      const std::string key = names.c_str() + at;
      at += key.size() + 1;
      if (!options_.want_xattr(key)) continue;
      out[key] = VACANT_TRY(xattr_bytes(path, [&](char* to, std::size_t size) {
        return fd >= 0 ? ::fgetxattr(fd, key.c_str(), to, size)
                       : ::lgetxattr(name.c_str(), key.c_str(), to, size);
      }));
    }
    return out;
  }

  const WalkOptions& options_;
  const std::function<Result<void>(const WalkEntry&)>& visit_;
  std::vector<Frame> frames_;
  std::uint64_t root_device_ = 0;
};

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text.size() > kShownBytes ? out + "..." : out;
}

Result<void> HostFile::read(std::uint64_t offset_bytes, MutableByteSpan out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("reading", path_);
    if (got == 0)
      return fail(Code::kIo, fmt::format("{} became shorter while it was read", printable(path_)));
    out = out.subspan(static_cast<std::size_t>(got));
    offset_bytes += static_cast<std::uint64_t>(got);
  }
  return {};
}

std::uint64_t HostFile::next_data(std::uint64_t offset_bytes) const {
  const off_t data = ::lseek(fd_.get(), static_cast<off_t>(offset_bytes), SEEK_DATA);
  if (data >= 0) return static_cast<std::uint64_t>(data);
  return errno == ENXIO ? UINT64_MAX : offset_bytes;
}

Result<FileStatus> HostFile::status() const { return status_of_fd(fd_.get(), path_); }

Result<void> walk_tree(const std::string& folder, const WalkOptions& options,
                       const std::function<Result<void>(const WalkEntry&)>& visit) {
  return Walk(options, visit).run(folder);
}

}  // namespace vacant
