#include "vacant/scan/detector.h"

namespace vacant::scan {

Origin Buffer::origin_at(std::size_t offset) const {
  Origin out = origin;
  if (out.layers.empty())
    out.device_offset_bytes += offset;
  else
    out.layers.back().offset_bytes += offset;
  return out;
}

Extent Buffer::extent_of(std::size_t offset, std::size_t length) const {
  if (!origin.layers.empty()) return outer;
  return {origin.device_offset_bytes + offset, length};
}

}  // namespace vacant::scan
