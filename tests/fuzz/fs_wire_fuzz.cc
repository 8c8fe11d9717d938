// The parent's reading of the isolated parser's answer: whatever it lets through is in bounds.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fs/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const vacant::scan::fs::WireBounds bounds{1ULL << 30U, 1000, 1000};
  if (const auto answer = vacant::scan::fs::decode_volume(bytes, bounds)) {
    std::uint64_t end = 0;
    for (const vacant::scan::fs::Claim& claim : answer->claims) {
      if (claim.offset_bytes < end || claim.end_bytes() > bounds.volume_bytes) std::abort();
      if (claim.part >= vacant::scan::FsPart::kFree) std::abort();
      end = claim.end_bytes();
    }
    if (answer->claims.size() > bounds.max_extents || answer->inodes.size() > bounds.max_inodes) std::abort();
  }
  constexpr std::array<std::uint32_t, 4> kWanted = {2, 11, 12, 13};
  if (const auto paths = vacant::scan::fs::decode_paths(bytes, kWanted)) {
    for (const auto& [inode, path] : *paths)
      if (path.size() > 4096 || path.find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
