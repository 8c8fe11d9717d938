#include "checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

namespace vacant::tidy {

namespace {

namespace fs = std::filesystem;

const std::set<std::string> kEverything = {"base", "verify", "img", "secrets", "scan", "vm", "cli", "props"};

// Folder of the tree -> namespaces of vacant/<namespace>/ that it may include, its own among them.
const std::map<std::string, std::set<std::string>>& layers() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"base", {"base"}},
      {"verify", {"base", "verify"}},
      {"imgtools", {"base", "verify", "img"}},
      {"secrets", {"base", "secrets"}},
      {"residue-scan", {"base", "verify", "img", "secrets", "scan"}},
      {"vm", {"base", "verify", "img", "secrets", "vm"}},
      {"cli", {"base", "verify", "img", "secrets", "scan", "vm", "cli"}},
      {"props", kEverything},
      {"tests", kEverything}};
  return table;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Code points, as an editor counts columns.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string at(const SourceFile& file, std::size_t line_index, std::string_view what) {
  return fmt::format("{}:{}: {}", file.path, line_index + 1, what);
}

// Reports every line that the expression matches.
void report_matches(const SourceFile& file, std::string_view text, const std::regex& expression,
                    std::string_view what, Problems& problems) {
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (std::regex_search(lines[i].begin(), lines[i].end(), expression))
      problems.push_back(at(file, i, what));
}

std::string top_folder(const std::string& path) { return path.substr(0, path.find('/')); }

bool skipped_folder(const std::string& name) {
  return name == ".git" || name == "build" || name == "target" || name == "node_modules" || name == "out";
}

bool is_text_name(const fs::path& path) {
  static const std::set<std::string> extensions = {".h",  ".cc",  ".txt",  ".cmake", ".md",   ".json", ".in",
                                                   ".sh", ".yml", ".yaml", ".py",    ".html", ""};
  return extensions.contains(path.extension().string());
}

}  // namespace

bool is_header(const SourceFile& file) { return file.path.ends_with(".h"); }
bool is_cpp(const SourceFile& file) { return is_header(file) || file.path.ends_with(".cc"); }

std::vector<SourceFile> load_tree(const std::string& root) {
  std::vector<SourceFile> files;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator();
       ++entry) {
    if (entry->is_directory()) {
      if (skipped_folder(entry->path().filename().string())) entry.disable_recursion_pending();
      continue;
    }
    const std::string path = fs::relative(entry->path(), root).generic_string();
    const bool left_out = path == ".git" || path.starts_with("tests/fuzz/seeds/");
    if (!entry->is_regular_file() || left_out || !is_text_name(entry->path())) continue;
    std::ifstream stream(entry->path(), std::ios::binary);
    files.push_back({path, {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}});
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

Problems check_includes(const SourceFile& file) {
  Problems problems;
  if (!is_cpp(file)) return problems;
  static const std::regex include(R"re(^\s*#\s*include\s*["<](vacant/([a-z_]+)/|[^">]*\.\./).*)re");
  const auto allowed = layers().find(top_folder(file.path));
  const auto lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_match(lines[i].begin(), lines[i].end(), match, include)) continue;
    if (allowed == layers().end())
      problems.push_back(at(file, i, "this folder is not in the table of layers"));
    else if (!match[2].matched)
      problems.push_back(at(file, i, "an include may not climb with .."));
    else if (!allowed->second.contains(match[2].str()))
      problems.push_back(
          at(file, i, fmt::format("{} may not include vacant/{}", allowed->first, match[2].str())));
  }
  return problems;
}

Problems check_sizes(const SourceFile& file) {
  Problems problems;
  if (!is_cpp(file)) return problems;
  const auto lines = lines_of(file.text);
  if (lines.size() > kMaxFileLines)
    problems.push_back(at(file, kMaxFileLines, fmt::format("{} lines in a file", lines.size())));
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (columns(lines[i]) > kMaxLineColumns)
      problems.push_back(at(file, i, fmt::format("{} columns", columns(lines[i]))));
  return problems;
}

