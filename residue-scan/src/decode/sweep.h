// Sweep: one pass over a buffer that tells a visitor where something may be encoded. Private.
#pragma once

#include <cstddef>

#include "vacant/base/bytes.h"

namespace vacant::scan::decode {

inline constexpr std::size_t kMinBase64Chars = 24;

class Visitor {
 public:
  virtual ~Visitor() = default;
  // A maximal run of at least kMinBase64Chars characters of base64 (either alphabet).
  virtual void run(std::size_t begin, std::size_t end) = 0;
  // Inside a run of printable characters with a NUL behind each, at a NUL. Told at least once a run of 8.
  virtual void wide(std::size_t at) = 0;
  // '%', '\' or the first two bytes of a compressed stream.
  virtual void special(std::size_t at) = 0;
};

// Visits everything that begins before `end` (runs: whole ones), in the order of blocks of 4 KiB.
void sweep(ByteSpan bytes, std::size_t end, Visitor& visitor);

}  // namespace vacant::scan::decode
