// The range check that every simulated device makes: kIo past the end, as a real one answers.
#pragma once

#include "vacant/base/device.h"

namespace vacant::props {

Result<void> check_range(const DeviceInfo& info, std::uint64_t offset_bytes, std::uint64_t length_bytes);

}  // namespace vacant::props
