// What a child process gives up before it meets hostile bytes. Private to base.
#pragma once

#include <cstdint>
#include <span>

#include "vacant/base/result.h"

namespace vacant::sys {

struct SandboxLimits {
  std::uint64_t cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  // beyond what is mapped now; 0: no limit
};

// Closes every descriptor but those named (sorted inside), then sets limits, Landlock (where the kernel has
// it) and the seccomp filter on the calling process. Afterwards it can compute, allocate, and use the
// descriptors that it has; nothing else. To be called in a freshly forked child.
Result<void> enter_sandbox(std::span<const int> keep_fds, const SandboxLimits& limits);

}  // namespace vacant::sys
