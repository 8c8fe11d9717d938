// Private folders for output.
#pragma once

#include <string>

#include "vacant/base/result.h"

namespace vacant {

// Makes the folder with mode 0700, or takes one that is there if it is ours and closed to others. kPermission
// otherwise.
Result<void> ensure_private_directory(const std::string& path);

}  // namespace vacant
