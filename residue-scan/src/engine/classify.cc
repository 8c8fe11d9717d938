#include "engine/classify.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace vacant::scan {

namespace {

constexpr std::size_t kBaseReadBytes = 256 * kKiB;
constexpr std::uint64_t kMaxProofBlockBytes = 64 * kKiB;

bool open_in(const Window& window, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i)
    if (window.classes[i] == Class::kUnexplained) return true;
  return false;
}

// Compares the window with the base image, reading the base only where something is left to explain.
void match_base_image(Window& window, BlockDevice& base) {
  ByteVector buffer(kBaseReadBytes);
  constexpr std::size_t kStep = kBaseReadBytes / kSectorBytes;
  for (std::size_t begin = 0; begin < window.sector_count(); begin += kStep) {
    const std::size_t end = std::min(begin + kStep, window.sector_count());
    if (!open_in(window, begin, end)) continue;
    const std::uint64_t offset = window.extent.offset_bytes + begin * kSectorBytes;
    const std::uint64_t wanted =
        std::min<std::uint64_t>((end - begin) * kSectorBytes, window.extent.end_bytes() - offset);
    if (offset >= base.size_bytes()) return;
    const std::uint64_t count = std::min(wanted, base.size_bytes() - offset);
    const MutableByteSpan part = MutableByteSpan(buffer).first(static_cast<std::size_t>(count));
    if (!base.read(offset, part)) continue;  // an unreadable base explains nothing
    for (std::size_t i = begin; i < end; ++i) {
      const ByteSpan sector = window.sector_bytes(i);
      const std::size_t at = (i - begin) * kSectorBytes;
      if (at + sector.size() > part.size()) break;
      if (window.classes[i] == Class::kUnexplained &&
          std::memcmp(sector.data(), part.data() + at, sector.size()) == 0)
        window.classes[i] = Class::kBase;
    }
  }
}

// Compares whole tree blocks. Segments are a multiple of every block size that a tree may have, so each owned
// block is whole in its window; those that the context cuts are left to the neighbouring segment.
void match_tree(Window& window, const verify::HashTree& tree, Class cls) {
  const std::uint64_t block_bytes = tree.parameters().block_bytes;
  const std::uint64_t first = round_up(window.extent.offset_bytes, block_bytes);
  ByteVector padded;
  for (std::uint64_t at = first; at < window.extent.end_bytes() && at < tree.data_bytes();
       at += block_bytes) {
    const std::uint64_t have =
        std::min({block_bytes, window.extent.end_bytes() - at, tree.data_bytes() - at});
    const bool whole = have == block_bytes || at + have == tree.data_bytes();
    const std::size_t begin = static_cast<std::size_t>((at - window.extent.offset_bytes) / kSectorBytes);
    // A sector that goes on behind the tree's data is not vouched for, unless the device ends there too.
    const bool at_end = at + have == window.extent.end_bytes();
    const std::uint64_t vouched = at_end ? round_up(have, kSectorBytes) : round_down(have, kSectorBytes);
    const std::size_t end = begin + static_cast<std::size_t>(vouched / kSectorBytes);
    if (!whole || !open_in(window, begin, end)) continue;
    ByteSpan block = ByteSpan(window.bytes)
                         .subspan(static_cast<std::size_t>(at - window.extent.offset_bytes),
                                  static_cast<std::size_t>(have));
    if (have < block_bytes) {
      padded.assign(static_cast<std::size_t>(block_bytes), std::byte{0});
      std::copy(block.begin(), block.end(), padded.begin());
      block = padded;
    }
    if (!tree.matches(at / block_bytes, block)) continue;
    for (std::size_t i = begin; i < end; ++i)
      if (window.classes[i] == Class::kUnexplained) window.classes[i] = cls;
  }
}

template <class Explains>
void match_sectors(Window& window, Class cls, const Explains& explains) {
  for (std::size_t i = 0; i < window.sector_count(); ++i)
    if (window.classes[i] == Class::kUnexplained && explains(i)) window.classes[i] = cls;
}

// A sector is live if every live-owned byte range covers it; bytes of it behind a file's end count only if
// they are zero.
bool sector_is_live(const Window& window, const FsView& view, std::size_t index) {
  const Extent sector = window.sector_extent(index);
  if (view.is_live(sector)) return true;
  const ByteSpan bytes = window.sector_bytes(index);
  std::size_t used = bytes.size();
  while (used > 0 && bytes[used - 1] == std::byte{0}) --used;
  return used > 0 && used < bytes.size() && view.is_live({sector.offset_bytes, used});
}

