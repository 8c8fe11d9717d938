#include <cstdlib>

#include "vacant/scan/baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto baseline = vacant::scan::parse_baseline(text);
  if (!baseline) return 0;
  const std::string once = vacant::scan::serialise_baseline(*baseline);
  const auto again = vacant::scan::parse_baseline(once);
  if (!again || vacant::scan::serialise_baseline(*again) != once) std::abort();
  return 0;
}
