#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "proof/state.h"

namespace vacant::scan {

struct Prover::State {
  OwnIdentities own;
};

namespace {

constexpr std::size_t kLeastWindowBytes = 512;
constexpr std::array<std::byte, 8> kZeros{};

// One of our own file systems could not be read: then its blocks cannot be told from a stranger's.
bool is_doubtful(const Attribution& found, const OwnIdentities& own) {
  return found.foreign && own.ext_incomplete && found.kind != ProofKind::kXfs &&
         found.kind != ProofKind::kBtrfs;
}

// An inode takes some bytes of its volume, even if mke2fs was told to make as many as it can.
std::uint64_t inode_bound(const FsView& view, std::size_t volume) {
  constexpr std::uint64_t kLeastRatio = 1024, kLeastCount = 4096;
  std::uint64_t bound = view.volumes[volume].extent.length_bytes / kLeastRatio + kLeastCount;
  for (const OwnInode& inode : view.own_inodes)
    if (static_cast<std::size_t>(inode.volume) == volume)
      bound = std::max<std::uint64_t>(bound, inode.inode + 4U);
  return bound;
}

// As many as there are block bitmaps, or as there would be by default.
std::uint64_t group_count(const FsView& view, std::size_t volume) {
  const std::uint64_t block_bytes = view.volumes[volume].block_bytes;
  std::uint64_t bitmaps = 0;
  for (const FsExtent& part : view.extents)
    if (static_cast<std::size_t>(part.volume) == volume && part.part == FsPart::kBlockBitmap)
      bitmaps += part.extent.length_bytes;
  const std::uint64_t groups = view.volumes[volume].extent.length_bytes / (8 * block_bytes * block_bytes) + 1;
  return std::max(groups, bitmaps / block_bytes);
}

void add_descriptors(std::uint32_t seed, std::uint64_t groups, OwnIdentities& own) {
  constexpr std::uint64_t kMostGroups = 1U
                                        << 24U;  // 2 PiB; from 1 << 20 on nearly every value is ours anyway
  for (const std::size_t size : kDescriptorSizes)
    for (std::uint64_t base = 0; base < std::min(groups, kMostGroups); base += kDescriptorPieceBytes / size)
      own.descriptor_parts.insert(descriptor_key(seed, static_cast<std::uint32_t>(base), size));
}

// What its checksums begin with, now and in what is left from before its UUID or features were changed.
std::set<std::uint32_t> seeds_of(const Volume& volume) {
  std::set<std::uint32_t> seeds{crc32c_raw(~0U, volume.uuid)};
  if (volume.has_checksums) seeds.insert(volume.checksum_seed);
  for (const Uuid& uuid : volume.other_uuids) seeds.insert(crc32c_raw(~0U, uuid));
  return seeds;
}

void collect_ext(const FsView& view, std::size_t index, OwnIdentities& own) {
  const Volume& volume = view.volumes[index];
  if (!volume.parsed) own.ext_incomplete = true;
  if (!volume.has_checksums) own.ext_without_checksums = true;
  if (volume.block_bytes == 0) return;
  own.ext_blocks.push_back({volume.extent, volume.block_bytes});
  for (const std::uint32_t seed : seeds_of(volume)) {
    own.ext.push_back({seed, volume.extent.length_bytes / volume.block_bytes, inode_bound(view, index),
                       volume.block_bytes});
    own.journal_seeds.insert(seed);
    add_descriptors(seed, group_count(view, index), own);
    for (const OwnInode& inode : view.own_inodes)
      if (static_cast<std::size_t>(inode.volume) == index)
        own.inode_states.insert(crc_u32(crc_u32(seed, inode.inode), inode.generation));
  }
}

// The end of a leaf looks like a smaller leaf if an entry begins at the right place. Inside a block of an ext
// file system of ours, whose beginning is not at hand, it could be that.
bool is_part_of_block(const Attribution& found, std::uint64_t offset_bytes, const OwnIdentities& own) {
  if (!found.foreign || found.kind != ProofKind::kExtDirectoryLeaf) return false;
  return std::ranges::any_of(own.ext_blocks, [&](const OwnIdentities::Blocks& volume) {
    return volume.extent.contains(offset_bytes) && found.block_bytes < volume.block_bytes &&
           (offset_bytes - volume.extent.offset_bytes) % volume.block_bytes != 0;
  });
}

OwnIdentities collect(const FsView& view) {
  OwnIdentities own;
  for (std::size_t index = 0; index < view.volumes.size(); ++index) {
    const Volume& volume = view.volumes[index];
    std::vector<Uuid> uuids = volume.other_uuids;
    uuids.push_back(volume.uuid);
    for (const Uuid& uuid : uuids) {
      if (is_zero(uuid)) continue;
      own.uuids.insert(uuid);
      own.journal_seeds.insert(crc32c_raw(~0U, uuid));
    }
    if (volume.type.starts_with("ext")) collect_ext(view, index, own);
  }
  return own;
}

bool may_be_xfs(ByteSpan window) {
  const auto first = load_be<std::uint32_t>(window, 0);
  const auto second = load_be<std::uint16_t>(window, 8);
  const bool tree = second == 0x3DF1 || second == 0x3DFF || second == 0x3EBE || second == 0x3BEE;
  const unsigned initial = first >> 24U;
  const bool letters = initial == 'X' || initial == 'A' || initial == 'I' || initial == 'F' ||
                       initial == 'R' || initial == 'B';
  return tree || letters;
}

bool may_be_inodes(ByteSpan window) {
  for (std::size_t slot = 0; slot < 4; ++slot) {
    const auto extra = load_le<std::uint16_t>(window, slot * 256 + 0x80);
    if (extra >= 4 && extra <= 128 && extra % 4 == 0) return true;
  }
  return false;
}

// The first entry: a type that exists, and a name that fits in the record; or a hash-tree node of 64 KiB, the
// length of whose unused entry is written as 0 or 65535.
bool may_be_directory(ByteSpan window) {
  constexpr std::uint16_t kLargestLimit = (65536 - 16) / 8;
  const auto inode = load_le<std::uint32_t>(window, 0);
  const auto record = load_le<std::uint16_t>(window, 4);
  const unsigned name_bytes = load_le<std::uint8_t>(window, 6);
  if (load_le<std::uint8_t>(window, 7) > 7) return false;
  if (inode == 0 && (record == 0 || record == 65535))
    return load_le<std::uint16_t>(window, 8) == kLargestLimit;
  return record >= 8 && record % 4 == 0 && 8 + name_bytes <= record && (inode == 0 || name_bytes > 0);
}

// A few loads that nearly all data fails, before any examiner is called. Each line stands for one of them and
// lets through all that it could prove.
bool may_be_metadata(ByteSpan window) {
  const auto first = load_le<std::uint32_t>(window, 0);
  const auto second = load_le<std::uint32_t>(window, 4);
  const bool magic = (first & 0xFFFFU) == 0xF30A || first == 0xEA020000U || first == 0x98393BC0U;
  const bool superblock = load_le<std::uint16_t>(window, 56) == 0xEF53;
  const bool descriptors = load_le<std::uint16_t>(window, 0x12) < 8;
  const bool btrfs =
      second == 0 || load_le<std::uint64_t>(window, 64) == 0x4D5F53665248425FULL;  // "_BHRfS_M"
  return may_be_directory(window) || magic || superblock || descriptors || btrfs || may_be_xfs(window) ||
         (window.size() >= 1024 && may_be_inodes(window));
}

// Walks over zeros of any length.
template <class Step>
std::uint32_t over_zeros(std::uint32_t state, std::size_t count, const Step& step) {
  for (; count > 0; count -= std::min(count, kZeros.size()))
    state = step(state, ByteSpan(kZeros).first(std::min(count, kZeros.size())));
  return state;
}

}  // namespace

std::uint32_t crc_u32(std::uint32_t state, std::uint32_t value) {
  std::array<std::byte, 4> raw{};
  store_le(raw, 0, value);
  return crc32c_raw(state, raw);
}

std::uint32_t uncrc_u32(std::uint32_t state, std::uint32_t value) {
  std::array<std::byte, 4> raw{};
  store_le(raw, 0, value);
  return crc32c_reverse(state, raw);
}

std::uint32_t crc_without(std::uint32_t state, ByteSpan bytes, std::size_t field_at,
                          std::size_t field_bytes) {
  state = crc32c_raw(state, bytes.first(field_at));
  state = over_zeros(state, field_bytes, crc32c_raw);
  return crc32c_raw(state, bytes.subspan(field_at + field_bytes));
}

std::uint32_t uncrc_without(std::uint32_t state, ByteSpan bytes, std::size_t field_at,
                            std::size_t field_bytes) {
  state = crc32c_reverse(state, bytes.subspan(field_at + field_bytes));
  state = over_zeros(state, field_bytes, crc32c_reverse);
  return crc32c_reverse(state, bytes.first(field_at));
}

std::string ext_identity(std::uint32_t seed) {
  return fmt::format("fs:ext-{:03x}", seed >> (32U - kSeedBits));
}
std::string uuid_identity(ByteSpan uuid) { return "fs:" + to_hex(uuid); }

std::string_view rule_name(ProofKind kind) {
  switch (kind) {
    case ProofKind::kExtDirectoryLeaf:
      return "ext4-directory-leaf";
    case ProofKind::kExtHtreeNode:
      return "ext4-htree-node";
    case ProofKind::kExtExtentBlock:
      return "ext4-extent-block";
    case ProofKind::kExtInodeTable:
      return "ext4-inode-table";
    case ProofKind::kExtXattrBlock:
      return "ext4-xattr-block";
    case ProofKind::kExtBitmap:
      return "ext4-bitmap";
    case ProofKind::kExtSuperblock:
      return "ext4-superblock";
    case ProofKind::kExtGroupDescriptors:
      return "ext4-group-descriptors";
    case ProofKind::kJbd2Block:
      return "jbd2-block";
    case ProofKind::kXfs:
      return "xfs-metadata";
    case ProofKind::kBtrfs:
      return "btrfs-metadata";
  }
  return "unknown";
}

Prover::Prover(const FsView& view) : state_(std::make_unique<State>(State{collect(view)})) {}
Prover::~Prover() = default;
Prover::Prover(Prover&&) noexcept = default;

std::optional<Attribution> Prover::examine(ByteSpan window, std::uint64_t offset_bytes) const {
  if (window.size() < kLeastWindowBytes || !may_be_metadata(window)) return std::nullopt;
  constexpr std::array kExaminers = {
      examine_ext_directory, examine_ext_extents, examine_ext_superblock,  examine_ext_xattr, examine_jbd2,
      examine_xfs,           examine_btrfs,       examine_ext_descriptors, examine_ext_inodes};
  const OwnIdentities& own = state_->own;
  for (const auto examiner : kExaminers) {
    auto found = examiner(window, own);
    if (!found) continue;
    const bool doubtful = is_doubtful(*found, own) || is_part_of_block(*found, offset_bytes, own);
    return doubtful ? std::nullopt : std::move(found);
  }
  return std::nullopt;
}

}  // namespace vacant::scan
