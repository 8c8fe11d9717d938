// The kinds of source behind open_device. Private to base.
#pragma once

#include <memory>
#include <string>

#include "vacant/base/device.h"

namespace vacant {

Result<std::unique_ptr<BlockDevice>> open_local(const std::string& path, const OpenOptions& options);
Result<std::unique_ptr<BlockDevice>> open_nbd(const std::string& uri, const OpenOptions& options);

}  // namespace vacant
