// Offline checks of token bodies. All take hostile characters, are pure and linear in their length.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "token/rule.h"

namespace vacant::scan::token {

// Base64 in either alphabet, padding optional; at most 64 KiB. Nothing if a character is foreign.
std::optional<std::string> decode_base64(std::string_view text);

// How mixed a text is. Real tokens are random; these floors refute runs such as AAAA and abababab.
struct Variety {
  int distinct = 0, digits = 0, lower = 0, upper = 0;
  double entropy = 0;  // bits a character
};
Variety variety(std::string_view text);
// Random base62 has digits or at least many distinct letters; identifiers made of words have neither.
bool looks_worded(const Variety& v, std::size_t length);
// The least number of distinct characters that random text of this length has: the chance that a random
// one falls below is under 1e-6 (tests/unit/scan_token measures it).
int distinct_floor(std::size_t length);

Opinion check_crc_base62(std::string_view token);    // GitHub, npm: last 6 of the body
Opinion check_crc_hex(std::string_view token);       // Cloudflare: last 8 of the body
Opinion check_optional_crc(std::string_view token);  // checksum of unconfirmed coverage: it can only confirm
Opinion check_anthropic(std::string_view token);
Opinion check_aws_key_id(std::string_view token);
Opinion check_age(std::string_view token);
Opinion check_pypi(std::string_view token);
Opinion check_azure_key(std::string_view token);
Opinion check_json_payload(std::string_view token);  // base64 JSON behind the first '_'
Opinion check_mixed(std::string_view token);         // needs digits, lower and upper case: kPossible
Opinion check_alnum(std::string_view token);         // needs letters and digits
Opinion check_possible(std::string_view token);

bool json_object(std::string_view text, std::string_view required_key);

}  // namespace vacant::scan::token
