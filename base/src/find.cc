// Search for one literal. Two of its bytes are compared at 32 places at once; only where both fit is the rest
// looked at.
#include <immintrin.h>

#include <bit>

#include "vacant/base/bytes.h"

namespace vacant {

namespace {

__attribute__((target("avx2"))) std::size_t find_avx2(std::string_view text, std::string_view needle,
                                                      std::size_t from) {
  const std::size_t last = needle.size() - 1;
  const __m256i first_byte = _mm256_set1_epi8(needle.front());
  const __m256i last_byte = _mm256_set1_epi8(needle.back());
  std::size_t at = from;
  for (; at + last + 32 <= text.size(); at += 32) {
    // SAFETY: loadu has no alignment demand, and both loads end inside the text.
    const __m256i left = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at));
    const __m256i right = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at + last));
    const __m256i both =
        _mm256_and_si256(_mm256_cmpeq_epi8(left, first_byte), _mm256_cmpeq_epi8(right, last_byte));
    for (auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(both)); mask != 0; mask &= mask - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(mask));
      if (std::memcmp(text.data() + place, needle.data(), needle.size()) == 0) return place;
    }
  }
  return text.find(needle, at);
}

}  // namespace

std::size_t find_text(std::string_view text, std::string_view needle, std::size_t from) {
  VACANT_ASSERT(needle.size() >= 2);
  static const bool fast = has_avx2();
  if (fast && from < text.size()) return find_avx2(text, needle, from);
  return text.find(needle, from);
}

}  // namespace vacant
