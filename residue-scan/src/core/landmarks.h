// Landmarks: what one pass over a buffer finds out, for all detectors: each of them would have to go over
// every byte to learn it. Private to scan.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vacant/scan/detector.h"

namespace vacant::scan {

inline constexpr std::size_t kMinBase64Chars = 24;
inline constexpr std::size_t kMinTextBytes = 16;

// A part of a buffer, by offsets.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

// A set of places in a buffer, for many or few of them.
class Places {
 public:
  // Empties it for a buffer of so many words of 64 bytes.
  void clear(std::size_t words) {
    bits_.resize(words);
    used_.assign((words + 63) / 64, 0);
  }
  void set_word(std::size_t word, std::uint64_t bits) {
    bits_[word] = bits;
    used_[word / 64] |= std::uint64_t{bits != 0} << (word % 64);
  }
  // Calls each(place) for all, in order.
  template <class Each>
  void for_each(const Each& each) const {
    for (std::size_t block = 0; block < used_.size(); ++block)
      for (std::uint64_t words = used_[block]; words != 0; words &= words - 1) {
        const std::size_t word = block * 64 + static_cast<std::size_t>(std::countr_zero(words));
        for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1)
          each(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
      }
  }

 private:
  std::vector<std::uint64_t> bits_;  // bit i % 64 of word i / 64 is byte i; stale where used_ says no
  std::vector<std::uint64_t> used_;  // likewise of the words that have any bit
};

struct Landmarks {
  // Every run of at least kMinTextBytes printable bytes lies whole in one of these. In order, apart.
  std::vector<Range> text;
  // The maximal runs of at least kMinBase64Chars characters of base64 (either alphabet), in order.
  std::vector<Range> runs;
  // A NUL inside a run of printable bytes with a NUL behind each. At least one place for a run of 8.
  Places wide;
  // '%' or '\\' of an escape, the first two bytes of gzip, zstd, zip or zlib, of LevelDB's magic, or "-B".
  // A few more in places: who is told looks again.
  Places special;
};

// Everything that begins before `end` is in `out` (runs: whole ones), and may be more. What `out` held before
// is dropped; its memory is used again. Takes at most 2 bytes for each of the buffer.
void find_landmarks(ByteSpan bytes, std::size_t end, Landmarks& out);

// A match in the owned part is led to by something that begins at most so far behind it.
inline constexpr std::size_t kLeadBytes = 8 * 1024;

// The buffer's own, if the engine made them; else they are made in `spare`.
const Landmarks& landmarks_of(const Buffer& buffer, Landmarks& spare);

}  // namespace vacant::scan
