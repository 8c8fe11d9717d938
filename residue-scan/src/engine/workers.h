// Workers: threads that scan segments and hand the results on in device order. Private to the engine.
#pragma once

#include <functional>

#include "engine/segment.h"
#include "vacant/base/cancel.h"

namespace vacant::scan {

struct WorkPlan {
  const SegmentContext& context;
  const std::vector<std::unique_ptr<DetectorFactory>>& factories;
  std::uint64_t first_segment = 0;
  std::uint64_t segment_count = 0;
  unsigned threads = 1;
  const CancelToken* cancel = nullptr;
};

// Calls `consume` once a segment, in order, from one thread at a time; stops at its first error, at a
// worker's first error, or (kCancelled) when the token is set. Segments in flight at a stop are dropped
// whole.
Result<void> run_workers(const WorkPlan& plan, const std::function<Result<void>(SegmentResult)>& consume);

}  // namespace vacant::scan
