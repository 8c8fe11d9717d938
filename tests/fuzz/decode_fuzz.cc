// The decoders over any bytes: no crash, bounded work, and each piece handed on is well formed. Decompression
// runs in its child, or, where the build has no isolation, in this process.
#include <cstdlib>

#include "vacant/scan/decode.h"

namespace {

struct Sink final : vacant::scan::FindingSink {
  vacant::scan::Detector* detector = nullptr;
  std::size_t left = 200;
  void found(vacant::scan::Finding, vacant::ByteSpan) override { std::abort(); }
  void skipped(const vacant::Extent&, std::string_view) override {}
  void nested(const vacant::scan::Buffer& buffer) override {
    if (buffer.owned_begin >= buffer.owned_end || buffer.owned_end > buffer.bytes.size()) std::abort();
    if (buffer.depth() > vacant::scan::kMaxDecodeDepth) std::abort();
    if (left == 0) return;
    --left;
    detector->scan(buffer, *this);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto detector = vacant::scan::make_decoder_factory().value()->make().value();
  Sink sink;
  sink.detector = detector.get();
  vacant::scan::Buffer buffer;
  buffer.bytes = std::as_bytes(std::span(data, size));
  buffer.owned_begin = size / 4;
  buffer.owned_end = size;
  detector->scan(buffer, sink);
  return 0;
}
