// Byte classes as bit masks, 64 bytes a word: the first look at every byte. Private to scan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vacant/base/bytes.h"

namespace vacant::scan {

inline constexpr std::size_t kMaskWordBytes = 64;
inline constexpr std::size_t kMaskWords = 64;
inline constexpr std::size_t kMaskBlockBytes = kMaskWords * kMaskWordBytes;

// The masks of a block: bit i of word w tells of byte 64 * w + i. Word 0 stands at index 1; at index 0 is the
// last word of the block before, or 0.
struct MaskBlock {
  using Words = std::array<std::uint64_t, kMaskWords + 1>;
  Words base64{};     // A-Z a-z 0-9 + / - _
  Words zero{};       // NUL
  Words printable{};  // 0x09..0x7F: all of text, and some control characters
  Words special{};    // the first of two bytes that begin what Landmarks::special tells
  friend bool operator==(const MaskBlock&, const MaskBlock&) = default;
};

// Of NULs, and of the bytes behind printable ones: where pairs of both begin that are 4 or more in a row.
inline std::uint64_t wide_pairs(std::uint64_t zero, std::uint64_t behind_printable) {
  std::uint64_t pairs = zero & behind_printable;
  pairs &= pairs >> 2U;
  return pairs & pairs >> 4U;
}

// One implementation for one kind of processor; all of them have the same results.
struct MaskFunctions {
  // Moves the last words to index 0, then fills the others from bytes[0..kMaskBlockBytes]: one byte behind
  // the block is looked at too.
  void (*fill)(const std::byte* bytes, MaskBlock& out);
  // False if the block has no run of base64, no text and no wide text that Landmarks would tell of, also
  // together with the block before it.
  bool (*has_runs)(const MaskBlock& block);
};
const MaskFunctions& mask_functions();  // the fastest that the processor has
const MaskFunctions& portable_mask_functions();
const MaskFunctions& avx2_mask_functions();    // needs has_avx2()
const MaskFunctions& avx512_mask_functions();  // needs has_avx512()

}  // namespace vacant::scan
