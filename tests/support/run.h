// Helpers for tests that call real tools: run a program with an argument vector, a folder that goes away, and
// the place of the test vectors. Header-only: test executables only get this folder as an include directory.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern char** environ;

namespace vacant::testing {

struct RunOptions {
  std::string input = {};  // standard input; then it is closed
  std::chrono::milliseconds timeout{120'000};
  std::vector<std::string> environment = {};  // "NAME=value", in front of the inherited ones
  std::string directory = {};                 // to run in; empty: here
};

struct RunOutcome {
  int exit_code = -1;  // -1: died from a signal, or never started
  int signal = 0;
  bool timed_out = false;  // killed for it
  std::string out;
  std::string err;
  [[nodiscard]] bool ok() const { return exit_code == 0; }
  // One line for an assertion's message.
  [[nodiscard]] std::string describe() const {
    return "exit " + std::to_string(exit_code) + (signal ? ", signal " + std::to_string(signal) : "") +
           (timed_out ? ", timed out" : "") + ", stderr: " + err.substr(0, 2000);
  }
};

// Where a program is, or nullopt. Also looks into the sbin folders, which PATH of a plain user lacks on
// Debian.
inline std::optional<std::string> find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) return std::string(name);
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path != nullptr ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string candidate = folders.substr(begin, end - begin) + "/" + std::string(name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

// In CI nothing is left out: there a test that lacks what it needs fails.
inline bool must_run() { return std::getenv("CI") != nullptr; }
inline bool left_out(std::string_view program) { return !find_program(program) && !must_run(); }

namespace detail {

inline void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + " failed, errno " + std::to_string(errno));
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() { require(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2"); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

inline std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

inline pid_t spawn(const std::string& program, std::vector<std::string> words, const RunOptions& options,
                   const Pipe& in, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  require(posix_spawn_file_actions_init(&actions) == 0, "posix_spawn_file_actions_init");
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  if (!options.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that a time-out reaches grandchildren
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<std::string> environment = options.environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, pointers(words).data(),
                                pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : -1;
}

// Reads what is there; closes the end at the end of the stream.
inline void drain(Pipe& pipe, std::string& into) {
  std::array<char, 65536> chunk;
  const ssize_t count = ::read(pipe.ends[0], chunk.data(), chunk.size());
  if (count > 0)
    into.append(chunk.data(), static_cast<std::size_t>(count));
  else if (count == 0 || errno != EINTR)
    pipe.close_end(0);
}

inline void feed(Pipe& pipe, const std::string& input, std::size_t& written) {
  const ssize_t count = ::write(pipe.ends[1], input.data() + written, input.size() - written);
  if (count > 0) written += static_cast<std::size_t>(count);
  const bool broken = count < 0 && errno != EINTR && errno != EAGAIN;
  if (written == input.size() || broken) pipe.close_end(1);
}

// Moves bytes both ways until the child has closed its ends. False at the time-out.
inline bool pump(const RunOptions& options, Pipe& in, Pipe& out, Pipe& err, RunOutcome& outcome) {
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  std::size_t written = 0;
  ::fcntl(in.ends[1], F_SETFL, O_NONBLOCK);
  if (options.input.empty()) in.close_end(1);
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 3> ready{
        {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}, {in.ends[1], POLLOUT, 0}}};
    if (::poll(ready.data(), ready.size(), static_cast<int>(left.count())) <= 0) continue;
    if (ready[0].revents != 0) drain(out, outcome.out);
    if (ready[1].revents != 0) drain(err, outcome.err);
    if (ready[2].revents != 0) feed(in, options.input, written);
  }
  return true;
}

}  // namespace detail

// Runs words[0] (looked up in PATH and the sbin folders) with the other words as arguments. No shell is
// involved.
inline RunOutcome run(std::vector<std::string> words, const RunOptions& options = {}) {
  RunOutcome outcome;
  const auto program = find_program(words.at(0));
  if (!program) {
    outcome.err = "no such program: " + words[0];
    return outcome;
  }
  static const auto old_handler = std::signal(SIGPIPE, SIG_IGN);  // a child may close its input early
  static_cast<void>(old_handler);
  detail::Pipe in;
  detail::Pipe out;
  detail::Pipe err;
  const pid_t child = detail::spawn(*program, std::move(words), options, in, out, err);
  in.close_end(0);
  out.close_end(1);
  err.close_end(1);
  if (child < 0) {
    outcome.err = "could not start " + *program;
    return outcome;
  }
  outcome.timed_out = !detail::pump(options, in, out, err, outcome);
  if (outcome.timed_out) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

// A new folder under $TMPDIR (or /tmp), removed with everything in it at the end of the scope.
class TempDir {
 public:
  TempDir() {
    const char* base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/vacant-test-XXXXXX";
    detail::require(::mkdtemp(name.data()) != nullptr, "mkdtemp");
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  detail::require(file.good(), "writing a test file");
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  detail::require(file.good(), "opening a test file");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A sparse file of this size.
inline void make_sparse(const std::string& path, std::uint64_t size_bytes) {
  write_text(path, "");
  std::filesystem::resize_file(path, size_bytes);
}

// The folder of test vectors: $VACANT_VECTORS, or ../shared/vectors beside the source tree. Absent: nullopt
// and one line on standard error, so that a test can skip; but with CI set an absent folder is an error,
// never a silent skip.
inline std::optional<std::filesystem::path> vectors_dir(std::string_view part) {
  const char* set = std::getenv("VACANT_VECTORS");
  const std::filesystem::path root = set != nullptr && *set != '\0'
                                         ? std::filesystem::path(set)
                                         : std::filesystem::path(VACANT_SOURCE_DIR) / "../shared/vectors";
  const std::filesystem::path folder = root / part;
  if (std::filesystem::is_directory(folder)) return folder;
  if (std::getenv("CI") != nullptr) throw std::runtime_error("test vectors are missing: " + folder.string());
  std::cerr << "no test vectors at " << folder.string() << ": skipped (set VACANT_VECTORS)\n";
  return std::nullopt;
}

}  // namespace vacant::testing
