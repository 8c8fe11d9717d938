#include "core/masks.h"

#include <immintrin.h>

#include <array>

namespace vacant::scan {
namespace {

// Membership by nibbles: a byte is in a class if the tables of its low and its high half share the class's
// bit. That is exact for single bytes and for products of halves, which is what the tables below are made of.
using Nibbles = std::array<std::uint8_t, 16>;

// Base64. Bit 0: high half 2 (+ - /); 1: 3 (digits); 2: 4 and 6 (A-O, a-o); 3: 5 and 7 (P-Z, p-z); 4: 5
// (underscore).
constexpr Nibbles kBase64Low = {10, 14, 14, 14, 14, 14, 14, 14, 14, 14, 12, 5, 4, 5, 4, 21};
constexpr Nibbles kBase64High = {0, 0, 1, 2, 4, 24, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0};

// The first byte of something special, exact. Bit 0: '%'; 1: '\\'; 2: gzip 1f; 3: zstd 28; 4: zip 'P'; 5:
// zlib 78; 6: 'W', as LevelDB's magic begins; 7: '-', the last before "BEGIN".
constexpr Nibbles kFirstLow = {16, 0, 0, 0, 0, 1, 0, 64, 8 | 32, 0, 0, 0, 2, 128, 0, 4};
constexpr Nibbles kFirstHigh = {0, 4, 1 | 8 | 128, 0, 0, 2 | 16 | 64, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0};
// The byte behind it, same bits. Bits 0, 1 and 5 take in a few bytes too many; who is told looks again. Bit
// 0: hex digits; 1: one of u / n r t " b f \\; 2: 8b; 3: b5; 4: 'K'; 5: 01, 5e, 9c, da; 6: fb; 7: 'B'.
constexpr Nibbles kSecondLow = {1, 1 | 32, 1 | 2 | 128, 1,           1 | 2,  1 | 2 | 8, 1 | 2,  1,
                                1, 1,      32,          4 | 16 | 64, 2 | 32, 0,         2 | 32, 2};
constexpr Nibbles kSecondHigh = {32, 0, 2, 1, 1 | 16 | 128, 2 | 32, 1 | 2, 2, 4, 32, 0, 8, 0, 32, 0, 64};

std::uint8_t lookup(const Nibbles& low, const Nibbles& high, std::byte byte) {
  const auto value = std::to_integer<unsigned>(byte);
  return low[value & 15U] & high[value >> 4U];
}

}  // namespace

void masks_portable(const std::byte* bytes, std::size_t words, Masks* out) {
  for (std::size_t word = 0; word < words; ++word) {
    Masks masks;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::byte* at = bytes + word * 64 + i;
      const auto value = std::to_integer<unsigned>(at[0]);
      const bool special =
          (lookup(kFirstLow, kFirstHigh, at[0]) & lookup(kSecondLow, kSecondHigh, at[1])) != 0;
      masks.base64 |= std::uint64_t{lookup(kBase64Low, kBase64High, at[0]) != 0} << i;
      masks.zero |= std::uint64_t{value == 0} << i;
      masks.printable |= std::uint64_t{value >= 9 && value < 128} << i;
      masks.special |= std::uint64_t{special} << i;
    }
    out[word] = masks;
  }
}

namespace {

#define VACANT_AVX2 __attribute__((target("avx2"), always_inline)) inline

VACANT_AVX2 std::uint32_t bits(__m256i lanes) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes));
}

VACANT_AVX2 __m256i table(const Nibbles& nibbles) {
  // SAFETY: loadu has no alignment demand; __m128i may alias any object.
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(nibbles.data())));
}

struct Halves {
  __m256i low, high;
};
VACANT_AVX2 Halves halves_of(__m256i lanes) {
  const __m256i nibble = _mm256_set1_epi8(15);
  return {_mm256_and_si256(lanes, nibble), _mm256_and_si256(_mm256_srli_epi16(lanes, 4), nibble)};
}
VACANT_AVX2 __m256i lookup(__m256i low_table, __m256i high_table, const Halves& halves) {
  return _mm256_and_si256(_mm256_shuffle_epi8(low_table, halves.low),
                          _mm256_shuffle_epi8(high_table, halves.high));
}

