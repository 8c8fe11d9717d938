#include "decode/glance.h"

#include <immintrin.h>

#include <bit>

#include "decode/classes.h"

namespace vacant::scan::decode {
namespace {

constexpr std::size_t kMinWideLettersA = 5;

std::uint8_t u8(std::byte byte) { return std::to_integer<std::uint8_t>(byte); }

// Four characters that can encode three bytes of text.
bool is_text_group(const std::byte* at) {
  return (class_of(at[0]) & kFirstBit) != 0 && (class_of(at[1]) & kSecondBit) != 0 &&
         (class_of(at[2]) & kThirdBit) != 0;
}

// kPlausibleRun bytes of text hold three whole groups in a row, so of each alignment every third group is
// looked at, and its neighbours only if that one may be text.
bool has_text_groups(ByteSpan text) {
  static_assert(kPlausibleRun >= 2 + 3 * 3);
  const std::byte* const data = text.data();
  const std::size_t end = text.size() - 3;  // of group starts
  for (std::size_t alignment = 0; alignment < 4; ++alignment) {
    for (std::size_t at = alignment + 8; at < end; at += 12) {
      if (!is_text_group(data + at)) continue;
      std::size_t count = 1;
      for (std::size_t i = 1; i <= 2 && is_text_group(data + at - 4 * i); ++i) ++count;
      for (std::size_t i = 1; i <= 2 && at + 4 * i < end && is_text_group(data + at + 4 * i); ++i) ++count;
      if (count >= 3) return true;
    }
  }
  return false;
}

// H4sI, KLUv, UEsD, eJ, eA, eF, eN at any of the first four places: what base64 makes of compressed_start().
bool may_be_compressed(ByteSpan text) {
  for (std::size_t i = 0; i < 4; ++i) {
    const unsigned pair = u8(text[i]) << 8U | u8(text[i + 1]);
    const bool zlib = pair == 0x654A || pair == 0x6541 || pair == 0x6546 || pair == 0x654E;
    if (zlib || pair == 0x4834 || pair == 0x4B4C || pair == 0x5545) return true;
  }
  return false;
}

// Wide text of 8 characters has 5 or more 'A's, for the upper halves of its units.
std::size_t count_of_a(ByteSpan text) {
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7F, kLetters = 0x4141414141414141;
  std::size_t count = 0, at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const std::uint64_t differs = load_le<std::uint64_t>(text, at) ^ kLetters;
    const std::uint64_t equal = ~(((differs & kLow) + kLow) | differs | kLow);  // bit 7 of each byte
    count += (equal >> 7U) * 0x0101010101010101U >> 56U;
  }
  for (; at < text.size(); ++at) count += text[at] == std::byte{'A'};
  return count;
}

bool has_hex_digits(ByteSpan text) {
  for (std::size_t at = kMinHexDigits - 1; at < text.size();) {
    std::size_t begin = at + 1;
    while (begin > at + 1 - kMinHexDigits && is_hex(text[begin - 1])) --begin;
    if (begin == at + 1 - kMinHexDigits) return true;
    at = begin - 1 + kMinHexDigits;
  }
  return false;
}

bool is_ruler(ByteSpan text) { return std::memcmp(text.data(), text.data() + 1, text.size() - 1) == 0; }

#define VACANT_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))

// What is known of up to 64 characters, a bit each.
struct CharMasks {
  std::uint64_t first, second, third, hex, letter_a, like_the_first;
};
VACANT_VBMI __attribute__((always_inline)) inline CharMasks char_masks(const std::byte* at,
                                                                       std::uint64_t valid,
                                                                       char first_character) {
  const auto has = [](__m512i classes, ClassBit bit) VACANT_VBMI {
    return std::uint64_t{_mm512_test_epi8_mask(classes, _mm512_set1_epi8(static_cast<char>(bit)))};
  };
  const __m512i low = _mm512_loadu_si512(kClasses.data());
  const __m512i high = _mm512_loadu_si512(kClasses.data() + 64);
  const __m512i characters = _mm512_maskz_loadu_epi8(valid, at);  // all below 128; NUL has no class
  const __m512i classes = _mm512_permutex2var_epi8(low, characters, high);
  return {has(classes, kFirstBit),
          has(classes, kSecondBit),
          has(classes, kThirdBit),
          has(classes, kHexBit),
          _mm512_mask_cmpeq_epi8_mask(valid, characters, _mm512_set1_epi8('A')),
          _mm512_mask_cmpeq_epi8_mask(valid, characters, _mm512_set1_epi8(first_character))};
}

// Three groups of four characters in a row that can encode nine bytes of text.
bool has_three_groups(const CharMasks& masks, std::uint64_t valid) {
  const std::uint64_t groups = masks.first & masks.second >> 1U & masks.third >> 2U & valid >> 3U;
  return (groups & groups >> 4U & groups >> 8U) != 0;
}

bool has_32(std::uint64_t mask) {
  static_assert(kMinHexDigits == 32);
  mask &= mask >> 1U;
  mask &= mask >> 2U;
  mask &= mask >> 4U;
  mask &= mask >> 8U;
  return (mask & mask >> 16U) != 0;
}

}  // namespace

Glance glance_portable(ByteSpan bytes, const Range& run) {
  const ByteSpan text = bytes.subspan(run.begin, run.size());
  Glance out;
  if (is_ruler(text)) return out;
  out.goes_on = next_line(bytes, run.end).has_value();
  out.text = has_text_groups(text) || may_be_compressed(text) || count_of_a(text) >= kMinWideLettersA;
  out.hex = has_hex_digits(text);
  return out;
}

// Looks at 64 characters, then goes on by 32: whatever is looked for fits into 33.
VACANT_VBMI Glance glance_avx512(ByteSpan bytes, const Range& run) {
  constexpr std::size_t kLook = 64, kStep = 32;
  const ByteSpan text = bytes.subspan(run.begin, run.size());
  Glance out;
  bool ruler = true;
  int letters_a = 0;
  for (std::size_t at = 0;; at += kStep) {
    const std::size_t left = text.size() - at;
    const std::uint64_t valid = left >= kLook ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const CharMasks masks = char_masks(text.data() + at, valid, static_cast<char>(text[0]));
    out.text = out.text || has_three_groups(masks, valid);
    out.hex = out.hex || has_32(masks.hex);
    ruler = ruler && masks.like_the_first == valid;
    const bool last = left <= kLook;
    letters_a += std::popcount(last ? masks.letter_a : masks.letter_a & 0xFFFFFFFFU);
    if (last) break;
  }
  if (ruler) return {};
  out.text = out.text || may_be_compressed(text) || static_cast<std::size_t>(letters_a) >= kMinWideLettersA;
  out.goes_on = next_line(bytes, run.end).has_value();
  return out;
}

Glance glance(ByteSpan bytes, const Range& run) {
  static const auto chosen = has_avx512_vbmi() ? &glance_avx512 : &glance_portable;
  return chosen(bytes, run);
}

}  // namespace vacant::scan::decode
