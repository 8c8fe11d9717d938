// What every source does with the attributes of a file. Private to imgtools.
#pragma once

#include <string_view>

#include "vacant/img/source.h"

namespace vacant::img {

// Owner and latest time, as the options say.
void adjust(Attributes& attributes, const SourceOptions& options);
// Whether an extended attribute belongs to the file, and not to the host that it lies on.
bool is_kept_xattr(std::string_view name);

}  // namespace vacant::img
