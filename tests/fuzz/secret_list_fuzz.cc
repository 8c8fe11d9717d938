// parse_secret_list and what follows from it: the labels hold, the fingerprints can be read again.
#include <cstdlib>

#include "vacant/secrets/fingerprint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto list = vacant::secrets::parse_secret_list(std::as_bytes(std::span(data, size)));
  if (!list) return 0;
  for (const auto& secret : *list)
    if (!vacant::secrets::valid_label(secret.label)) std::abort();
  if (list->size() > 4 || size > 2048) return 0;  // fingerprints take a while
  const auto file = vacant::secrets::make_fingerprints(*list);
  if (!file) return 0;
  if (!vacant::secrets::parse_fingerprints(vacant::as_bytes(vacant::secrets::serialise(*file)))) std::abort();
  return 0;
}
