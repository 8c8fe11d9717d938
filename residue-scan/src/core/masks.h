// Byte classes as bit masks, 64 bytes a word: the first look at every byte. Private to scan.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vacant/base/bytes.h"

namespace vacant::scan {

// Bit i tells of byte i of the word's 64 bytes.
struct Masks {
  std::uint64_t base64 = 0;     // A-Z a-z 0-9 + / - _
  std::uint64_t zero = 0;       // NUL
  std::uint64_t printable = 0;  // 0x09..0x7F: all of text, and some control characters
  std::uint64_t special = 0;    // the first of two bytes that begin what Landmarks::special tells
  friend bool operator==(const Masks&, const Masks&) = default;
};

// Fills out[0..words) from bytes[0..64*words]: one byte behind the last word is looked at too.
using MaskFunction = void (*)(const std::byte* bytes, std::size_t words, Masks* out);
MaskFunction mask_function();  // the fastest that the processor has
void masks_portable(const std::byte* bytes, std::size_t words, Masks* out);
void masks_avx2(const std::byte* bytes, std::size_t words, Masks* out);
void masks_avx512(const std::byte* bytes, std::size_t words, Masks* out);

}  // namespace vacant::scan
