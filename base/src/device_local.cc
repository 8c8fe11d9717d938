// Regular files and block devices.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "device_open.h"
#include "vacant/base/fd.h"

namespace vacant {

namespace {

constexpr std::size_t kDirectAlignment = 4096;

class LocalDevice final : public BlockDevice {
 public:
  LocalDevice(UniqueFd fd, DeviceInfo info, const OpenOptions& options)
      : fd_(std::move(fd)), info_(std::move(info)), options_(options) {}
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] Result<std::uint64_t> current_size_bytes() const override;
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset_bytes, ByteSpan bytes) override;
  Result<void> zero(const Extent& extent) override;
  Result<void> discard(const Extent& extent) override;
  Result<void> flush() override;
  Result<std::vector<Allocation>> allocation(const Extent& range) override;
  [[nodiscard]] int file_descriptor() const override { return fd_.get(); }

 private:
  Result<void> read_direct(std::uint64_t offset_bytes, MutableByteSpan out);
  Result<void> read_plain(std::uint64_t offset_bytes, MutableByteSpan out);

  UniqueFd fd_;
  DeviceInfo info_;
  OpenOptions options_;
};

Result<std::uint64_t> size_of(int fd, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return static_cast<std::uint64_t>(status.st_size);
  std::uint64_t size_bytes = 0;
  // SAFETY: BLKGETSIZE64 writes one 64-bit number through the pointer.
  if (::ioctl(fd, BLKGETSIZE64, &size_bytes) != 0) return fail_errno("asking the device for its size", errno);
  return size_bytes;
}

Result<std::uint64_t> LocalDevice::current_size_bytes() const {
  struct stat status{};
  if (::fstat(fd_.get(), &status) != 0) return fail_errno(fmt::format("looking at {}", info_.name), errno);
  return size_of(fd_.get(), status);
}

Result<void> LocalDevice::read(std::uint64_t offset_bytes, MutableByteSpan out) {
  if (offset_bytes > info_.size_bytes || out.size() > info_.size_bytes - offset_bytes)
    return fail(Code::kIo, fmt::format("reading past the end at {}", offset_bytes));
  return options_.direct ? read_direct(offset_bytes, out) : read_plain(offset_bytes, out);
}

Result<void> LocalDevice::read_plain(std::uint64_t offset_bytes, MutableByteSpan out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(fmt::format("reading {} bytes at {}", out.size(), offset_bytes), errno);
    if (got == 0)
      return fail(Code::kIo, fmt::format("{} ends early, at {}: did it shrink?", info_.name, offset_bytes));
    out = out.subspan(static_cast<std::size_t>(got));
    offset_bytes += static_cast<std::uint64_t>(got);
  }
  return {};
}

// O_DIRECT wants aligned offset, length and memory: read the enclosing aligned range and copy out of it.
Result<void> LocalDevice::read_direct(std::uint64_t offset_bytes, MutableByteSpan out) {
  const std::uint64_t begin = round_down(offset_bytes, kDirectAlignment);
  const std::size_t span =
      static_cast<std::size_t>(round_up(offset_bytes + out.size(), kDirectAlignment) - begin);
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(kDirectAlignment, span),
                                                           &std::free);
  if (memory == nullptr) throw std::bad_alloc();
  auto* bytes = static_cast<std::byte*>(memory.get());
  const std::size_t wanted = static_cast<std::size_t>(offset_bytes - begin) + out.size();
  std::size_t have = 0;
  while (have < wanted) {
    const ssize_t got = ::pread(fd_.get(), bytes + have, span - have, static_cast<off_t>(begin + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(fmt::format("reading {} bytes at {} directly", span, begin), errno);
    if (got == 0) return fail(Code::kIo, fmt::format("{} ends early, at {}", info_.name, begin + have));
    have += static_cast<std::size_t>(got);
  }
  std::copy_n(bytes + (offset_bytes - begin), out.size(), out.data());
  return {};
}

Result<void> LocalDevice::write(std::uint64_t offset_bytes, ByteSpan bytes) {
  if (!options_.writable)
    return fail(Code::kUnsupported, fmt::format("{} was opened for reading", info_.name));
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(fmt::format("writing {} bytes at {}", bytes.size(), offset_bytes), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset_bytes += static_cast<std::uint64_t>(put);
  }
  return {};
}

Result<void> LocalDevice::zero(const Extent& extent) {
  if (!options_.writable)
    return fail(Code::kUnsupported, fmt::format("{} was opened for reading", info_.name));
  std::uint64_t range[2] = {extent.offset_bytes, extent.length_bytes};
  // SAFETY: BLKZEROOUT reads two 64-bit numbers (start, length).
  if (info_.kind == SourceKind::kBlockDevice && ::ioctl(fd_.get(), BLKZEROOUT, range) == 0) return {};
  const ByteVector zeros(static_cast<std::size_t>(std::min<std::uint64_t>(extent.length_bytes, kMiB)));
  for (std::uint64_t at = extent.offset_bytes; at < extent.end_bytes(); at += zeros.size())
    VACANT_TRY(write(at, ByteSpan(zeros).first(static_cast<std::size_t>(
                             std::min<std::uint64_t>(zeros.size(), extent.end_bytes() - at)))));
  return {};
}

Result<void> LocalDevice::discard(const Extent& extent) {
  if (!options_.writable)
    return fail(Code::kUnsupported, fmt::format("{} was opened for reading", info_.name));
  std::uint64_t range[2] = {extent.offset_bytes, extent.length_bytes};
  // SAFETY: BLKDISCARD reads two 64-bit numbers (start, length).
  const int answer =
      info_.kind == SourceKind::kBlockDevice
          ? ::ioctl(fd_.get(), BLKDISCARD, range)
          : ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(extent.offset_bytes), static_cast<off_t>(extent.length_bytes));
  if (answer != 0) return fail_errno("discarding", errno);
  return {};
}

