// The digest that names a device state and every option that shapes a scan's result. Private to the engine.
#pragma once

#include "vacant/scan/engine.h"

namespace vacant::scan {

std::array<std::byte, 32> scan_identity(const BlockDevice& device, const ScanOptions& options,
                                        const FsView& view, std::string_view base_root);

}  // namespace vacant::scan
