// The zero test: the scanner's hottest loop on empty space. AVX2 where the processor has it, chosen once.
#include <immintrin.h>

#include "vacant/base/bytes.h"

namespace vacant {

bool is_zero_portable(ByteSpan bytes) {
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 64; p += 64, left -= 64) {
    std::uint64_t words[8];
    std::memcpy(words, p, 64);
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) any |= word;
    if (any != 0) return false;
  }
  for (; left > 0; ++p, --left)
    if (*p != std::byte{0}) return false;
  return true;
}

// Tests 256 bytes a round, so that data which is not zero is left early.
__attribute__((target("avx2"))) bool is_zero_avx2(ByteSpan bytes) {
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 256; p += 256, left -= 256) {
    __m256i any = _mm256_setzero_si256();
    for (int i = 0; i < 8; ++i) {
      // SAFETY: loadu has no alignment demand; __m256i may alias any object.
      any = _mm256_or_si256(any, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i * 32)));
    }
    if (_mm256_testz_si256(any, any) == 0) return false;
  }
  return is_zero_portable({p, left});
}

bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}

bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
}

bool has_avx512_vbmi() { return has_avx512() && __builtin_cpu_supports("avx512vbmi") != 0; }

bool is_zero(ByteSpan bytes) {
  static const auto chosen = has_avx2() ? &is_zero_avx2 : &is_zero_portable;
  return chosen(bytes);
}

}  // namespace vacant