struct Tables {
  __m256i base64_low, base64_high, first_low, first_high, second_low, second_high;
};
struct Half {
  std::uint32_t base64, zero, printable, special;
};
VACANT_AVX2 Half half_of(const std::byte* at, const Tables& tables) {
  // SAFETY: loadu has no alignment demand; __m256i may alias any object.
  const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 1));
  const __m256i none = _mm256_setzero_si256();
  const Halves here = halves_of(lanes), behind = halves_of(next);
  const __m256i pair = _mm256_and_si256(lookup(tables.first_low, tables.first_high, here),
                                        lookup(tables.second_low, tables.second_high, behind));
  return {~bits(_mm256_cmpeq_epi8(lookup(tables.base64_low, tables.base64_high, here), none)),
          bits(_mm256_cmpeq_epi8(lanes, none)), bits(_mm256_cmpgt_epi8(lanes, _mm256_set1_epi8(8))),
          ~bits(_mm256_cmpeq_epi8(pair, none))};
}

// Halves are joined in registers: a round through memory would stall on its partial stores.
inline std::uint64_t join(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32U; }

}  // namespace

__attribute__((target("avx2"))) void masks_avx2(const std::byte* bytes, std::size_t words, Masks* out) {
  const Tables tables{table(kBase64Low), table(kBase64High), table(kFirstLow),
                      table(kFirstHigh), table(kSecondLow),  table(kSecondHigh)};
  for (std::size_t word = 0; word < words; ++word) {
    const Half low = half_of(bytes + word * 64, tables);
    const Half high = half_of(bytes + word * 64 + 32, tables);
    out[word].base64 = join(low.base64, high.base64);
    out[word].zero = join(low.zero, high.zero);
    out[word].printable = join(low.printable, high.printable);
    out[word].special = join(low.special, high.special);
  }
}

namespace {

#define VACANT_AVX512 __attribute__((target("avx512f,avx512bw"), always_inline)) inline

VACANT_AVX512 __m512i wide_table(const Nibbles& nibbles) {
  // SAFETY: loadu has no alignment demand; __m128i may alias any object.
  return _mm512_maskz_broadcast_i32x4(0xFFFF,
                                      _mm_loadu_si128(reinterpret_cast<const __m128i*>(nibbles.data())));
}

struct WideHalves {
  __m512i low, high;
};
VACANT_AVX512 WideHalves wide_halves(__m512i lanes) {
  const __m512i nibble = _mm512_set1_epi8(15);
  return {_mm512_and_si512(lanes, nibble), _mm512_and_si512(_mm512_srli_epi16(lanes, 4), nibble)};
}

}  // namespace

__attribute__((target("avx512f,avx512bw"))) void masks_avx512(const std::byte* bytes, std::size_t words,
                                                              Masks* out) {
  const __m512i base64_low = wide_table(kBase64Low), base64_high = wide_table(kBase64High);
  const __m512i first_low = wide_table(kFirstLow), first_high = wide_table(kFirstHigh);
  const __m512i second_low = wide_table(kSecondLow), second_high = wide_table(kSecondHigh);
  for (std::size_t word = 0; word < words; ++word) {
    const __m512i lanes = _mm512_loadu_si512(bytes + word * 64);
    const WideHalves here = wide_halves(lanes);
    const WideHalves behind = wide_halves(_mm512_loadu_si512(bytes + word * 64 + 1));
    const __m512i first = _mm512_and_si512(_mm512_shuffle_epi8(first_low, here.low),
                                           _mm512_shuffle_epi8(first_high, here.high));
    const __m512i second = _mm512_and_si512(_mm512_shuffle_epi8(second_low, behind.low),
                                            _mm512_shuffle_epi8(second_high, behind.high));
    out[word].base64 = _mm512_test_epi8_mask(_mm512_shuffle_epi8(base64_low, here.low),
                                             _mm512_shuffle_epi8(base64_high, here.high));
    out[word].zero = _mm512_testn_epi8_mask(lanes, lanes);
    out[word].printable = _mm512_cmpgt_epi8_mask(lanes, _mm512_set1_epi8(8));
    out[word].special = _mm512_test_epi8_mask(first, second);
  }
}

MaskFunction mask_function() {
  static const MaskFunction chosen = has_avx512() ? &masks_avx512
                                     : has_avx2() ? &masks_avx2
                                                  : &masks_portable;
  return chosen;
}

}  // namespace vacant::scan
