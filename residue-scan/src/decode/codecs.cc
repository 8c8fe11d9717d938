#include "decode/codecs.h"

#include <algorithm>
#include <array>
#include <optional>

#include "decode/classes.h"

namespace vacant::scan::decode {
namespace {

constexpr std::size_t kMinWideChars = 8;
constexpr std::size_t kMinEscapes = 3;

std::uint8_t u8(std::byte byte) { return std::to_integer<std::uint8_t>(byte); }

constexpr std::array<std::uint8_t, 256> make_values() {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> out{};
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    out[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  out['-'] = 62;
  out['_'] = 63;
  return out;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::uint32_t value_of(std::byte c) { return kValues[u8(c)]; }

std::optional<unsigned> hex_digit(std::byte byte) {
  const unsigned c = u8(byte);
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 32U) >= 'a' && (c | 32U) <= 'f') return (c | 32U) - 'a' + 10;
  return std::nullopt;
}

// `count` hex digits at `at`.
std::optional<unsigned> hex_number(ByteSpan bytes, std::size_t at, std::size_t count) {
  if (at > bytes.size() || bytes.size() - at < count) return std::nullopt;
  unsigned value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto digit = hex_digit(bytes[at + i]);
    if (!digit) return std::nullopt;
    value = value << 4U | *digit;
  }
  return value;
}

bool is_printable(std::byte byte) { return u8(byte) >= 0x20 && u8(byte) < 0x7F; }
bool is_text(std::byte byte) {
  return is_printable(byte) || u8(byte) == '\t' || u8(byte) == '\n' || u8(byte) == '\r';
}

std::size_t count_below(std::size_t limit, const Range& part) {
  return std::clamp(limit, part.begin, part.end) - part.begin;
}

void append_line(Chars& chars, ByteSpan bytes, const Range& part, const Range& owned) {
  chars.lines.emplace_back(chars.text.size(), part.begin);
  chars.owned.begin += count_below(owned.begin, part);
  chars.owned.end += count_below(owned.end, part);
  const ByteSpan line = bytes.subspan(part.begin, part.size());
  chars.text.insert(chars.text.end(), line.begin(), line.end());
}

// Copies input to output byte by byte while noting where the owned part begins and ends.
class Output {
 public:
  Output(const Range& range, const Range& owned) : owned_(owned) {
    out_.bytes.reserve(range.size());
    out_.owned = {0, 0};
  }
  void put(std::size_t from, std::uint32_t byte) {
    if (from < owned_.begin) ++out_.owned.begin;
    if (from < owned_.end) ++out_.owned.end;
    out_.bytes.push_back(static_cast<std::byte>(byte));
  }
  Decoded take() { return std::move(out_); }

