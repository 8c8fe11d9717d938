// Small helpers over text that nobody vouches for. All views point into the caller's bytes. Private to scan.
#pragma once

#include <algorithm>
#include <bitset>
#include <initializer_list>
#include <string_view>

namespace vacant::scan {

constexpr bool is_text_byte(unsigned char c) {
  return c == '\n' || c == '\r' || c == '\t' || (c >= 0x20 && c != 0x7f);
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The text up to the first byte that no text file has.
inline std::string_view leading_text(std::string_view all) {
  const auto end =
      std::ranges::find_if(all, [](char c) { return !is_text_byte(static_cast<unsigned char>(c)); });
  return all.substr(0, static_cast<std::size_t>(end - all.begin()));
}

inline constexpr std::size_t kMaxLineBytes = 8192;

// The first line without its end, at most kMaxLineBytes of it.
inline std::string_view first_line(std::string_view text) {
  std::string_view line = text.substr(0, kMaxLineBytes);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Calls each(line) until it answers false, the text ends, or something that is no text follows. Answers how
// many bytes the accepted lines take. Looks no further than that: most blocks of text are told by one line.
template <class Each>
std::size_t for_lines(std::string_view text, const Each& each) {
  std::size_t used = 0;
  while (used < text.size()) {
    const std::string_view rest = text.substr(used);
    const std::string_view raw =
        rest.substr(0, std::min(rest.substr(0, kMaxLineBytes).find('\n'), rest.size()));
    std::string_view line = leading_text(raw);
    const bool last = line.size() < raw.size() || raw.size() == rest.size();
    if (line.empty() && last) break;
    const std::size_t taken = line.size() + (last ? 0 : 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() >= kMaxLineBytes || !each(line)) break;
    used += taken;
    if (last) break;
  }
  return used;
}

inline std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

inline std::string_view unquoted(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    return value.substr(1, value.size() - 2);
  return value;
}

// How many different bytes.
inline std::size_t variety(std::string_view text) {
  std::bitset<256> seen;
  for (const char c : text) seen.set(static_cast<unsigned char>(c));
  return seen.count();
}

inline bool has_all(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::all_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// The value behind `key` and an equals sign, a colon or a blank, to the end of the word or the closing quote.
inline std::string_view value_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of("\" \t:="), rest.size()));
  return rest.substr(0, std::min(rest.find_first_of("\"\r\n, \t"), rest.size()));
}

}  // namespace vacant::scan
