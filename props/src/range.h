// What the simulated devices share: their description, and the range check (kIo past the end, as a real
// device answers).
#pragma once

#include "vacant/base/device.h"

namespace vacant::props {

DeviceInfo memory_info(std::string_view name, std::uint64_t size_bytes);
Result<void> check_range(const DeviceInfo& info, std::uint64_t offset_bytes, std::uint64_t length_bytes);

}  // namespace vacant::props
