// The way every image gets onto its target, so that nothing of what was there before is left.
#pragma once

#include <functional>
#include <vector>

#include "vacant/base/target.h"
#include "vacant/img/zero.h"

namespace vacant::img {

struct MakeOptions {
  bool discard = true;  // of an existing target, before it is cleared
  const CancelToken* cancel = nullptr;
  ProgressFn clearing;  // progress of clearing and of the last look
};

struct MakeSummary {
  bool was_cleared = false;  // an existing target, which was cleared first
  ZeroStats before;          // how it was cleared
  ZeroStats after;           // the last look: what the target showed beside what was written
};

// Writes onto the device; answers what it wrote, sorted and disjoint.
using Fill = std::function<Result<std::vector<Extent>>(BlockDevice& device)>;

// Clears an existing target, lets `fill` write, clears and reads back whatever shows beside that, and makes
// all of it durable. A pool that hands out dirty blocks shows them only once something was written: hence the
// last look. A new file reads as zeros by itself.
Result<MakeSummary> make_image(Target& target, const Fill& fill, const MakeOptions& options);

}  // namespace vacant::img
