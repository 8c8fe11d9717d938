// Shape: a credential's form in a small notation, matched greedily and without backtracking.
//   literal characters stand for themselves; {c:n} and {c:m-n} are n (m to n) characters of class c:
//   d 0-9 | h 0-9a-f | X 0-9a-fA-F | b base62 | w base62 _ - | s base62 + / | l letters | U A-Z 0-9
//   k A-Z 2-7 | q bech32 in upper case | z base62 _ - . ~ | p base62 - _ % . + /
// A run of a class must end where the class ends: one character more than allowed is no match.
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vacant/base/bytes.h"

namespace vacant::scan::token {

bool in_class(char cls, unsigned char c);
inline bool is_word(unsigned char c) { return in_class('b', c) || c == '_'; }

struct ShapePart {
  char cls = 0;  // 0: a literal character
  char literal = 0;
  std::size_t min = 1;
  std::size_t max = 1;
};
using Shape = std::vector<ShapePart>;

Shape parse_shape(std::string_view notation);
// The length of the shape at the start of text, or nothing. Checks that the last run is not continued.
std::optional<std::size_t> match_shape(const Shape& shape, std::string_view text);

// The first run of literals, which the search looks for. Runs of classes in front have a fixed length, so the
// start of a match follows from the literal's end: no search for the start of a match is needed.
struct Lead {
  std::string literal;
  std::size_t length = 0;  // from the start of the match to the literal's end
};
Lead shape_lead(const Shape& shape);

// True where a token may begin at `at`: no word character in front, save one that ends an escape
// (\n \r \t, \u00xx, %xx), since files of one kind are often held inside strings of another.
bool starts_cleanly(std::string_view text, std::size_t at);
bool ends_cleanly(std::string_view text, std::size_t at);

}  // namespace vacant::scan::token
