#include "vacant/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace vacant {

namespace {

// Fills and renames the temporary file. The caller removes it on failure.
Result<void> fill_and_rename(UniqueFd fd, const std::string& temporary, const std::string& path,
                             ByteSpan bytes, unsigned mode) {
  if (::fchmod(fd.get(), mode) != 0) return fail_errno(fmt::format("setting the mode of {}", path), errno);
  const auto written = write_all(fd.get(), bytes);
  if (!written) return fail(written.error().in(fmt::format("writing {}", path)));
  if (::fsync(fd.get()) != 0) return fail_errno(fmt::format("syncing {}", path), errno);
  if (::close(fd.release()) != 0) return fail_errno(fmt::format("closing {}", path), errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail_errno(fmt::format("renaming to {}", path), errno);
  return {};
}

}  // namespace

Result<void> sync_folder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno(fmt::format("opening the folder {}", folder), errno);
  if (::fsync(fd.get()) != 0 && errno != EINVAL)
    return fail_errno(fmt::format("syncing the folder {}", folder), errno);
  return {};
}

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Result<ByteVector> read_fd(int fd, std::uint64_t limit_bytes) {
  ByteVector out;
  std::size_t used = 0;
  for (;;) {
    if (used == out.size()) out.resize(std::max<std::size_t>(64 * 1024, out.size() * 2));
    const ssize_t got = ::read(fd, out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("reading", errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > limit_bytes) return fail(Code::kLimit, fmt::format("longer than {} bytes", limit_bytes));
  }
  out.resize(used);
  return out;
}

Result<ByteVector> read_file(const std::string& path, std::uint64_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail_errno(fmt::format("opening {}", path), errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(fmt::format("looking at {}", path), errno);
  if (!S_ISREG(status.st_mode)) return fail(Code::kUnsupported, fmt::format("{} is no regular file", path));
  auto bytes = read_fd(fd.get(), limit_bytes);
  if (!bytes) return fail(bytes.error().in(path));
  return bytes;
}

Result<void> write_all(int fd, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno("writing", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> write_file_atomic(const std::string& path, ByteSpan bytes, unsigned mode) {
  const std::string folder = folder_of(path);
  std::string temporary =
      fmt::format("{}/.vacant-{}-XXXXXX", folder, std::filesystem::path(path).filename().string());
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return fail_errno(fmt::format("creating a file beside {}", path), errno);
  auto done = fill_and_rename(std::move(fd), temporary, path, bytes, mode);
  if (!done) {
    ::unlink(temporary.c_str());
    return done;
  }
  return sync_folder(folder);
}

}  // namespace vacant
