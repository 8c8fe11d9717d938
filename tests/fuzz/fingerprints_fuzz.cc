// parse_fingerprints: never crashes; what it accepts is written back byte for byte.
#include <cstdlib>

#include "vacant/secrets/fingerprint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const vacant::ByteSpan bytes = std::as_bytes(std::span(data, size));
  const auto file = vacant::secrets::parse_fingerprints(bytes);
  if (file && vacant::secrets::serialise(*file) != vacant::as_text(bytes)) std::abort();
  return 0;
}
