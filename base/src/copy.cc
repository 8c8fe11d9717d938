#include "vacant/base/copy.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

namespace vacant {

namespace {

constexpr std::uint64_t kWindowBytes = kMiB;
constexpr std::uint64_t kMapBytes = 256 * kMiB;  // of the allocation map, at a time
constexpr std::size_t kUnitBytes = 4096;

Result<void> cloned(int answer, int sys_errno) {
  if (answer == 0) return {};
  // Different file systems, one that cannot share blocks, or ranges that are no multiples of its blocks.
  if (sys_errno == EOPNOTSUPP || sys_errno == EXDEV || sys_errno == EINVAL || sys_errno == ENOTTY)
    return fail(Error{Code::kUnsupported, sys_errno, "blocks cannot be shared here"});
  return fail_errno("sharing blocks", sys_errno);
}

class SparseCopy {
 public:
  SparseCopy(BlockDevice& from, BlockDevice& to) : from_(from), to_(to), buffer_(kWindowBytes) {}

  Result<void> window(const Extent& extent) {
    const MutableByteSpan bytes =
        MutableByteSpan(buffer_).first(static_cast<std::size_t>(extent.length_bytes));
    VACANT_TRY(from_.read(extent.offset_bytes, bytes));
    stats_.read_bytes += bytes.size();
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t begin = skip(bytes, at, true);
      at = skip(bytes, begin, false);
      if (at == begin) continue;
      VACANT_TRY(to_.write(extent.offset_bytes + begin, bytes.subspan(begin, at - begin)));
      stats_.written_bytes += at - begin;
      ++stats_.write_calls;
    }
    return {};
  }
  [[nodiscard]] const CopyStats& stats() const { return stats_; }

 private:
  // The end of the run of units from `at` that are all zero, or all not.
  static std::size_t skip(ByteSpan bytes, std::size_t at, bool zero) {
    while (at < bytes.size()) {
      const std::size_t unit = std::min(kUnitBytes, bytes.size() - at);
      if (is_zero(bytes.subspan(at, unit)) != zero) break;
      at += unit;
    }
    return at;
  }

  BlockDevice& from_;
  BlockDevice& to_;
  ByteVector buffer_;
  CopyStats stats_;
};

}  // namespace

Result<void> reflink(BlockDevice& from, BlockDevice& to) {
  if (from.file_descriptor() < 0 || to.file_descriptor() < 0)
    return fail(Code::kUnsupported, "only local files share blocks");
  const int answer = ::ioctl(to.file_descriptor(), FICLONE, from.file_descriptor());
  return cloned(answer, errno);
}

Result<void> reflink_range(int from_fd, const Extent& range, BlockDevice& to, std::uint64_t to_offset_bytes) {
  if (from_fd < 0 || to.file_descriptor() < 0)
    return fail(Code::kUnsupported, "only local files share blocks");
  file_clone_range wanted{};
  wanted.src_fd = from_fd;
  wanted.src_offset = range.offset_bytes;
  wanted.src_length = range.length_bytes;
  wanted.dest_offset = to_offset_bytes;
  // SAFETY: FICLONERANGE reads the struct through the pointer.
  const int answer = ::ioctl(to.file_descriptor(), FICLONERANGE, &wanted);
  return cloned(answer, errno);
}

Result<CopyStats> copy_sparse(BlockDevice& from, BlockDevice& to, const CancelToken& cancel,
                              const ProgressFn& progress) {
  const std::uint64_t size_bytes = from.size_bytes();
  if (to.size_bytes() < size_bytes)
    return fail(Code::kInvalidArgument, "the target is smaller than the source");
  SparseCopy copy(from, to);
  std::uint64_t next = 0;  // first byte that no window covered
  for (std::uint64_t at = 0; at < size_bytes; at += kMapBytes) {
    for (const Allocation& part : VACANT_TRY(from.allocation({at, std::min(kMapBytes, size_bytes - at)}))) {
      if (part.hole) continue;
      for (std::uint64_t begin = std::max(next, round_down(part.extent.offset_bytes, kWindowBytes));
           begin < part.extent.end_bytes(); begin += kWindowBytes) {
        if (cancel.cancelled()) return fail(Code::kCancelled, "stopped");
        VACANT_TRY(copy.window({begin, std::min(kWindowBytes, size_bytes - begin)}));
        next = begin + kWindowBytes;
        if (progress) progress({begin, size_bytes});
      }
    }
  }
  return copy.stats();
}

}  // namespace vacant
