// Context: what a command may touch of the outside, handed in so that tests can run commands without a
// process.
#pragma once

#include <cstdio>
#include <string>

#include "vacant/base/cancel.h"

namespace vacant::cli {

struct Context {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool colour = false;  // terminal, and NO_COLOR not set
  CancelToken* cancel = nullptr;
};

// Exit codes of every command (docs/man/vacant.1).
enum Exit : int { kExitOk = 0, kExitFinding = 1, kExitUsage = 2, kExitNotProven = 3, kExitInternal = 4 };

}  // namespace vacant::cli
