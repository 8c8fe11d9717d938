// Copies from one open disk to another, by the fastest way that both allow.
//
// Thread-safety: as that of the devices. The kernel's own ways need two local files; simulated and decorated
// devices are read and written.
#pragma once

#include <cstdint>
#include <string_view>

#include "vacant/base/cancel.h"
#include "vacant/base/device.h"
#include "vacant/base/progress.h"
#include "vacant/base/result.h"

namespace vacant {

// `to` becomes a copy of all of `from` that shares its blocks (FICLONE; btrfs, xfs). kUnsupported if the two
// do not lie in one file system that can; nothing has changed then.
Result<void> reflink(BlockDevice& from, BlockDevice& to);
// The same for a range (FICLONERANGE): offsets and length are multiples of the file system's block.
Result<void> reflink_range(int from_fd, const Extent& range, BlockDevice& to, std::uint64_t to_offset_bytes);

struct CopyStats {
  std::uint64_t read_bytes = 0, written_bytes = 0, write_calls = 0;
};

// Copies the data of `from` to the same offsets of `to`, which must read as zeros: holes are passed over, and
// so is whatever reads as zeros in units of 4 KiB. `from` may be the shorter one.
Result<CopyStats> copy_sparse(BlockDevice& from, BlockDevice& to, const CancelToken& cancel,
                              const ProgressFn& progress = {});

}  // namespace vacant
