#include "range.h"

#include <fmt/format.h>

#include <cerrno>

namespace vacant::props {

DeviceInfo memory_info(std::string_view name, std::uint64_t size_bytes) {
  DeviceInfo info;
  info.kind = SourceKind::kMemory;
  info.name = name;
  info.size_bytes = size_bytes;
  return info;
}

Result<void> check_range(const DeviceInfo& info, std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  if (offset_bytes <= info.size_bytes && length_bytes <= info.size_bytes - offset_bytes) return {};
  return fail_errno(fmt::format("{}+{} lies past the end of {} ({} bytes)", offset_bytes, length_bytes,
                                info.name, info.size_bytes),
                    EIO);
}

}  // namespace vacant::props
