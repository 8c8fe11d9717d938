#include "token/checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace vacant::scan::token {
namespace {

constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kMaxBase64 = 64 * 1024;

Opinion proven() { return {Confidence::kProven, "checksum holds"}; }
Opinion broken() { return {Confidence::kPossible, "checksum does not hold"}; }

int base64_value(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

std::string base62_of(std::uint32_t value) {
  std::string out(6, '0');
  for (std::size_t i = 6; i-- > 0; value /= 62) out[i] = kBase62[value % 62];
  return out;
}

std::string hex_of(std::uint32_t value) {
  std::array<std::byte, 4> bytes{};
  store_le<std::uint32_t>(bytes, 0, __builtin_bswap32(value));
  return to_hex(bytes);
}

std::uint32_t bech32_step(std::uint32_t state, std::uint32_t value) {
  constexpr std::array<std::uint32_t, 5> kGenerator{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                                    0x2a1462b3};
  const std::uint32_t top = state >> 25U;
  state = ((state & 0x1ffffffU) << 5U) ^ value;
  for (unsigned i = 0; i < 5; ++i)
    if (((top >> i) & 1U) != 0) state ^= kGenerator[i];
  return state;
}

// One field of a version 2 macaroon: type, length, bytes. End-of-section has no length.
struct Field {
  unsigned type = 0;
  std::size_t length = 0;
};
std::optional<Field> take_field(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  Field field{.type = static_cast<unsigned char>(rest[0])};
  rest.remove_prefix(1);
  if (field.type == 0) return field;
  for (unsigned shift = 0;; shift += 7) {
    if (rest.empty() || shift > 14) return std::nullopt;
    const auto byte = static_cast<unsigned char>(rest[0]);
    rest.remove_prefix(1);
    field.length |= static_cast<std::size_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) break;
  }
  if (field.length > rest.size()) return std::nullopt;
  rest.remove_prefix(field.length);
  return field;
}

// version, [location] identifier EOS, ([location] identifier [vid] EOS)*, EOS, signature of 32 bytes.
bool is_macaroon(std::string_view bytes) {
  if (bytes.empty() || bytes[0] != 2) return false;
  bytes.remove_prefix(1);
  unsigned in_section = 0;
  while (const auto field = take_field(bytes)) {
    if (field->type == 6) return field->length == 32 && bytes.empty();
    if (field->type != 0 && field->type != 1 && field->type != 2 && field->type != 4) return false;
    if (field->type != 0) {
      ++in_section;
      continue;
    }
    if (in_section == 0) {
      const auto last = take_field(bytes);
      return last && last->type == 6 && last->length == 32 && bytes.empty();
    }
    in_section = 0;
  }
  return false;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() > kMaxBase64 || text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const int value = base64_value(static_cast<unsigned char>(c));
    if (value < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 0xffU);
  }
  return out;
}

Variety variety(std::string_view text) {
  std::array<unsigned, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  Variety out;
  const auto total = static_cast<double>(text.size());
  for (unsigned c = 0; c < 256; ++c) {
    if (counts[c] == 0) continue;
    const int n = static_cast<int>(counts[c]);
    ++out.distinct;
    out.entropy -= n / total * std::log2(n / total);
    if (c >= '0' && c <= '9') out.digits += n;
    if (c >= 'a' && c <= 'z') out.lower += n;
    if (c >= 'A' && c <= 'Z') out.upper += n;
  }
  return out;
}

bool looks_worded(const Variety& v, std::size_t length) {
  return v.digits == 0 && v.distinct * 100 < static_cast<int>(length) * 62;
}

int distinct_floor(std::size_t length) {
  if (length < 12) return 3;
  if (length < 20) return 5;
  return 6;
}

bool json_object(std::string_view text, std::string_view required_key) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  return value.is_object() && (required_key.empty() || value.contains(std::string(required_key)));
}

