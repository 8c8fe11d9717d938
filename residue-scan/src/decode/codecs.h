// The text encodings: from encoded characters to bytes, keeping track of what the buffer owns. Pure. Private.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/landmarks.h"

namespace vacant::scan::decode {

// Decoded bytes; those in [owned.begin, owned.end) come from characters that begin in the owned part of the
// input.
struct Decoded {
  ByteVector bytes;
  Range owned;
};

// The characters of a base64 or hex run without its line breaks.
struct Chars {
  ByteVector text;
  Range owned;                 // of text
  std::size_t first_line = 0;  // characters before the first line break, or all of them
  bool broken = false;         // has line breaks
  bool wrapped = false;        // and all lines but the first and the last have one length
  std::vector<std::pair<std::size_t, std::size_t>>
      lines;  // (offset in text, offset in the buffer) of each line
  [[nodiscard]] std::size_t position(std::size_t offset) const;  // in the buffer
};

inline constexpr std::size_t kMinHexDigits = 32;

// The first character behind a line break at `at`, or nullopt if there is no line break that a run goes on
// behind.
std::optional<std::size_t> next_line(ByteSpan bytes, std::size_t at);

// Gathers the run [begin, end) and the lines that continue it: a line break is LF or CR LF with up to 32
// spaces or tabs behind it, between two characters of base64. Lines but the last have at least
// kMinBase64Chars characters. `run` grows to the end of what was gathered.
Chars gather(ByteSpan bytes, Range& run, const Range& owned);

// From the character at `phase` on. A rest of fewer than 8 bits is dropped.
Decoded decode_base64(const Chars& chars, std::size_t phase);
// Pairs of digits in text[range].
Decoded decode_hex(const Chars& chars, const Range& range);

// A cluster of escapes from `at` on, no two of them further apart than kEscapeGap, with what stands around
// it. Enough: percent at least 3; JSON at least 3, or 1 of \u00xx and \/. Whatever begins inside a cluster
// that has not enough has not enough either. Empty if there is no escape at `at`.
inline constexpr std::size_t kEscapeGap = 256;
struct Cluster {
  Range range;
  bool enough = false;
};
Cluster percent_cluster(ByteSpan bytes, std::size_t at);
Cluster json_cluster(ByteSpan bytes, std::size_t at);
Decoded decode_percent(ByteSpan bytes, const Range& range, const Range& owned);
Decoded decode_json(ByteSpan bytes, const Range& range, const Range& owned);

// The run of printable characters with NULs between them around the NUL at `at`, from the first to the last
// character. Empty if it has fewer than 8 characters.
Range wide_run(ByteSpan bytes, std::size_t at);
Decoded decode_wide(ByteSpan bytes, const Range& range, const Range& owned);

inline constexpr std::size_t kPlausibleRun = 12;
// Whether decoded bytes look like more than a word that was taken for base64: 12 printable characters in a
// row, wide text, or the start of a compressed stream.
bool plausible(ByteSpan bytes);
bool compressed_start(ByteSpan bytes);

}  // namespace vacant::scan::decode
