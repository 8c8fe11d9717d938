// A rough reader of C++: enough to blank out literals and to tell function bodies from scopes in our own,
// formatted code.
#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <regex>

#include "checks.h"

namespace vacant::tidy {

namespace {

// Blanks one literal or comment after another.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : text_(text), out_(text) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool here(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  // A quote inside a number (1'000) is no character literal.
  [[nodiscard]] bool digit_separator() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }
  void blank_to(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_)
      if (text_[at_] != '\n') out_[at_] = ' ';
  }
  // One past `word`, or the end of the text.
  [[nodiscard]] std::size_t behind(std::string_view word, std::size_t from) const {
    const std::size_t found = text_.find(word, from);
    return found == std::string_view::npos ? text_.size() : found + word.size();
  }
  [[nodiscard]] std::size_t behind_quoted(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    return end + 1;
  }
  void step() {
    if (here("//")) return blank_to(text_.find('\n', at_));
    if (here("/*")) return blank_to(behind("*/", at_));
    if (here("R\"")) {
      const std::size_t open = std::min(text_.find('(', at_), text_.size());
      const std::string delimiter(text_.substr(at_ + 2, open - at_ - 2));
      return blank_to(behind(")" + delimiter + "\"", open));
    }
    if (here("\"")) return blank_to(behind_quoted('"'));
    if (here("'") && !digit_separator()) return blank_to(behind_quoted('\''));
    ++at_;
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

enum class BraceKind { kScope, kFunction, kOther };

// What an opening brace begins, from the words since the last statement or brace.
BraceKind kind_of(const std::string& head) {
  static const std::regex scope(
      R"(^\s*(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b)");
  if (std::regex_search(head, scope) && head.find('(') == std::string::npos) return BraceKind::kScope;
  if (head.find(')') != std::string::npos && head.find('=') == std::string::npos) return BraceKind::kFunction;
  // operator== and default arguments hold a '=' too.
  static const std::regex signature(R"(\)\s*(const|noexcept|override|final|&|->.*|:.*)?\s*$)");
  return std::regex_search(head, signature) ? BraceKind::kFunction : BraceKind::kOther;
}

}  // namespace

std::string strip_literals(std::string_view text) { return Stripper(text).run(); }

Problems check_functions(const SourceFile& file) {
  Problems problems;
  if (!is_cpp(file)) return problems;
  const std::string code = strip_literals(file.text);
  std::size_t line = 0;
  std::size_t head_line = 0;
  std::string head;
  std::size_t function_line = 0;
  bool in_function = false;  // or inside an initialiser
  int inside = 0;            // braces open inside a function body or an initialiser
  for (const char c : code) {
    if (c == '\n') ++line;
    if (inside > 0) {
      inside += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (inside > 0) continue;
      const std::size_t length = line - function_line + 1;
      if (in_function && length > kMaxFunctionLines)
        problems.push_back(
            fmt::format("{}:{}: {} lines in a function", file.path, function_line + 1, length));
      head.clear();
    } else if (c == '{') {
      const BraceKind kind = kind_of(head);
      if (kind != BraceKind::kScope) inside = 1;
      in_function = kind == BraceKind::kFunction;
      function_line = head_line;
      head.clear();
    } else if (c == ';' || c == '}') {
      head.clear();
    } else if (c != '#' && (!head.empty() || std::isspace(static_cast<unsigned char>(c)) == 0)) {
      if (head.empty()) head_line = line;
      head.push_back(c == '\n' ? ' ' : c);
    }
  }
  return problems;
}

}  // namespace vacant::tidy
