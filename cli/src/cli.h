// The command line: parses, runs one command, and turns its answer into an exit code.
#pragma once

#include "context.h"

namespace vacant::cli {

// Never throws. Messages go to context.err, results to context.out.
int run(int argc, const char* const* argv, Context& context);

}  // namespace vacant::cli
