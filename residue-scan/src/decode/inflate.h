// Decompression in an isolated child: gzip, zlib, raw deflate and zstd over bytes that nobody vouches for.
// Private.
#pragma once

#include <functional>
#include <optional>

#include "vacant/base/isolate.h"

namespace vacant::scan::decode {

enum class Format : std::uint8_t { kGzip, kZlib, kDeflate, kZstd };

enum class Ending : std::uint8_t {
  kComplete,   // the stream's own end, checksum included
  kTruncated,  // the input ended first
  kDamaged,    // from some point on it is not such a stream; what came before is handed on
  kTooLong,    // the output limit was reached
  kTooDense,   // more output a byte of input than any honest data has
};

struct Inflated {
  Ending ending = Ending::kDamaged;
  std::uint64_t consumed_bytes = 0;
  ByteVector bytes;
};

// Hands out input from `offset` of the stream on: at most kInputChunkBytes, none at the end of the input.
using InputReader = std::function<Result<ByteVector>(std::uint64_t offset)>;
inline constexpr std::size_t kInputChunkBytes = 256 * 1024;
inline constexpr std::uint64_t kMaxRatio = 4096;

// The child is started on first use, and again after a crash. One thread at a time.
class Inflater {
 public:
  // An Error means that the child crashed or ran into a limit, or that the input could not be read.
  Result<Inflated> inflate(Format format, std::uint64_t limit_bytes, const InputReader& input);

 private:
  std::optional<Isolate> isolate_;
};

// What the child does, for tests and fuzzing in one process.
Inflated inflate_here(Format format, std::uint64_t limit_bytes, const InputReader& input);

}  // namespace vacant::scan::decode
