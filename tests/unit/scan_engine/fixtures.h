// Small disks for engine tests.
#pragma once

#include <random>

#include "vacant/base/bytes.h"
#include "vacant/base/extent.h"
#include "vacant/props/devices.h"
#include "vacant/scan/engine.h"

namespace vacant::scan {

inline ByteVector random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ByteVector out(size);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

inline void put(props::MemDevice& device, std::uint64_t offset, ByteSpan bytes) {
  std::ranges::copy(bytes, device.bytes().begin() + static_cast<std::ptrdiff_t>(offset));
}

inline std::uint64_t class_bytes(const Report& report, Class cls) {
  return report.class_bytes[static_cast<std::size_t>(cls)];
}

inline ScanOptions inventory(Policy policy = Policy::kHandover) {
  ScanOptions options;
  options.policy = policy;
  options.profile = Profile::kInventory;
  options.threads = 2;
  return options;
}

}  // namespace vacant::scan
