#include "output.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "vacant/base/file.h"

namespace vacant::cli {

namespace {

bool is_special(const std::string& path) {
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  return !problem && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Result<void> put(std::FILE* file, std::string_view text, std::string_view name) {
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
    return fail_errno(fmt::format("writing {}", name), errno);
  return {};
}

}  // namespace

Result<void> write_output(const std::string& path, std::string_view text, Context& context) {
  if (path.empty() || path == "-") return put(context.out, text, "the output");
  if (!is_special(path)) return write_file_atomic(path, as_bytes(text), 0644);
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return fail_errno(fmt::format("opening {}", path), errno);
  auto done = put(file, text, path);
  if (std::fclose(file) != 0 && done) done = fail_errno(fmt::format("closing {}", path), errno);
  return done;
}

Result<void> check_output(const std::string& path) {
  if (path.empty() || path == "-" || is_special(path)) {
    if (std::filesystem::is_directory(path))
      return fail(Code::kInvalidArgument, fmt::format("{} is a directory: name a file", path));
    return {};
  }
  const auto parent = std::filesystem::path(path).parent_path();
  std::error_code problem;
  if (!parent.empty() && !std::filesystem::is_directory(parent, problem))
    return fail(Code::kNotFound, fmt::format("the folder of {} does not exist", path));
  return {};
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.size() == 3 && unit.ends_with("iB")) unit.remove_suffix(2);
  constexpr std::string_view kUnits = "KMGTP";
  const std::size_t power = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
  if (problem != std::errc() || !(unit.empty() || power != std::string_view::npos))
    return fail(Code::kInvalidArgument, fmt::format("\"{}\" is no size: say for example 512M or 24G", text));
  const unsigned shift = unit.empty() ? 0 : static_cast<unsigned>(10 * (power + 1));
  if (value > (static_cast<std::uint64_t>(INT64_MAX) >> shift))
    return fail(Code::kInvalidArgument, fmt::format("{} is more than a file can have", text));
  return value << shift;
}

std::optional<std::int64_t> source_date_epoch() {
  const char* text = std::getenv("SOURCE_DATE_EPOCH");
  if (text == nullptr) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text, text + std::strlen(text), value);
  return problem == std::errc() && *end == '\0' && end != text ? std::optional(value) : std::nullopt;
}

ProgressLine::ProgressLine(Context& context, bool quiet, std::string what)
    : context_(context),
      active_(context.err_is_terminal && !quiet),
      what_(std::move(what)),
      start_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (active_ && started_) fmt::print(context_.err, "\r\033[K");
  started_ = false;
}

void ProgressLine::update(const Progress& progress) {
  if (!active_) return;
  const auto now = std::chrono::steady_clock::now();
  if (!started_) first_bytes_ = progress.done_bytes;
  if (started_ && now - last_ < std::chrono::milliseconds(200)) return;
  started_ = true;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(progress.done_bytes - first_bytes_) / seconds : 0;
  if (progress.total_bytes == 0) {
    fmt::print(context_.err, "\r\033[K{}: {}, {}/s", what_, human_bytes(progress.done_bytes),
               human_bytes(static_cast<std::uint64_t>(rate)));
    std::fflush(context_.err);
    return;
  }
  const double left = rate > 0 ? static_cast<double>(progress.total_bytes - progress.done_bytes) / rate : 0;
  const double share =
      100.0 * static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes);
  fmt::print(context_.err, "\r\033[K{}: {} of {} ({:.0f} %), {}/s, {:.0f} s left", what_,
             human_bytes(progress.done_bytes), human_bytes(progress.total_bytes), share,
             human_bytes(static_cast<std::uint64_t>(rate)), left);
  std::fflush(context_.err);
}

}  // namespace vacant::cli
