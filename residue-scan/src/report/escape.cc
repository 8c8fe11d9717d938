#include "report/escape.h"

#include <fmt/format.h>

namespace vacant::scan {

namespace {

// The length of the valid UTF-8 sequence at `at`, or 0. Overlong forms, surrogates and values past U+10FFFF are not valid.
std::size_t sequence_length(std::string_view text, std::size_t at, char32_t& value) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) {
    value = first;
    return 1;
  }
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 && first < 0xE0 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || at + length > text.size()) return 0;
  value = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
    value = (value << 6U) | (byte(at + i) & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
  return length;
}

// Characters that could move a terminal's cursor or turn the direction of text.
bool is_harmful(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F ||
         c == 0x2028 || c == 0x2029 || c == 0xFFFE || c == 0xFFFF;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    char32_t value = 0;
    const std::size_t length = sequence_length(text, at, value);
    if (length == 0 || is_harmful(value)) {
      const std::size_t count = length == 0 ? 1 : length;
      for (std::size_t i = 0; i < count; ++i) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at + i]));
      at += count;
      continue;
    }
    out += text.substr(at, length);
    at += length;
  }
  return out;
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace vacant::scan
