// Classes of single bytes, by table. Private.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vacant/base/bytes.h"

namespace vacant::scan::decode {

// What a quick look at a run needs to know of each character.
enum ClassBit : std::uint8_t {
  kBase64Bit = 1,
  kHexBit = 2,
  // A character of base64 that can be the first, second or third of four that encode text.
  kFirstBit = 4,
  kSecondBit = 8,
  kThirdBit = 16,
};
extern const std::array<std::uint8_t, 256> kClasses;
inline std::uint8_t class_of(std::byte byte) { return kClasses[std::to_integer<std::size_t>(byte)]; }
inline bool is_base64(std::byte byte) { return (class_of(byte) & kBase64Bit) != 0; }
inline bool is_hex(std::byte byte) { return (class_of(byte) & kHexBit) != 0; }

}  // namespace vacant::scan::decode