 private:
  Range owned_;
  Decoded out_;
};

struct Escape {
  std::size_t length = 0;  // 0: none
  std::uint32_t code = 0;
  bool strong = false;
};

Escape percent_escape(ByteSpan bytes, std::size_t at) {
  if (u8(bytes[at]) != '%') return {};
  const auto value = hex_number(bytes, at + 1, 2);
  return value ? Escape{3, *value, false} : Escape{};
}

Escape json_escape(ByteSpan bytes, std::size_t at) {
  if (u8(bytes[at]) != '\\' || at + 1 >= bytes.size()) return {};
  switch (u8(bytes[at + 1])) {
    case '"':
      return {2, '"', false};
    case '\\':
      return {2, '\\', false};
    case '/':
      return {2, '/', true};
    case 'b':
      return {2, '\b', false};
    case 'f':
      return {2, '\f', false};
    case 'n':
      return {2, '\n', false};
    case 'r':
      return {2, '\r', false};
    case 't':
      return {2, '\t', false};
    case 'u': {
      const auto value = hex_number(bytes, at + 2, 4);
      return value ? Escape{6, *value, *value < 0x100} : Escape{};
    }
    default:
      return {};
  }
}

using EscapeAt = Escape (*)(ByteSpan, std::size_t);
using Inside = bool (*)(std::byte);

bool in_url(std::byte byte) { return is_printable(byte) && u8(byte) != ' ' && u8(byte) != '"'; }
bool in_json_string(std::byte byte) { return u8(byte) >= 0x20 && u8(byte) != '"'; }

// Walks on from the escape at `at` while the next one is near; back by at most kEscapeGap.
Range cluster(ByteSpan bytes, std::size_t at, EscapeAt escape_at, Inside inside, std::size_t& count,
              bool& strong) {
  Range out{at, at};
  while (out.begin > 0 && at - out.begin < kEscapeGap && inside(bytes[out.begin - 1])) --out.begin;
  std::size_t last = at;
  for (std::size_t i = at; i < bytes.size() && i - last <= kEscapeGap;) {
    const Escape escape = escape_at(bytes, i);
    if (escape.length > 0) {
      ++count;
      strong = strong || escape.strong;
      i += escape.length;
      last = i;
    } else if (inside(bytes[i])) {
      ++i;
    } else {
      break;
    }
    out.end = i;
  }
  return out;
}

Decoded unescape(ByteSpan bytes, const Range& range, const Range& owned, EscapeAt escape_at) {
  Output out(range, owned);
  for (std::size_t i = range.begin; i < range.end;) {
    const Escape escape = escape_at(bytes, i);
    if (escape.length == 0) {
      out.put(i, u8(bytes[i]));
      ++i;
      continue;
    }
    if (escape.code < 0x80 || escape.length == 3) {
      out.put(i, escape.code);
    } else if (escape.code < 0x800) {
      out.put(i, 0xC0U | escape.code >> 6U);
      out.put(i, 0x80U | (escape.code & 63U));
    } else {
      out.put(i, 0xE0U | escape.code >> 12U);
      out.put(i, 0x80U | (escape.code >> 6U & 63U));
      out.put(i, 0x80U | (escape.code & 63U));
    }
    i += escape.length;
  }
  return out.take();
}

// Looks at every kPlausibleRun-th byte only, until one is printable.
bool has_printable_run(ByteSpan bytes) {
  for (std::size_t at = kPlausibleRun - 1; at < bytes.size();) {
    std::size_t begin = at + 1;
    while (begin > at + 1 - kPlausibleRun && is_text(bytes[begin - 1])) --begin;
    if (begin == at + 1 - kPlausibleRun) return true;
    at = begin - 1 + kPlausibleRun;
  }
  return false;
}

bool has_wide_run(ByteSpan bytes) {
  std::array<std::size_t, 2> run{};
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    const bool pair = is_printable(bytes[i]) && u8(bytes[i + 1]) == 0;
    run[i % 2] = pair ? run[i % 2] + 1 : 0;
    if (run[i % 2] >= kMinWideChars) return true;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> next_line(ByteSpan bytes, std::size_t at) {
  constexpr std::size_t kMaxIndent = 32;
  if (at < bytes.size() && u8(bytes[at]) == '\r') ++at;
  if (at >= bytes.size() || u8(bytes[at]) != '\n') return std::nullopt;
  const std::size_t limit = std::min(bytes.size(), ++at + kMaxIndent);
  while (at < limit && (u8(bytes[at]) == ' ' || u8(bytes[at]) == '\t')) ++at;
  if (at >= bytes.size() || !is_base64(bytes[at])) return std::nullopt;
  return at;
}

std::size_t Chars::position(std::size_t offset) const {
  auto line = std::ranges::upper_bound(lines, offset, {}, &std::pair<std::size_t, std::size_t>::first);
  VACANT_ASSERT(line != lines.begin());
  --line;
  return line->second + (offset - line->first);
}

Chars gather(ByteSpan bytes, Range& run, const Range& owned) {
  Chars chars;
  append_line(chars, bytes, run, owned);
  chars.first_line = run.size();
  for (std::size_t length = run.size(); length >= kMinBase64Chars;) {
    const auto begin = next_line(bytes, run.end);
    if (!begin) break;
    Range line{*begin, *begin};
    while (line.end < bytes.size() && is_base64(bytes[line.end])) ++line.end;
    chars.broken = true;
    append_line(chars, bytes, line, owned);
    run.end = line.end;
    length = line.size();
  }
  chars.wrapped = chars.broken;
  for (std::size_t i = 2; i + 1 < chars.lines.size(); ++i)
    chars.wrapped = chars.wrapped && chars.lines[i].first - chars.lines[i - 1].first ==
                                         chars.lines[i + 1].first - chars.lines[i].first;
  return chars;
}

Decoded decode_base64(const Chars& chars, std::size_t phase) {
  Decoded out;
  if (chars.text.size() <= phase) return out;
  const ByteSpan in = ByteSpan(chars.text).subspan(phase);
  out.bytes.resize(in.size() * 6 / 8);
  std::size_t at = 0, to = 0;
  for (; at + 4 <= in.size(); at += 4, to += 3) {
    const std::uint32_t group = value_of(in[at]) << 18U | value_of(in[at + 1]) << 12U |
                                value_of(in[at + 2]) << 6U | value_of(in[at + 3]);
    out.bytes[to] = static_cast<std::byte>(group >> 16U);
    out.bytes[to + 1] = static_cast<std::byte>(group >> 8U);
    out.bytes[to + 2] = static_cast<std::byte>(group);
  }
  std::uint32_t rest = 0;
  for (std::size_t i = 0; i < 3; ++i) rest = rest << 6U | (at + i < in.size() ? value_of(in[at + i]) : 0);
  if (to < out.bytes.size()) out.bytes[to] = static_cast<std::byte>(rest >> 10U);
  if (to + 1 < out.bytes.size()) out.bytes[to + 1] = static_cast<std::byte>(rest >> 2U);
  // Byte k begins in character phase + 8k/6, rounded down.
  const auto first_from = [&](std::size_t character) {
    return std::min(out.bytes.size(), character <= phase ? 0 : ((character - phase) * 3 + 3) / 4);
  };
  out.owned = {first_from(chars.owned.begin), first_from(chars.owned.end)};
  return out;
}

Decoded decode_hex(const Chars& chars, const Range& range) {
  Decoded out;
  out.bytes.reserve(range.size() / 2);
  for (std::size_t i = range.begin; i + 1 < range.end; i += 2)
    out.bytes.push_back(static_cast<std::byte>(hex_number(chars.text, i, 2).value_or(0)));
  const auto first_from = [&](std::size_t digit) {
    return std::min(out.bytes.size(), digit <= range.begin ? 0 : (digit - range.begin + 1) / 2);
  };
  out.owned = {first_from(chars.owned.begin), first_from(chars.owned.end)};
  return out;
}

Cluster percent_cluster(ByteSpan bytes, std::size_t at) {
  if (percent_escape(bytes, at).length == 0) return {{at, at}, false};
  std::size_t count = 0;
  bool strong = false;
  const Range range = cluster(bytes, at, percent_escape, in_url, count, strong);
  return {range, count >= kMinEscapes};
}

Cluster json_cluster(ByteSpan bytes, std::size_t at) {
  if (json_escape(bytes, at).length == 0) return {{at, at}, false};
  std::size_t count = 0;
  bool strong = false;
  const Range range = cluster(bytes, at, json_escape, in_json_string, count, strong);
  return {range, strong || count >= kMinEscapes};
}

Decoded decode_percent(ByteSpan bytes, const Range& range, const Range& owned) {
  return unescape(bytes, range, owned, percent_escape);
}

Decoded decode_json(ByteSpan bytes, const Range& range, const Range& owned) {
  return unescape(bytes, range, owned, json_escape);
}

Range wide_run(ByteSpan bytes, std::size_t at) {
  const auto pair = [&](std::size_t nul) { return u8(bytes[nul]) == 0 && is_text(bytes[nul - 1]); };
  if (at == 0 || !pair(at)) return {at, at};
  std::size_t first = at, last = at;
  while (first >= 3 && pair(first - 2)) first -= 2;
  while (last + 2 < bytes.size() && pair(last + 2)) last += 2;
  Range out{first - 1, last};
  // In big-endian order the last character has no NUL behind it.
  if (last + 1 < bytes.size() && is_text(bytes[last + 1])) out.end = last + 2;
  return (out.size() + 1) / 2 >= kMinWideChars ? out : Range{at, at};
}

Decoded decode_wide(ByteSpan bytes, const Range& range, const Range& owned) {
  Output out(range, owned);
  for (std::size_t i = range.begin; i < range.end; i += 2) out.put(i, u8(bytes[i]));
  return out.take();
}

bool compressed_start(ByteSpan bytes) {
  if (bytes.size() < 4) return false;
  const auto head = load_be<std::uint32_t>(bytes, 0);
  return head >> 8U == 0x1F8B08 || head == 0x28B52FFD || head == 0x504B0304 || head >> 16U == 0x789C ||
         head >> 16U == 0x7801 || head >> 16U == 0x785E || head >> 16U == 0x78DA;
}

bool plausible(ByteSpan bytes) {
  return has_printable_run(bytes) || compressed_start(bytes) || has_wide_run(bytes);
}

}  // namespace vacant::scan::decode