void mark_foreign(Window& window, std::size_t index, const Extent& block) {
  for (; index < window.sector_count() && window.sector_extent(index).offset_bytes < block.end_bytes();
       ++index)
    if (window.classes[index] == Class::kUnexplained) window.classes[index] = Class::kForeign;
}

// Whether the proof rests on the states of our own inodes, and deleted ones may be unknown.
bool is_certain(ProofKind kind, Policy policy) {
  const bool by_inode = kind == ProofKind::kExtDirectoryLeaf || kind == ProofKind::kExtHtreeNode ||
                        kind == ProofKind::kExtExtentBlock;
  return !by_inode || policy != Policy::kInside;
}

std::vector<ForeignBlock> prove_foreign(Window& window, const Evidence& evidence) {
  const Prover& prover = *evidence.prover;
  std::vector<ForeignBlock> out;
  std::uint64_t at = window.extent.offset_bytes;
  while (at < window.extent.end_bytes()) {
    const std::size_t index = static_cast<std::size_t>((at - window.extent.offset_bytes) / kSectorBytes);
    std::uint64_t step = kSectorBytes;  // a partition may begin at any
    if (window.classes[index] == Class::kUnexplained) {
      const std::uint64_t length = std::min(kMaxProofBlockBytes, window.extent.end_bytes() - at);
      const ByteSpan bytes = ByteSpan(window.bytes)
                                 .subspan(static_cast<std::size_t>(at - window.extent.offset_bytes),
                                          static_cast<std::size_t>(length));
      if (const auto proof = prover.examine(bytes, at)) {
        const Extent block{at, proof->block_bytes};
        const bool certain = is_certain(proof->kind, evidence.policy);
        if (proof->foreign && certain) mark_foreign(window, index, block);
        // The context belongs to the neighbouring segment, which finds it again.
        if (proof->foreign && window.owned.contains(at)) out.push_back({block, *proof, certain});
        // Half of a block can look like a smaller one: what was attributed as a whole is not looked at again.
        step = std::max<std::uint64_t>(step, round_down(block.length_bytes, kSectorBytes));
      }
    }
    at += step;
  }
  return out;
}

}  // namespace

std::vector<ForeignBlock> classify(Window& window, const Evidence& evidence) {
  if (!open_in(window, 0, window.sector_count())) return {};
  if (evidence.base_image != nullptr) match_base_image(window, *evidence.base_image);
  if (evidence.base_tree != nullptr) match_tree(window, *evidence.base_tree, Class::kBase);
  if (evidence.derived_tree != nullptr) match_tree(window, *evidence.derived_tree, Class::kDerived);
  if (evidence.write_map != nullptr)
    match_sectors(window, Class::kOwn,
                  [&](std::size_t i) { return evidence.write_map->covers(window.sector_extent(i)); });
  if (evidence.view != nullptr && !evidence.view->extents.empty())
    match_sectors(window, Class::kFsLive,
                  [&](std::size_t i) { return sector_is_live(window, *evidence.view, i); });
  if (evidence.prover == nullptr) return {};
  return prove_foreign(window, evidence);
}

Class worse(Class a, Class b) {
  constexpr std::array<int, kClassCount> kSeverity = {0, 1, 2, 3, 4, 5, 9, 8, 7, 6};
  return kSeverity[static_cast<std::size_t>(a)] < kSeverity[static_cast<std::size_t>(b)] ? b : a;
}

Class worst_class(const Window& window, const Extent& extent) {
  const Extent inside = extent.intersect(window.extent);
  Class worst = Class::kHole;
  if (inside.empty()) return worst;
  const std::size_t begin =
      static_cast<std::size_t>((inside.offset_bytes - window.extent.offset_bytes) / kSectorBytes);
  for (std::size_t i = begin;
       i < window.sector_count() && window.sector_extent(i).offset_bytes < inside.end_bytes(); ++i)
    worst = worse(worst, window.classes[i]);
  return worst;
}

Class worst_class(const std::vector<ClassExtent>& runs, const Extent& extent) {
  Class worst = Class::kHole;
  auto run = std::ranges::upper_bound(runs, extent.offset_bytes, {},
                                      [](const ClassExtent& each) { return each.extent.end_bytes(); });
  for (; run != runs.end() && run->extent.offset_bytes < extent.end_bytes(); ++run)
    worst = worse(worst, run->cls);
  return worst;
}

}  // namespace vacant::scan
