// Byte classes as bit masks, 64 bytes a word: the first look of the decoders at every byte. Private.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vacant/base/bytes.h"

namespace vacant::scan::decode {

// Bit i tells of byte i of the word's 64 bytes.
struct Masks {
  std::uint64_t base64 = 0;     // A-Z a-z 0-9 + / - _
  std::uint64_t zero = 0;       // NUL
  std::uint64_t printable = 0;  // 0x20..0x7F, and the white space of text (HT, LF, CR)
  std::uint64_t special = 0;    // '%', '\', or the first two bytes of a compressed stream
  friend bool operator==(const Masks&, const Masks&) = default;
};

// Fills out[0..words) from bytes[0..64*words]: one byte behind the last word is looked at too.
using MaskFunction = void (*)(const std::byte* bytes, std::size_t words, Masks* out);
MaskFunction mask_function();  // the fastest that the processor has
void masks_portable(const std::byte* bytes, std::size_t words, Masks* out);
void masks_avx2(const std::byte* bytes, std::size_t words, Masks* out);

bool is_base64(std::byte byte);
bool is_hex(std::byte byte);

}  // namespace vacant::scan::decode
