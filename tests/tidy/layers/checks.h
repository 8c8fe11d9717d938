// The laws of the source tree as pure functions over (path, text), so that each one can be shown to find what
// it is for. A problem is one line, "path:line: what is wrong".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vacant::tidy {

struct SourceFile {
  std::string path;  // relative to the root of the tree, with '/'
  std::string text;
};
using Problems = std::vector<std::string>;

inline constexpr std::size_t kMaxFileLines = 500;
inline constexpr std::size_t kMaxLineColumns = 110;
inline constexpr std::size_t kMaxFunctionLines = 70;

// All text files of the tree, without build folders and version control. Sorted by path.
std::vector<SourceFile> load_tree(const std::string& root);
[[nodiscard]] bool is_cpp(const SourceFile& file);
[[nodiscard]] bool is_header(const SourceFile& file);

// Which module may include which: docs/architecture.md.
Problems check_includes(const SourceFile& file);
Problems check_sizes(const SourceFile& file);
Problems check_functions(const SourceFile& file);
// Raw system calls stay in base/src; shells stay out altogether; heavy libraries stay out of headers.
Problems check_calls(const SourceFile& file);
Problems check_headers(const SourceFile& file);
Problems check_todos(const SourceFile& file);
// Nothing in the tree may speak of the place where it was written.
Problems check_words(const SourceFile& file);
// Every tests/fuzz/x_fuzz.cc has at least one file in tests/fuzz/seeds/x.
Problems check_fuzz_seeds(const std::vector<std::string>& paths);

// The text with comments, string and character literals blanked out; line breaks stay.
std::string strip_literals(std::string_view text);

}  // namespace vacant::tidy
