// WriteMap: the byte ranges that a guest wrote itself since its disk was made. Value type.
#pragma once

#include <string>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/base/extent.h"
#include "vacant/base/result.h"

namespace vacant::scan {

class WriteMap {
 public:
  WriteMap() = default;
  // Takes any extents: sorts and merges them, and rounds each inward to whole sectors, so that a sector
  // counts as written only if all of it was.
  WriteMap(std::vector<Extent> extents, std::string name);
  // Whether all of the sector range was written. O(log n).
  [[nodiscard]] bool covers(const Extent& extent) const;
  [[nodiscard]] const std::vector<Extent>& extents() const { return extents_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // "extents", "dirty-bitmap:NAME", "ram"
  [[nodiscard]] std::uint64_t total_bytes() const;

 private:
  std::vector<Extent> extents_;
  std::string name_;
};

// docs/formats/write-map.md:
// {"format":"vacant-write-map/1","size":N,"extents":[{"offset":N,"length":N},...]}. Also read: the array that
// `qemu-img map --output=json` prints (entries with "depth":0 and "data":true or "present"). Strict: refuses
// overflow, extents past the device, and a size that is not the device's.
Result<WriteMap> parse_write_map(ByteSpan json, std::uint64_t device_bytes);

}  // namespace vacant::scan
