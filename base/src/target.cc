#include "vacant/base/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "device_open.h"
#include "vacant/base/file.h"

namespace vacant {

namespace {

std::string hidden_name(const std::string& path) {
  return fmt::format("{}/.vacant-{}-XXXXXX", folder_of(path),
                     std::filesystem::path(path).filename().string());
}

// A nameless file; where the file system has none, a hidden one whose name is put into `temporary`.
Result<UniqueFd> create_hidden(const std::string& path, unsigned mode, std::string& temporary) {
  UniqueFd fd(::open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (fd.valid()) return fd;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)
    return fail_errno(fmt::format("creating {}", path), errno);
  std::string name = hidden_name(path);
  fd.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return fail_errno(fmt::format("creating {}", path), errno);
  temporary = name;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd.get(), mode & ~mask) != 0)
    return fail_errno(fmt::format("setting the mode of {}", path), errno);
  return fd;
}

// Gives the nameless file behind `fd` a name, which must be free.
Result<void> link_as(int fd, const std::string& name) {
  const std::string self = fmt::format("/proc/self/fd/{}", fd);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return fail_errno(fmt::format("naming {}", name), errno);
  return {};
}

// A free hidden name for a file that is about to replace another.
Result<std::string> link_hidden(int fd, const std::string& path) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    std::string name = hidden_name(path);
    // mkostemp makes the name's file; only the name is wanted.
    const UniqueFd unused(::mkostemp(name.data(), O_CLOEXEC));
    if (!unused.valid()) return fail_errno(fmt::format("creating a file beside {}", path), errno);
    ::unlink(name.c_str());
    const auto linked = link_as(fd, name);
    if (linked) return name;
    if (linked.error().sys_errno != EEXIST) return fail(linked.error());
  }
  return fail(Code::kIo, fmt::format("no free name beside {}", path));
}

Result<void> check_existing(const std::string& path, const TargetOptions& options,
                            const BlockDevice& device) {
  if (device.size_bytes() >= options.size_bytes) return {};
  return fail(Code::kInvalidArgument,
              fmt::format("{} has {} bytes; {} are needed", path, device.size_bytes(), options.size_bytes));
}

Result<std::unique_ptr<BlockDevice>> open_existing(const std::string& path, const TargetOptions& options) {
  OpenOptions open;
  open.writable = true;
  auto device = open_device(path, open);
  if (!device) {
    if (device.error().sys_errno == EBUSY)
      return fail(Code::kPermission, fmt::format("{} is mounted or in use: unmount it first", path));
    return fail(device.error());
  }
  if (::flock((*device)->file_descriptor(), LOCK_EX | LOCK_NB) != 0)
    return fail(Code::kPermission, fmt::format("{} is being written by another process", path));
  VACANT_TRY(check_existing(path, options, **device));
  return device;
}

}  // namespace

Result<Target> Target::open(const std::string& path, const TargetOptions& options) {
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) return fail_errno(fmt::format("looking at {}", path), errno);
  if (exists && !options.overwrite)
    return fail(Code::kInvalidArgument, fmt::format("{} exists already", path));
  Target target;
  target.path_ = path;
  target.overwrite_ = options.overwrite;
  if (exists && (!S_ISREG(status.st_mode) || options.in_place)) {
    target.device_ = VACANT_TRY(open_existing(path, options));
    return target;
  }
  if (!exists && options.in_place)
    return fail(Code::kNotFound, fmt::format("{} does not exist: nothing to write over in place", path));
  target.is_new_ = true;
  UniqueFd fd = VACANT_TRY(create_hidden(path, options.mode, target.temporary_));
  const std::uint64_t size_bytes =
      options.size_bytes != 0 || !exists ? options.size_bytes : static_cast<std::uint64_t>(status.st_size);
  if (size_bytes > static_cast<std::uint64_t>(INT64_MAX) ||
      ::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0)
    return fail_errno(fmt::format("making {} {} bytes long", path, size_bytes),
                      size_bytes > static_cast<std::uint64_t>(INT64_MAX) ? EFBIG : errno);
  OpenOptions open;
  open.writable = true;
  target.device_ = VACANT_TRY(wrap_local(std::move(fd), path, open));
  return target;
}

Target::~Target() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> Target::commit() {
  VACANT_TRY(device_->flush());
  if (!is_new_) return {};
  const int fd = device_->file_descriptor();
  if (temporary_.empty() && !overwrite_) {
    VACANT_TRY(link_as(fd, path_));
  } else {
    if (temporary_.empty()) temporary_ = VACANT_TRY(link_hidden(fd, path_));
    const unsigned flags = overwrite_ ? 0 : RENAME_NOREPLACE;
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), flags) != 0)
      return fail_errno(fmt::format("renaming to {}", path_), errno);
    temporary_.clear();
  }
  return sync_folder(folder_of(path_));
}

}  // namespace vacant
