#include "model.h"

#include <algorithm>

namespace vacant::props {

namespace {

using scan::Class;

class Model {
 public:
  Model(MadeDisk& made, const ModelOptions& options)
      : made_(made), options_(options), disk_(made.disk->bytes()), base_(made.base->bytes()) {}

  std::vector<Class> run() {
    std::vector<Class> classes;
    for (std::uint64_t at = 0; at < disk_.size(); at += kSectorBytes)
      classes.push_back(class_of({at, std::min<std::uint64_t>(kSectorBytes, disk_.size() - at)}));
    return classes;
  }

 private:
  Class class_of(const Extent& sector) {
    const auto map = made_.disk->allocation(sector);
    VACANT_ASSERT(map.has_value());
    if (std::ranges::all_of(*map, [](const Allocation& part) { return part.hole; })) return Class::kHole;
    if (all(sector, [this](std::uint64_t i) { return disk_[i] == std::byte{0}; })) return Class::kZero;
    if (is_base(sector)) return Class::kBase;
    if (options_.use_write_map && is_written(sector)) return Class::kOwn;
    return Class::kUnexplained;
  }

  template <class Holds>
  static bool all(const Extent& extent, Holds holds) {
    for (std::uint64_t i = extent.offset_bytes; i < extent.end_bytes(); ++i)
      if (!holds(i)) return false;
    return true;
  }

  // Every byte of the sector is a byte of the base. A tree can only vouch for whole blocks of it.
  [[nodiscard]] bool is_base(const Extent& sector) const {
    if (options_.base == BaseKind::kNone) return false;
    const auto equal = [this](std::uint64_t i) { return i < base_.size() && disk_[i] == base_[i]; };
    if (!all(sector, equal)) return false;
    if (options_.base == BaseKind::kImage) return true;
    const std::uint64_t begin = round_down(sector.offset_bytes, options_.tree_block_bytes);
    const std::uint64_t end = std::min<std::uint64_t>(begin + options_.tree_block_bytes, base_.size());
    return end <= disk_.size() && all({begin, end - begin}, equal);
  }

  // A write map counts whole sectors only: a short last one is never taken for written.
  [[nodiscard]] bool is_written(const Extent& sector) const {
    return sector.length_bytes == kSectorBytes && all(sector, [this](std::uint64_t i) {
             return std::ranges::any_of(made_.written,
                                        [i](const Extent& extent) { return extent.contains(i); });
           });
  }

  MadeDisk& made_;
  const ModelOptions& options_;
  const ByteVector& disk_;
  const ByteVector& base_;
};

}  // namespace

std::vector<Class> model_classes(MadeDisk& made, const ModelOptions& options) {
  return Model(made, options).run();
}

scan::ClassBytes model_totals(const MadeDisk& made, const std::vector<Class>& classes) {
  scan::ClassBytes totals{};
  for (const scan::ClassExtent& part : model_extents(made, classes))
    totals[static_cast<std::size_t>(part.cls)] += part.extent.length_bytes;
  return totals;
}

std::vector<scan::ClassExtent> model_extents(const MadeDisk& made, const std::vector<Class>& classes) {
  std::vector<scan::ClassExtent> extents;
  std::uint64_t at = 0;
  for (const Class cls : classes) {
    const std::uint64_t length = std::min(kSectorBytes, made.disk->size_bytes() - at);
    if (!extents.empty() && extents.back().cls == cls)
      extents.back().extent.length_bytes += length;
    else
      extents.push_back({{at, length}, cls});
    at += length;
  }
  return extents;
}

}  // namespace vacant::props
