// verify_placeholder and parse_placeholder_key: no text verifies under a key that it was not made with.
#include <cstdlib>

#include "vacant/secrets/placeholder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const vacant::SecretBytes key = vacant::SecretBytes::random(32);
  const vacant::ByteSpan bytes = std::as_bytes(std::span(data, size));
  if (vacant::secrets::verify_placeholder(key, vacant::as_text(bytes))) std::abort();
  const auto parsed = vacant::secrets::parse_placeholder_key(bytes);
  if (parsed && parsed->size() != 32) std::abort();
  return 0;
}
