// Made-up credentials of every token rule's form, with right checksums. Made at run time from a seed, so no
// source file holds one. Each is worthless: random characters that no issuer gave out.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace vacant::props {

// For context rules the text that holds the token: token_at and token_length say where it is.
struct MadeToken {
  std::string text;
  std::size_t token_at = 0;
  std::size_t token_length = 0;
};

MadeToken make_token_text(std::string_view rule_id, std::mt19937_64& random);
// The whole text of make_token_text. Empty for an unknown rule.
std::string make_token(std::string_view rule_id, std::mt19937_64& random);

}  // namespace vacant::props
