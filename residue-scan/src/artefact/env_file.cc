// .env-style files: lines KEY=value and comments, nothing else. A quoted value may go on over several lines.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "artefact/parts.h"
#include "artefact/text.h"

namespace vacant::scan {

namespace {

bool is_variable(std::string_view key) {
  return !key.empty() && key.size() <= 128 && !is_digit(key.front()) &&
         std::ranges::all_of(key, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool name_is_secret(std::string_view name) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  const auto same = [&](char a, char b) { return upper(a) == b; };
  constexpr std::array<std::string_view, 11> kWords = {
      "TOKEN",       "SECRET",     "PASSWORD",   "PASSWD",   "API_KEY",       "APIKEY",
      "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL", "AUTH_KEY", "ENCRYPTION_KEY"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return !std::ranges::search(name, word, same).empty(); });
}

// Text of a language in a message catalogue: mostly escapes of the form \\uXXXX.
bool is_escaped_text(std::string_view value) {
  std::size_t escapes = 0;
  for (std::size_t at = value.find("\\u"); at != std::string_view::npos; at = value.find("\\u", at + 2))
    ++escapes;
  return escapes * 6 * 2 > value.size();
}

// A value that could be a secret: no path, no reference to another variable, one word of some length and
// variety.
bool value_is_secret(std::string_view quoted) {
  const std::string_view value = unquoted(quoted);
  if (value.size() < 8 || value.size() > 4096 || value.find_first_of(" \t$`(){}<>") != std::string_view::npos)
    return false;
  if (is_escaped_text(value)) return false;
  if (value.front() == '/' || value.front() == '.' || value.front() == '%') return false;
  return std::ranges::any_of(value, is_digit) && std::ranges::any_of(value, is_letter) && variety(value) >= 7;
}

// What stands behind a value: "# ..." after a blank.
std::string_view without_comment(std::string_view value) {
  return trim(value.substr(0, std::min(value.find(" #"), value.size())));
}

// Reads the lines in turn. A quoted value may go on over several of them.
class EnvFile {
 public:
  // False if the line is none of such a file.
  bool take(std::string_view line) {
    if (open_quote_ != 0) return go_on(line);
    std::string_view body = trim(line);
    if (body.empty() || body.front() == '#') return true;
    if (body.starts_with("export ")) body = trim(body.substr(7));
    const std::size_t equals = body.find('=');
    if (equals == std::string_view::npos || !is_variable(body.substr(0, equals))) return false;
    const std::string_view value = trim(body.substr(equals + 1));
    secret_name_ = name_is_secret(body.substr(0, equals));
    ++pairs_;
    if (!value.empty() && (value.front() == '"' || value.front() == '\'') &&
        value.find(value.front(), 1) == std::string_view::npos)
      open_quote_ = value.front();
    else if (is_secret(without_comment(value)))
      ++secrets_;
    return true;
  }
  [[nodiscard]] std::size_t pairs() const { return pairs_; }
  [[nodiscard]] std::size_t secrets() const { return secrets_; }

 private:
  [[nodiscard]] bool is_secret(std::string_view value) const {
    return (secret_name_ && value_is_secret(value)) || url_has_password(value);
  }
  bool go_on(std::string_view line) {
    const std::size_t close = line.find(open_quote_);
    if (secret_name_ && value_is_secret(line.substr(0, close))) {
      ++secrets_;
      secret_name_ = false;  // a value counts once
    }
    if (close != std::string_view::npos) open_quote_ = 0;
    return true;
  }

  std::size_t pairs_ = 0, secrets_ = 0;
  bool secret_name_ = false;  // of the last variable, until its value counts
  char open_quote_ = 0;
};

}  // namespace

bool url_has_password(std::string_view value) {
  const std::size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view authority =
      value.substr(scheme + 3, value.find_first_of("/?#", scheme + 3) - scheme - 3);
  const std::size_t at = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  if (at == std::string_view::npos || colon >= at || at - colon < 7) return false;
  const std::string_view password = authority.substr(colon + 1, at - colon - 1);
  return password.find_first_of("$<>{} *") == std::string_view::npos && variety(password) >= 5;
}

std::optional<Artefact> examine_env_file(std::string_view text) {
  EnvFile file;
  const std::size_t used = for_lines(text, [&](std::string_view line) { return file.take(line); });
  if (file.pairs() < 2 || file.secrets() == 0) return std::nullopt;
  return Artefact{FindingKind::kCredentialFile, "env-file", Confidence::kLikely, used,
                  fmt::format("{} variables, {} that hold a secret", file.pairs(), file.secrets())};
}

}  // namespace vacant::scan
