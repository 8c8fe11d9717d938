// Writing results: files whole or not at all, progress only to a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "context.h"
#include "vacant/base/result.h"
#include "vacant/scan/engine.h"

namespace vacant::cli {

// To the file (atomically; devices such as /dev/stdout directly), or to context.out when path is empty or
// "-".
Result<void> write_output(const std::string& path, std::string_view text, Context& context);
// Fails early, before a long scan, where the folder of the path cannot be written.
Result<void> check_output(const std::string& path);

// One line on a terminal: bytes, share, rate, time left. Silent elsewhere.
class ProgressLine {
 public:
  ProgressLine(Context& context, bool quiet, std::string what);
  ~ProgressLine();
  void update(const scan::Progress& progress);

 private:
  Context& context_;
  bool active_;
  std::string what_;
  std::chrono::steady_clock::time_point start_, last_{};
  std::uint64_t first_bytes_ = 0;
  bool started_ = false;
};

std::string human_bytes(std::uint64_t bytes);

}  // namespace vacant::cli
