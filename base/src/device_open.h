// The kinds of source behind open_device. Private to base.
#pragma once

#include <memory>
#include <string>

#include "vacant/base/device.h"
#include "vacant/base/fd.h"

namespace vacant {

Result<std::unique_ptr<BlockDevice>> open_local(const std::string& path, const OpenOptions& options);
// The device of a descriptor that is open already on a regular file or block device; `path` names it in
// messages.
Result<std::unique_ptr<BlockDevice>> wrap_local(UniqueFd fd, const std::string& path,
                                                const OpenOptions& options);
Result<std::unique_ptr<BlockDevice>> open_nbd(const std::string& uri, const OpenOptions& options);

}  // namespace vacant
