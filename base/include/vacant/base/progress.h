// Progress of a long operation, in bytes.
#pragma once

#include <cstdint>
#include <functional>

namespace vacant {

struct Progress {
  std::uint64_t done_bytes = 0, total_bytes = 0;
};
// Called now and then, one call at a time; from which thread is up to the operation.
using ProgressFn = std::function<void(const Progress&)>;

}  // namespace vacant
