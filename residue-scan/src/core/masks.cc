#include "core/masks.h"

#include <immintrin.h>

#include <array>

#include "core/landmarks.h"

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

#define VACANT_INLINE __attribute__((always_inline)) inline

VACANT_INLINE void move_on(MaskBlock& block) {
  block.base64[0] = block.base64[kMaskWords];
  block.zero[0] = block.zero[kMaskWords];
  block.printable[0] = block.printable[kMaskWords];
  block.special[0] = block.special[kMaskWords];
}

void fill_portable(const std::byte* bytes, MaskBlock& out) {
  move_on(out);
  for (std::size_t word = 1; word <= kMaskWords; ++word) {
    std::uint64_t base64 = 0, zero = 0, printable = 0, special = 0;
    for (std::size_t i = 0; i < kMaskWordBytes; ++i, ++bytes) {
      const auto value = std::to_integer<unsigned>(bytes[0]);
      const bool begins =
          (lookup(kFirstLow, kFirstHigh, bytes[0]) & lookup(kSecondLow, kSecondHigh, bytes[1])) != 0;
      base64 |= std::uint64_t{lookup(kBase64Low, kBase64High, bytes[0]) != 0} << i;
      zero |= std::uint64_t{value == 0} << i;
      printable |= std::uint64_t{value >= 9 && value < 128} << i;
      special |= std::uint64_t{begins} << i;
    }
    out.base64[word] = base64;
    out.zero[word] = zero;
    out.printable[word] = printable;
    out.special[word] = special;
  }
}

using Words = MaskBlock::Words;

// Leaves the bits that end a run: where `in` has runs of n bits, `out` has the ends of runs of n + kShift.
// Index 0 has no word before it: of its lowest bits some are lost, which no run that goes on needs.
template <unsigned kShift>
VACANT_INLINE void lengthen(const Words& in, Words& out) {
  out[0] = in[0] & in[0] << kShift;
  for (std::size_t i = 1; i < in.size(); ++i)
    out[i] = in[i] & (in[i] << kShift | in[i - 1] >> (64U - kShift));
}

VACANT_INLINE bool any(const Words& words) {
  std::uint64_t all = 0;
  for (std::size_t i = 1; i < words.size(); ++i) all |= words[i];
  return all != 0;
}

VACANT_INLINE bool runs_in(const MaskBlock& block) {
  Words two, four, eight, more;
  lengthen<1>(block.printable, two);
  lengthen<2>(two, four);
  lengthen<4>(four, eight);
  lengthen<8>(eight, more);
  static_assert(kMinTextBytes == 16 && kMinBase64Chars == 24);
  if (any(more)) return true;
  lengthen<1>(block.base64, two);
  lengthen<2>(two, four);
  lengthen<4>(four, eight);
  lengthen<8>(eight, two);
  lengthen<8>(two, more);
  if (any(more)) return true;
  std::uint64_t all = 0;
  for (std::size_t i = 1; i < block.zero.size(); ++i) {
    const std::uint64_t behind = block.printable[i] << 1U | block.printable[i - 1] >> 63U;
    all |= wide_pairs(block.zero[i], behind);
  }
  return all != 0;
}

bool runs_portable(const MaskBlock& block) { return runs_in(block); }

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

__attribute__((target("avx2"))) void fill_avx2(const std::byte* bytes, MaskBlock& out) {
  const Tables tables{table(kBase64Low), table(kBase64High), table(kFirstLow),
                      table(kFirstHigh), table(kSecondLow),  table(kSecondHigh)};
  move_on(out);
  for (std::size_t word = 1; word <= kMaskWords; ++word, bytes += kMaskWordBytes) {
    const Half low = half_of(bytes, tables);
    const Half high = half_of(bytes + 32, tables);
    out.base64[word] = join(low.base64, high.base64);
    out.zero[word] = join(low.zero, high.zero);
    out.printable[word] = join(low.printable, high.printable);
    out.special[word] = join(low.special, high.special);
  }
}

__attribute__((target("avx2"))) bool runs_avx2(const MaskBlock& block) { return runs_in(block); }

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

__attribute__((target("avx512f,avx512bw"))) void fill_avx512(const std::byte* bytes, MaskBlock& out) {
  const __m512i base64_low = wide_table(kBase64Low), base64_high = wide_table(kBase64High);
  const __m512i first_low = wide_table(kFirstLow), first_high = wide_table(kFirstHigh);
  const __m512i second_low = wide_table(kSecondLow), second_high = wide_table(kSecondHigh);
  move_on(out);
  for (std::size_t word = 1; word <= kMaskWords; ++word, bytes += kMaskWordBytes) {
    const __m512i lanes = _mm512_loadu_si512(bytes);
    const WideHalves here = wide_halves(lanes);
    const WideHalves behind = wide_halves(_mm512_loadu_si512(bytes + 1));
    const __m512i first = _mm512_and_si512(_mm512_shuffle_epi8(first_low, here.low),
                                           _mm512_shuffle_epi8(first_high, here.high));
    const __m512i second = _mm512_and_si512(_mm512_shuffle_epi8(second_low, behind.low),
                                            _mm512_shuffle_epi8(second_high, behind.high));
    out.base64[word] = _mm512_test_epi8_mask(_mm512_shuffle_epi8(base64_low, here.low),
                                             _mm512_shuffle_epi8(base64_high, here.high));
    out.zero[word] = _mm512_testn_epi8_mask(lanes, lanes);
    out.printable[word] = _mm512_cmpgt_epi8_mask(lanes, _mm512_set1_epi8(8));
    out.special[word] = _mm512_test_epi8_mask(first, second);
  }
}

__attribute__((target("avx512f,avx512bw"))) bool runs_avx512(const MaskBlock& block) {
  return runs_in(block);
}

constexpr MaskFunctions kPortable{&fill_portable, &runs_portable};
constexpr MaskFunctions kAvx2{&fill_avx2, &runs_avx2};
constexpr MaskFunctions kAvx512{&fill_avx512, &runs_avx512};

}  // namespace

const MaskFunctions& portable_mask_functions() { return kPortable; }
const MaskFunctions& avx2_mask_functions() { return kAvx2; }
const MaskFunctions& avx512_mask_functions() { return kAvx512; }

const MaskFunctions& mask_functions() {
  static const MaskFunctions& chosen = has_avx512() ? kAvx512 : has_avx2() ? kAvx2 : kPortable;
  return chosen;
}

}  // namespace vacant::scan
