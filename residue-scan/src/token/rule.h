// TokenRule: one row of the rule table; see docs/formats/rules.md. Immutable, made once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "token/shape.h"
#include "vacant/scan/finding.h"

namespace vacant::scan::token {

// What a closer look at the matched characters says.
struct Opinion {
  Confidence confidence = Confidence::kLikely;
  std::string detail = {};
  bool refuted = false;  // the structure shows that it is no credential
};
using Check = Opinion (*)(std::string_view token);

struct Match {
  std::size_t begin = 0;
  std::size_t length = 0;
  Opinion opinion = {};
};
// For forms that are no plain shape: looks around an anchor, whose place in text it is given.
using Finder = std::optional<Match> (*)(std::string_view text, std::size_t begin, std::size_t end);

struct TokenRule {
  std::string_view id;
  std::string_view description;
  std::string_view shape = {};   // empty for a Finder
  Check check = nullptr;         // null: likely
  std::string_view anchor = {};  // Finder: the literal that it looks around
  Finder find = nullptr;
  bool checksum = false;
};

const std::vector<TokenRule>& token_table();
std::vector<TokenRule> shape_rules();
std::vector<TokenRule> finder_rules();

}  // namespace vacant::scan::token
