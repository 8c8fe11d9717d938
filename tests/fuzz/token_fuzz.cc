// Token search over hostile bytes: no crash, matches inside the buffer, each owned.
#include <cstdint>

#include "vacant/scan/token.h"

namespace {

class Sink final : public vacant::scan::FindingSink {
 public:
  explicit Sink(const vacant::scan::Buffer& buffer) : buffer_(buffer) {}
  void found(vacant::scan::Finding finding, vacant::ByteSpan matched) override {
    const std::uint64_t at = finding.origin.device_offset_bytes;
    VACANT_ASSERT(buffer_.owns(at) && matched.size() == finding.length_bytes);
    VACANT_ASSERT(at + matched.size() <= buffer_.bytes.size() && !matched.empty());
  }
  void skipped(const vacant::Extent&, std::string_view) override {}
  void nested(const vacant::scan::Buffer&) override {}

 private:
  const vacant::scan::Buffer& buffer_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto detector = vacant::scan::make_token_factory().value()->make().value().release();
  vacant::scan::Buffer buffer;
  buffer.bytes = std::as_bytes(std::span(data, size));
  buffer.owned_begin = size / 8;
  buffer.owned_end = size - size / 8;
  Sink sink(buffer);
  detector->scan(buffer, sink);
  return 0;
}
