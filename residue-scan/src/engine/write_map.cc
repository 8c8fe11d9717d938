#include "vacant/scan/write_map.h"

#include <fmt/format.h>

#include <algorithm>
#include "core/strict_json.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxExtents = 4'000'000;
using nlohmann::json;

Result<Extent> extent_of(const json& entry, const char* offset_key, std::uint64_t device_bytes, bool strict) {
  JsonFields fields = VACANT_TRY(JsonFields::of(entry, "extent"));
  const std::uint64_t offset = VACANT_TRY(fields.number(offset_key));
  const Extent extent = VACANT_TRY(make_extent(offset, VACANT_TRY(fields.number("length"))));
  if (strict) VACANT_TRY(fields.done());
  if (extent.end_bytes() > device_bytes)
    return fail(Code::kCorrupt, fmt::format("extent {}+{} lies past the device's end ({} bytes): is this the map of another disk?",
                                            extent.offset_bytes, extent.length_bytes, device_bytes));
  return extent;
}

bool flag(const json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_boolean() && found->get<bool>();
}

// What `qemu-img map --output=json` prints: the guest's own clusters are those that the top layer (depth 0)
// holds.
Result<std::vector<Extent>> from_qemu_map(const json& array, std::uint64_t device_bytes) {
  std::vector<Extent> out;
  bool layered = false;
  for (const json& entry : array) {
    const Extent extent = VACANT_TRY(extent_of(entry, "start", device_bytes, false));
    const std::uint64_t depth = VACANT_TRY(VACANT_TRY(JsonFields::of(entry, "extent")).number("depth"));
    layered |= depth > 0;
    if (depth == 0 && (flag(entry, "data") || flag(entry, "zero")) && flag(entry, "present")) out.push_back(extent);
  }
  // Without a layer below, everything is at depth 0: such a map says nothing about who wrote it.
  if (!layered)
    return fail(Code::kCorrupt, "the qemu-img map shows no backing layer, so it cannot tell what the guest wrote");
  return out;
}

Result<std::vector<Extent>> from_own_format(const json& document, std::uint64_t device_bytes) {
  JsonFields fields = VACANT_TRY(JsonFields::of(document, "write map"));
  if (VACANT_TRY(fields.text("format")) != "vacant-write-map/1")
    return fail(Code::kCorrupt, "not a write map of version 1 (docs/formats/write-map.md)");
  if (VACANT_TRY(fields.number("size")) != device_bytes)
    return fail(Code::kCorrupt, fmt::format("the map is of a device of another size (this one has {} bytes)", device_bytes));
  const json* list = VACANT_TRY(fields.array("extents", kMaxExtents));
  VACANT_TRY(fields.done());
  std::vector<Extent> out;
  for (const json& entry : *list) out.push_back(VACANT_TRY(extent_of(entry, "offset", device_bytes, true)));
  return out;
}

}  // namespace

WriteMap::WriteMap(std::vector<Extent> extents, std::string name) : name_(std::move(name)) {
  std::ranges::sort(extents);
  std::vector<Extent> merged;
  for (const Extent& extent : extents) {
    if (extent.empty()) continue;
    if (!merged.empty() && extent.offset_bytes <= merged.back().end_bytes())
      merged.back().length_bytes =
          std::max(merged.back().end_bytes(), extent.end_bytes()) - merged.back().offset_bytes;
    else
      merged.push_back(extent);
  }
  for (const Extent& extent : merged) {
    const std::uint64_t begin = round_up(extent.offset_bytes, kSectorBytes);
    const std::uint64_t end = round_down(extent.end_bytes(), kSectorBytes);
    if (begin < end) extents_.push_back({begin, end - begin});
  }
}

bool WriteMap::covers(const Extent& extent) const {
  const auto after = std::ranges::upper_bound(extents_, extent.offset_bytes, {}, &Extent::offset_bytes);
  return after != extents_.begin() && std::prev(after)->contains(extent);
}

std::uint64_t WriteMap::total_bytes() const {
  std::uint64_t total = 0;
  for (const Extent& extent : extents_) total += extent.length_bytes;
  return total;
}

Result<WriteMap> parse_write_map(ByteSpan bytes, std::uint64_t device_bytes) {
  const json document = VACANT_TRY(parse_strict_json(as_text(bytes)));
  if (document.is_array() && document.size() > kMaxExtents) return fail(Code::kLimit, fmt::format("more than {} extents", kMaxExtents));
  auto extents = document.is_array() ? from_qemu_map(document, device_bytes) : from_own_format(document, device_bytes);
  if (!extents) return fail(extents.error());
  return WriteMap(std::move(*extents), "extents");
}

}  // namespace vacant::scan
