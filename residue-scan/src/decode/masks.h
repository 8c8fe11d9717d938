// Byte classes as bit masks, 64 bytes a word: the first look of the decoders at every byte. Private.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vacant/base/bytes.h"

namespace vacant::scan::decode {

// Bit i tells of byte i of the word's 64 bytes.
struct Masks {
  std::uint64_t base64 = 0;     // A-Z a-z 0-9 + / - _
  std::uint64_t zero = 0;       // NUL
  std::uint64_t printable = 0;  // 0x09..0x7F: all of text, and some control characters
  std::uint64_t special = 0;    // what may be an escape, or the first two bytes of a compressed stream
  friend bool operator==(const Masks&, const Masks&) = default;
};

// Fills out[0..words) from bytes[0..64*words]: one byte behind the last word is looked at too.
using MaskFunction = void (*)(const std::byte* bytes, std::size_t words, Masks* out);
MaskFunction mask_function();  // the fastest that the processor has
void masks_portable(const std::byte* bytes, std::size_t words, Masks* out);
void masks_avx2(const std::byte* bytes, std::size_t words, Masks* out);

// The same by table, and what a quick look at a run needs to know of each character.
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
