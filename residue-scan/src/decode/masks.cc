#include "decode/masks.h"

#include <immintrin.h>

#include <array>

namespace vacant::scan::decode {
namespace {

constexpr std::uint8_t kBase64Bit = 1, kZeroBit = 2, kPrintableBit = 4, kEscapeBit = 8, kHexBit = 16;

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> out{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool digit = c >= '0' && c <= '9';
    const bool alpha = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (digit || alpha || c == '+' || c == '/' || c == '-' || c == '_') out[c] |= kBase64Bit;
    if (c == 0) out[c] |= kZeroBit;
    if ((c >= 0x20 && c < 0x80) || c == '\t' || c == '\n' || c == '\r') out[c] |= kPrintableBit;
    if (c == '%' || c == '\\') out[c] |= kEscapeBit;
    if (digit || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f')) out[c] |= kHexBit;
  }
  return out;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

std::uint8_t class_of(std::byte byte) { return kClasses[std::to_integer<std::size_t>(byte)]; }

// gzip 1f 8b, zstd 28 b5, zip "PK", zlib 78 with the four usual level bytes.
bool is_magic(unsigned first, unsigned second) {
  if (first == 0x1F) return second == 0x8B;
  if (first == 0x28) return second == 0xB5;
  if (first == 0x50) return second == 0x4B;
  return first == 0x78 && (second == 0x01 || second == 0x5E || second == 0x9C || second == 0xDA);
}

}  // namespace

bool is_base64(std::byte byte) { return (class_of(byte) & kBase64Bit) != 0; }
bool is_hex(std::byte byte) { return (class_of(byte) & kHexBit) != 0; }

void masks_portable(const std::byte* bytes, std::size_t words, Masks* out) {
  for (std::size_t word = 0; word < words; ++word) {
    Masks masks;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::byte* at = bytes + word * 64 + i;
      const std::uint8_t cls = class_of(*at);
      const bool special = (cls & kEscapeBit) != 0 ||
                           is_magic(std::to_integer<unsigned>(at[0]), std::to_integer<unsigned>(at[1]));
      masks.base64 |= std::uint64_t{(cls & kBase64Bit) != 0} << i;
      masks.zero |= std::uint64_t{(cls & kZeroBit) != 0} << i;
      masks.printable |= std::uint64_t{(cls & kPrintableBit) != 0} << i;
      masks.special |= std::uint64_t{special} << i;
    }
    out[word] = masks;
  }
}

namespace {

struct Half {
  std::uint32_t base64, zero, printable, special;
};

#define VACANT_AVX2 __attribute__((target("avx2"))) inline

VACANT_AVX2 std::uint32_t bits(__m256i lanes) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes));
}
VACANT_AVX2 __m256i equal(__m256i lanes, int value) {
  return _mm256_cmpeq_epi8(lanes, _mm256_set1_epi8(static_cast<char>(value)));
}
VACANT_AVX2 __m256i both(__m256i a, __m256i b) { return _mm256_and_si256(a, b); }
VACANT_AVX2 __m256i either(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }

// Membership by nibbles: a byte is in the class if the tables of its low and its high half share a bit.
// Bit 0: high half 2 (+ - /); 1: 3 (digits); 2: 4 and 6 (A-O, a-o); 3: 5 and 7 (P-Z, p-z); 4: 5 (underscore).
VACANT_AVX2 std::uint32_t base64_bits(__m256i lanes) {
  const __m256i low_table =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(10, 14, 14, 14, 14, 14, 14, 14, 14, 14, 12, 5, 4, 5, 4, 21));
  const __m256i high_table =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 1, 2, 4, 24, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(low_table, both(lanes, nibble));
  const __m256i high = _mm256_shuffle_epi8(high_table, both(_mm256_srli_epi16(lanes, 4), nibble));
  return ~bits(equal(both(low, high), 0));
}

VACANT_AVX2 __m256i magic_lanes(__m256i lanes, __m256i next) {
  const __m256i levels =
      either(either(equal(next, 0x01), equal(next, 0x5E)), either(equal(next, 0x9C), equal(next, 0xDA)));
  const __m256i zlib = both(equal(lanes, 0x78), levels);
  const __m256i gzip = both(equal(lanes, 0x1F), equal(next, 0x8B));
  const __m256i zstd = both(equal(lanes, 0x28), equal(next, 0xB5));
  const __m256i zip = both(equal(lanes, 0x50), equal(next, 0x4B));
  return either(either(zlib, gzip), either(zstd, zip));
}

VACANT_AVX2 Half half_of(const std::byte* bytes) {
  // SAFETY: loadu has no alignment demand; __m256i may alias any object.
  const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 1));
  const __m256i space = either(equal(lanes, '\t'), either(equal(lanes, '\n'), equal(lanes, '\r')));
  const __m256i escape = either(equal(lanes, '%'), equal(lanes, '\\'));
  return {base64_bits(lanes), bits(equal(lanes, 0)),
          bits(either(space, _mm256_cmpgt_epi8(lanes, _mm256_set1_epi8(0x1F)))),
          bits(either(escape, magic_lanes(lanes, next)))};
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32U; }

}  // namespace

__attribute__((target("avx2"))) void masks_avx2(const std::byte* bytes, std::size_t words, Masks* out) {
  for (std::size_t word = 0; word < words; ++word) {
    const Half low = half_of(bytes + word * 64), high = half_of(bytes + word * 64 + 32);
    out[word] = {join(low.base64, high.base64), join(low.zero, high.zero),
                 join(low.printable, high.printable), join(low.special, high.special)};
  }
}

MaskFunction mask_function() {
  static const MaskFunction chosen = has_avx2() ? &masks_avx2 : &masks_portable;
  return chosen;
}

}  // namespace vacant::scan::decode