Problems check_calls(const SourceFile& file) {
  Problems problems;
  if (!is_cpp(file)) return problems;
  const std::string code = strip_literals(file.text);
  static const std::regex shell(R"((^|[^\w.>])(system|popen)\s*\()");
  report_matches(file, code, shell, "no shell: run programs by argument vector", problems);
  const std::string top = top_folder(file.path);
  if (file.path.starts_with("base/src/") || top == "tests" || top == "props") return problems;
  static const std::regex qualified(
      R"((^|[^\w>])::(open|openat|creat|read|write|pread|pwrite|readv|writev|lseek|stat)"
      R"(|fstat|lstat|statx|ioctl|fcntl)"
      R"(|socket|socketpair|connect|bind|listen|accept|send|recv|sendmsg|recvmsg|mmap)"
      R"(|munmap|fork|execve|execvp|kill)"
      R"(|unlink|rename|mkdir|mkstemp|fsync|fdatasync|ftruncate|fallocate|syscall|prctl)"
      R"(|dup2|pipe2?|poll)\s*\()");
  static const std::regex bare(R"((^|[^\w:.>])(openat|pread|pwrite|ioctl|socket|socketpair|mmap|fork|execve)"
                               R"(|fallocate|syscall|prctl)\s*\()");
  report_matches(file, code, qualified, "system calls belong into base/src", problems);
  report_matches(file, code, bare, "system calls belong into base/src", problems);
  return problems;
}

Problems check_headers(const SourceFile& file) {
  Problems problems;
  if (!is_header(file)) return problems;
  if (file.text.find("#pragma once") == std::string::npos) problems.push_back(at(file, 0, "no #pragma once"));
  static const std::regex heavy(R"re(^\s*#\s*include\s*["<](fmt|spdlog)/)re");
  static const std::regex json(R"re(^\s*#\s*include\s*["<]nlohmann/)re");
  static const std::regex cli11(R"re(^\s*#\s*include\s*["<]CLI/)re");
  static const std::regex using_namespace(R"(^\s*using\s+namespace\b)");
  report_matches(file, file.text, heavy, "a heavy library in a header", problems);
  // A private header may show JSON values to the few files of its own module that read or write JSON.
  if (file.path.find("/include/") != std::string::npos)
    report_matches(file, file.text, json, "JSON in a public header", problems);
  if (top_folder(file.path) != "cli") report_matches(file, file.text, cli11, "CLI11 outside cli/", problems);
  report_matches(file, strip_literals(file.text), using_namespace, "using namespace in a header", problems);
  return problems;
}

Problems check_todos(const SourceFile& file) {
  Problems problems;
  static const std::regex untyped(
      "\\bTO"
      "DO(?!\\((perf|security|soon)\\))|\\bFIX"
      "ME\\b|\\bXX"
      "X\\b");
  if (is_cpp(file))
    report_matches(file, file.text, untyped, "a to-do carries a type: perf, security or soon", problems);
  return problems;
}

Problems check_words(const SourceFile& file) {
  Problems problems;
  // Written in halves, so that this file does not find itself.
  static const std::array<std::string, 9> words = {
      "/wo"
      "rk/",
      "BRI"
      "EF.md",
      "DESI"
      "GN.md",
      "SCANN"
      "ING.md",
      "TOK"
      "ENS.md",
      "STY"
      "LE.md",
      "issues sh"
      "ow",
      "another sess"
      "ion",
      "this sess"
      "ion"};
  const auto lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (const std::string& word : words)
      if (lines[i].find(word) != std::string_view::npos)
        problems.push_back(at(file, i, "speaks of the workplace: " + word));
  return problems;
}

Problems check_fuzz_seeds(const std::vector<std::string>& paths) {
  Problems problems;
  static const std::regex target("tests/fuzz/([a-z0-9_]+)_fuzz\\.cc");
  for (const std::string& path : paths) {
    std::smatch match;
    if (!std::regex_match(path, match, target)) continue;
    const std::string folder = "tests/fuzz/seeds/" + match[1].str() + "/";
    if (std::ranges::none_of(paths, [&](const std::string& other) { return other.starts_with(folder); }))
      problems.push_back(path + ": no seeds in " + folder);
  }
  return problems;
}

}  // namespace vacant::tidy
