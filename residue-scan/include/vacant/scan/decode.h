// Decoders: find encoded runs (base64, hex, percent, UTF-16, JSON escapes, gzip, zlib, zstd, zip members),
// decode them within limits, and hand the result to FindingSink::nested. Compressed formats are decoded in an
// isolated child.
#pragma once

#include <memory>

#include "vacant/scan/detector.h"

namespace vacant::scan {

Result<std::unique_ptr<DetectorFactory>> make_decoder_factory();

}  // namespace vacant::scan
