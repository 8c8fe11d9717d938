// Writing results: files whole or not at all, progress only to a terminal.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "context.h"
#include "vacant/base/progress.h"
#include "vacant/base/result.h"

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
  void update(const Progress& progress);  // a total of 0 is an unknown one
  void clear();                           // before anything else is printed

 private:
  Context& context_;
  bool active_;
  std::string what_;
  std::chrono::steady_clock::time_point start_, last_{};
  std::uint64_t first_bytes_ = 0;
  bool started_ = false;
};

std::string human_bytes(std::uint64_t bytes);
// "512", "64K", "24G", "24GiB": units of 1024. kInvalidArgument for anything else, and for 2^63 and more.
Result<std::uint64_t> parse_size(std::string_view text);
// SOURCE_DATE_EPOCH, if it is set to a number.
std::optional<std::int64_t> source_date_epoch();

}  // namespace vacant::cli
