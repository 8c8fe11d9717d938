// A look at a run of base64 characters before anything is allocated: nearly all runs are paths, names and
// rulers. Private.
#pragma once

#include "decode/codecs.h"

namespace vacant::scan::decode {

struct Glance {
  // Decoding it at some alignment may give what plausible() looks for. Never wrongly false.
  bool text = false;
  bool hex = false;      // has kMinHexDigits hex digits in a row
  bool goes_on = false;  // in the next line
  friend bool operator==(const Glance&, const Glance&) = default;
};
// `run` lies in bytes and has at least kMinBase64Chars characters. All false for a ruler, one character again
// and again.
Glance glance(ByteSpan bytes, const Range& run);
// The implementations, for tests: with the same results. The fast one needs has_avx512_vbmi().
Glance glance_portable(ByteSpan bytes, const Range& run);
Glance glance_avx512(ByteSpan bytes, const Range& run);

}  // namespace vacant::scan::decode
