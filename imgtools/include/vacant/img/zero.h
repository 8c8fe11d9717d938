// Clears a disk, and proves it by reading: discard is taken as a help, never as proof.
#pragma once

#include <cstdint>
#include <vector>

#include "vacant/base/cancel.h"
#include "vacant/base/device.h"
#include "vacant/base/progress.h"
#include "vacant/base/result.h"

namespace vacant::img {

struct ZeroOptions {
  bool discard = true;  // ask the device to discard everything first
  bool every_byte =
      false;  // write zeros also where zeros are read: maps and clears each block of a thin pool
  std::vector<Extent> keep;  // left as it is, unread: sorted, disjoint. No discard then
  const CancelToken* cancel = nullptr;
  ProgressFn progress;
};

struct ZeroStats {
  bool discard_accepted = false;        // the device took the discard; what it did is told by the next number
  std::uint64_t overwritten_bytes = 0;  // did not read as zeros (after the discard), and were written over
  std::uint64_t verified_bytes = 0;     // read back as zeros: the size of the device but for `keep`
};

// Afterwards every byte of `device` outside `keep` has been read back as zero. kIo if a range does not stay
// zero, or cannot be read or written; kCancelled. Memory: 1 MiB. What was there is lost also where this
// fails.
Result<ZeroStats> zero_device(BlockDevice& device, const ZeroOptions& options);

}  // namespace vacant::img
