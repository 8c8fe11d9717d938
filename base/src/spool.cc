#include "vacant/base/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "vacant/base/file.h"

namespace vacant {

namespace {

constexpr std::size_t kTailBytes = 256 * 1024;  // small appends are gathered to this before a write

Result<UniqueFd> open_unlinked() {
  const char* set = std::getenv("TMPDIR");
  const std::string folder = set != nullptr && *set != '\0' ? set : "/tmp";
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
  if (fd.valid()) return fd;
  // Not every file system has O_TMPFILE.
  std::string name = folder + "/vacant-spool-XXXXXX";
  fd.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return fail_errno(fmt::format("making a temporary file in {}", folder), errno);
  if (::unlink(name.c_str()) != 0) return fail_errno(fmt::format("unlinking {}", name), errno);
  return fd;
}

Result<void> read_exactly(int fd, std::uint64_t offset_bytes, MutableByteSpan out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("reading a temporary file", errno);
    if (got == 0) return fail_errno("a temporary file lost its end", EIO);
    out = out.subspan(static_cast<std::size_t>(got));
    offset_bytes += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

Result<void> Spool::append(ByteSpan bytes) {
  memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  size_bytes_ += bytes.size();
  const std::uint64_t limit = spilled() ? kTailBytes : memory_limit_;
  return memory_.size() > limit ? spill() : Result<void>{};
}

Result<void> Spool::spill() {
  if (!file_.valid()) file_ = VACANT_TRY(open_unlinked());
  const auto written = write_all(file_.get(), memory_);
  if (!written) return fail(written.error().in("spooling to a temporary file"));
  file_bytes_ += memory_.size();
  memory_ = {};
  return {};
}

Result<void> Spool::read(std::uint64_t offset_bytes, MutableByteSpan out) const {
  if (offset_bytes > size_bytes_ || out.size() > size_bytes_ - offset_bytes)
    return fail(Code::kInvalidArgument, "reading past the end of a spool");
  if (offset_bytes < file_bytes_) {
    const std::uint64_t part = std::min<std::uint64_t>(out.size(), file_bytes_ - offset_bytes);
    VACANT_TRY(read_exactly(file_.get(), offset_bytes, out.first(part)));
    out = out.subspan(part);
    offset_bytes += part;
  }
  if (!out.empty()) std::memcpy(out.data(), memory_.data() + (offset_bytes - file_bytes_), out.size());
  return {};
}

}  // namespace vacant