Opinion check_crc_base62(std::string_view token) {
  const std::string_view body = token.substr(token.size() - 36, 30);
  return base62_of(crc32_ieee(as_bytes(body))) == token.substr(token.size() - 6) ? proven() : broken();
}

Opinion check_crc_hex(std::string_view token) {
  const std::string_view body = token.substr(token.size() - 48, 40);
  return hex_of(crc32_ieee(as_bytes(body))) == token.substr(token.size() - 8) ? proven() : broken();
}

Opinion check_optional_crc(std::string_view token) {
  const std::string_view body = token.substr(0, token.size() - 9);
  const std::size_t cut = body.find('_');
  const std::string_view tail = token.substr(token.size() - 8);
  if (hex_of(crc32_ieee(as_bytes(body.substr(cut + 1)))) == tail) return proven();
  return {};
}

Opinion check_anthropic(std::string_view token) {
  if (token.ends_with("AA")) return {Confidence::kLikely, "fixed tail present"};
  return {Confidence::kPossible, "fixed tail missing"};
}

Opinion check_aws_key_id(std::string_view token) {
  // The first 6 of 10 decoded bytes hold the account number in 40 bits behind the top bit.
  std::uint64_t bits = 0;
  for (const char c : token.substr(4, 10))
    bits = (bits << 5U) | static_cast<std::uint64_t>(c >= 'A' ? c - 'A' : c - '2' + 26);
  const std::uint64_t account = ((bits >> 2U) & 0x7fffffffff80U) >> 7U;
  if (account < 1'000'000'000'000U) return {Confidence::kLikely, "account id decodes"};
  return {Confidence::kPossible, "account id out of range (or an old key)"};
}

Opinion check_age(std::string_view token) {
  constexpr std::string_view kAlphabet = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
  constexpr std::string_view kHrp = "age-secret-key-";
  std::uint32_t state = 1;
  for (const char c : kHrp) state = bech32_step(state, static_cast<unsigned char>(c) >> 5U);
  state = bech32_step(state, 0);
  for (const char c : kHrp) state = bech32_step(state, static_cast<unsigned char>(c) & 31U);
  for (const char c : token.substr(kHrp.size() + 1))
    state = bech32_step(state, static_cast<std::uint32_t>(kAlphabet.find(c)));
  return state == 1 ? proven() : broken();
}

Opinion check_pypi(std::string_view token) {
  const auto bytes = decode_base64(token.substr(5));
  if (bytes && is_macaroon(*bytes)) return {Confidence::kProven, "macaroon parses, signature of 32 bytes"};
  return {Confidence::kPossible, "macaroon does not parse"};
}

Opinion check_azure_key(std::string_view token) {
  const auto bytes = decode_base64(token.substr(token.find('=') + 1));
  if (!bytes || bytes->size() != 64) return {.refuted = true};
  const bool canonical = std::string_view("AQgw").find(token[token.size() - 3]) != std::string_view::npos;
  return {canonical ? Confidence::kLikely : Confidence::kPossible, "base64 of 64 bytes"};
}

Opinion check_json_payload(std::string_view token) {
  std::string_view body = token.substr(token.find('_') + 1);
  if (const std::size_t cut = body.find('_'); token.starts_with("sntrys") && cut != body.npos)
    body = body.substr(0, cut);
  const auto json = decode_base64(body);
  if (json && json_object(*json, "")) return {Confidence::kProven, "JSON payload parses"};
  return {Confidence::kPossible, "JSON payload does not parse"};
}

Opinion check_mixed(std::string_view token) {
  const Variety v = variety(token);
  return {.confidence = Confidence::kPossible,
          .refuted = looks_worded(v, token.size()) || v.lower < 2 || v.upper < 2};
}

Opinion check_alnum(std::string_view token) {
  const Variety v = variety(token);
  return {.refuted = looks_worded(v, token.size()) || v.lower + v.upper < 4};
}

Opinion check_possible(std::string_view) { return {.confidence = Confidence::kPossible}; }

}  // namespace vacant::scan::token