Result<void> LocalDevice::flush() {
  if (::fsync(fd_.get()) != 0) return fail_errno(fmt::format("syncing {}", info_.name), errno);
  // Out of the page cache too: what is read next comes from the medium, not from what was meant for it.
  if (info_.kind == SourceKind::kBlockDevice) ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
  return {};
}

Result<std::vector<Allocation>> LocalDevice::allocation(const Extent& range) {
  if (info_.kind == SourceKind::kBlockDevice || !options_.trust_holes)
    return std::vector{Allocation{range, false}};
  std::vector<Allocation> map;
  std::uint64_t at = range.offset_bytes;
  const auto add = [&](std::uint64_t end, bool hole) {
    end = std::min(end, range.end_bytes());
    if (end > at) map.push_back({{at, end - at}, hole});
    at = std::max(at, end);
  };
  while (at < range.end_bytes()) {
    const off_t data = ::lseek(fd_.get(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
      add(range.end_bytes(), true);
      break;
    }
    // A file system without SEEK_DATA: all of it counts as data and is read.
    if (data < 0) return std::vector{Allocation{range, false}};
    add(static_cast<std::uint64_t>(data), true);
    if (at >= range.end_bytes()) break;
    const off_t hole = ::lseek(fd_.get(), static_cast<off_t>(at), SEEK_HOLE);
    if (hole <= data) return std::vector{Allocation{range, false}};
    add(static_cast<std::uint64_t>(hole), false);
  }
  return map;
}

Result<void> refuse_kind(const std::string& path, mode_t mode) {
  const char* what = S_ISDIR(mode)    ? "a directory: name a disk image or a block device"
                     : S_ISFIFO(mode) ? "a FIFO: a scan must read at any offset; write it to a file first"
                     : S_ISSOCK(mode) ? "a socket: for NBD use nbd+unix:///?socket=PATH"
                                      : "a character device: name a block device or a disk image";
  return fail(Code::kUnsupported, fmt::format("{} is {}", path, what));
}

}  // namespace

namespace {

std::string small_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[512];
  const ssize_t got = fd.valid() ? ::read(fd.get(), text, sizeof text) : -1;
  std::string out(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

// Files: identity and times. Block devices: this boot, and the kernel's counters of sectors written and
// discarded.
std::string change_stamp(const struct stat& status) {
  if (S_ISREG(status.st_mode))
    return fmt::format("file {} {} {} {}.{} {}.{}", status.st_dev, status.st_ino, status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                       status.st_ctim.tv_nsec);
  const std::string counters =
      small_file(fmt::format("/sys/dev/block/{}:{}/stat", major(status.st_rdev), minor(status.st_rdev)));
  const std::string boot = small_file("/proc/sys/kernel/random/boot_id");
  std::istringstream fields(counters);
  std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
  if (words.size() < 7 || boot.empty()) return "";
  const std::string discards = words.size() > 13 ? words[11] + " " + words[13] : "";
  return fmt::format("block {} {} written {} {} discarded {}", status.st_rdev, boot, words[4], words[6],
                     discards);
}

}  // namespace

Result<std::unique_ptr<BlockDevice>> open_local(const std::string& path, const OpenOptions& options) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return fail_errno(fmt::format("opening {}", path), errno);
  if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
    return std::unexpected(refuse_kind(path, status.st_mode).error());
  // O_EXCL on a block device: refused while it is mounted or otherwise in use.
  const int flags = (options.writable ? O_RDWR : O_RDONLY) | (options.direct ? O_DIRECT : 0) | O_CLOEXEC |
                    O_NONBLOCK | (options.writable && S_ISBLK(status.st_mode) ? O_EXCL : 0);
  UniqueFd fd(::open(path.c_str(), flags));
  if (!fd.valid()) return fail_errno(fmt::format("opening {}", path), errno);
  // Looked at again through the descriptor: the name may have changed hands since stat().
  if (::fstat(fd.get(), &status) != 0) return fail_errno(fmt::format("looking at {}", path), errno);
  if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
    return std::unexpected(refuse_kind(path, status.st_mode).error());
  return wrap_local(std::move(fd), path, options);
}

Result<std::unique_ptr<BlockDevice>> wrap_local(UniqueFd fd, const std::string& path,
                                                const OpenOptions& options) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(fmt::format("looking at {}", path), errno);
  DeviceInfo info{S_ISREG(status.st_mode) ? SourceKind::kFile : SourceKind::kBlockDevice, path, 0, 512, ""};
  if (options.ram && info.kind == SourceKind::kFile) info.kind = SourceKind::kRam;
  info.change_stamp = change_stamp(status);
  info.size_bytes = VACANT_TRY(size_of(fd.get(), status));
  int sector = 512;
  // SAFETY: BLKSSZGET writes one int.
  if (info.kind == SourceKind::kBlockDevice && ::ioctl(fd.get(), BLKSSZGET, &sector) == 0 && sector >= 512)
    info.sector_bytes = static_cast<std::uint32_t>(sector);
  return std::make_unique<LocalDevice>(std::move(fd), std::move(info), options);
}

}  // namespace vacant
