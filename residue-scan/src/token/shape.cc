#include "token/shape.h"

#include <algorithm>
#include <array>

namespace vacant::scan::token {
namespace {

constexpr std::string_view kClasses = "dhXbwslUkqzp";

bool by_definition(char cls, unsigned char c) {
  const bool digit = c >= '0' && c <= '9';
  const bool lower = c >= 'a' && c <= 'z';
  const bool upper = c >= 'A' && c <= 'Z';
  const bool base62 = digit || lower || upper;
  const auto extra = [c](std::string_view set) { return set.find(static_cast<char>(c)) != set.npos; };
  switch (cls) {
    case 'd':
      return digit;
    case 'h':
      return digit || (c >= 'a' && c <= 'f');
    case 'X':
      return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case 'b':
      return base62;
    case 'w':
      return base62 || extra("_-");
    case 's':
      return base62 || extra("+/");
    case 'l':
      return lower || upper;
    case 'U':
      return digit || upper;
    case 'k':
      return upper || (c >= '2' && c <= '7');
    case 'q':
      return extra("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L");
    case 'z':
      return base62 || extra("_-.~");
    case 'p':
      return base62 || extra("-_%.+/");
    default:
      return false;
  }
}

using ClassTable = std::array<std::array<bool, 256>, 128>;
ClassTable make_classes() {
  ClassTable table{};
  for (const char cls : kClasses)
    for (unsigned c = 0; c < 256; ++c)
      table[static_cast<unsigned char>(cls)][c] = by_definition(cls, static_cast<unsigned char>(c));
  return table;
}

std::size_t number(std::string_view text, std::size_t& at) {
  std::size_t value = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9')
    value = value * 10 + static_cast<std::size_t>(text[at++] - '0');
  return value;
}

bool hex_at(std::string_view text, std::size_t at, std::size_t count) {
  for (std::size_t i = at; i < at + count; ++i)
    if (!in_class('X', static_cast<unsigned char>(text[i]))) return false;
  return true;
}

}  // namespace

bool in_class(char cls, unsigned char c) {
  static const ClassTable table = make_classes();
  return table[static_cast<unsigned char>(cls) & 127U][c];
}

Shape parse_shape(std::string_view notation) {
  Shape shape;
  for (std::size_t at = 0; at < notation.size(); ++at) {
    if (notation[at] != '{') {
      shape.push_back({.literal = notation[at]});
      continue;
    }
    ShapePart part{.cls = notation[at + 1]};
    at += 3;
    part.min = number(notation, at);
    part.max = part.min;
    if (notation[at] == '-') part.max = number(notation, ++at);
    VACANT_ASSERT(at < notation.size() && notation[at] == '}' && part.max >= part.min);
    shape.push_back(part);
  }
  return shape;
}

std::optional<std::size_t> match_shape(const Shape& shape, std::string_view text) {
  std::size_t at = 0;
  for (const ShapePart& part : shape) {
    if (part.cls == 0) {
      if (at >= text.size() || text[at++] != part.literal) return std::nullopt;
      continue;
    }
    const std::size_t limit = std::min(text.size(), at + part.max);
    const std::size_t begin = at;
    while (at < limit && in_class(part.cls, static_cast<unsigned char>(text[at]))) ++at;
    if (at - begin < part.min) return std::nullopt;
  }
  const char last = shape.back().cls;
  if (last != 0 && at < text.size() && in_class(last, static_cast<unsigned char>(text[at])))
    return std::nullopt;
  return at;
}

Lead shape_lead(const Shape& shape) {
  Lead lead;
  for (const ShapePart& part : shape) {
    if (part.cls == 0) {
      lead.literal += part.literal;
    } else {
      if (!lead.literal.empty()) break;
      VACANT_ASSERT(part.min == part.max);
      lead.length += part.min;
    }
  }
  lead.length += lead.literal.size();
  return lead;
}

bool starts_cleanly(std::string_view text, std::size_t at) {
  if (at == 0 || !is_word(static_cast<unsigned char>(text[at - 1]))) return true;
  const char before = text[at - 1];
  if (at >= 2 && text[at - 2] == '\\' && (before == 'n' || before == 'r' || before == 't')) return true;
  if (at >= 3 && text[at - 3] == '%' && hex_at(text, at - 2, 2)) return true;
  return at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u' && hex_at(text, at - 4, 4);
}

bool ends_cleanly(std::string_view text, std::size_t at) {
  return at >= text.size() || !is_word(static_cast<unsigned char>(text[at]));
}

}  // namespace vacant::scan::token
