// Baseline: extents of a disk that its owner accepts, by digest, for a stated reason and until a stated day
// (docs/formats/baseline.md). It accepts foreign and unexplained bytes; never unread ones, and never a known secret.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "vacant/base/device.h"
#include "vacant/base/result.h"
#include "vacant/scan/report.h"

namespace vacant::scan {

struct BaselineEntry {
  Extent extent;
  std::string digest;   // 64 hex digits: keyed BLAKE2b-256 of the extent's bytes under the file's salt
  std::string reason;   // not empty
  std::string expires;  // YYYY-MM-DD: the last day on which it counts
};

struct Baseline {
  std::array<std::byte, 32> salt{};
  std::vector<BaselineEntry> entries;  // sorted by extent
};

Result<Baseline> parse_baseline(std::string_view json);
std::string serialise_baseline(const Baseline& baseline);
// Digests the extents as they are now. kInvalidArgument for an empty reason or a day that is none.
Result<Baseline> make_baseline(BlockDevice& device, const std::vector<Extent>& extents, std::string_view reason, std::string_view expires);
// Holds each entry against the device's bytes and the day (YYYY-MM-DD).
Result<std::vector<AcceptedExtent>> evaluate_baseline(BlockDevice& device, const Baseline& baseline, std::string_view today);

}  // namespace vacant::scan
