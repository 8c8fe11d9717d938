#include "decode/classes.h"

#include <string_view>

namespace vacant::scan::decode {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Text is 0x09..0x7E here. Four characters hold bytes a, b, c as aaaaaa aabbbb bbbbcc cccccc.
constexpr std::uint8_t text_bits(unsigned value) {
  std::uint8_t out = kBase64Bit;
  if (value >= 2 && value < 32) out |= kFirstBit;  // byte a below 0x80, and at least 8
  if ((value & 15U) < 8) out |= kSecondBit;        // byte b below 0x80
  if ((value & 3U) < 2) out |= kThirdBit;          // byte c below 0x80
  return out;
}

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> out{};
  for (unsigned value = 0; value < 64; ++value)
    out[static_cast<std::uint8_t>(kAlphabet[value])] = text_bits(value);
  out['-'] = text_bits(62);
  out['_'] = text_bits(63);
  for (const char c : std::string_view("0123456789abcdefABCDEF"))
    out[static_cast<std::uint8_t>(c)] |= kHexBit;
  return out;
}

constexpr std::array<std::uint8_t, 256> kClassTable = make_classes();

}  // namespace

constinit const std::array<std::uint8_t, 256> kClasses = kClassTable;

}  // namespace vacant::scan::decode
