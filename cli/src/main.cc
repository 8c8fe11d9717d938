#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli.h"

namespace {

vacant::CancelToken g_cancel;  // the one global: a signal handler has no other way to reach anything

// SAFETY: async-signal-safe: a lock-free store, and _exit at the second signal.
extern "C" void on_signal(int number) {
  if (g_cancel.cancelled()) _exit(128 + number);
  g_cancel.cancel();
}

}  // namespace

int main(int argc, char** argv) {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  vacant::cli::Context context;
  context.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  context.err_is_terminal = isatty(STDERR_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  context.colour = context.out_is_terminal && (no_colour == nullptr || *no_colour == '\0');
  context.cancel = &g_cancel;
  return vacant::cli::run(argc, argv, context);
}
