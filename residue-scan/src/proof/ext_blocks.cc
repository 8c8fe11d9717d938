// Extent tree blocks, inode tables, xattr blocks, superblocks, group descriptors. Source of the formats: the
// kernel's Documentation/filesystems/ext4.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "proof/state.h"

namespace vacant::scan {

namespace {

// Undoes four bytes of zeros: crc32c over 4 bytes is crc(s, x) = T(s ^ x), so this is the inverse of T.
std::uint32_t untwist(std::uint32_t state) { return uncrc_u32(state, 0); }

// ---- inode tables ----

constexpr std::size_t kPieceBytes = 1024;  // the smallest block; larger ones are attributed piece by piece
constexpr std::size_t kInodeBytes = 256, kSlots = kPieceBytes / kInodeBytes;
constexpr std::size_t kChecksumLow = 0x7C, kChecksumHigh = 0x82, kGeneration = 0x64, kExtraSize = 0x80,
                      kMode = 0, kLinks = 0x1A;

bool looks_like_inode(ByteSpan inode) {
  const auto extra = load_le<std::uint16_t>(inode, kExtraSize);
  if (extra < 4 || extra > kInodeBytes - 128 || extra % 4 != 0) return false;
  const unsigned type = load_le<std::uint16_t>(inode, kMode) >> 12U;
  const bool known =
      type == 0 || type == 1 || type == 2 || type == 4 || type == 6 || type == 8 || type == 10 || type == 12;
  return known && load_le<std::uint16_t>(inode, kLinks) < 65000 &&
         load_le<std::uint16_t>(inode, kChecksumLow) != 0;
}

// Whether two slots or more hold something and all that do look like inodes: by loads alone, as running the
// checksum backwards costs far more.
bool look_like_inodes(ByteSpan piece) {
  std::size_t used = 0;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const ByteSpan inode = piece.subspan(slot * kInodeBytes, kInodeBytes);
    if (looks_like_inode(inode))
      ++used;
    else if (!is_zero(inode))
      return false;
  }
  return used >= 2;
}

// seed ^ inode number, from one inode's checksum.
std::uint32_t seed_xor_number(ByteSpan inode) {
  const std::uint32_t checksum = load_le<std::uint16_t>(inode, kChecksumLow) |
                                 (std::uint32_t{load_le<std::uint16_t>(inode, kChecksumHigh)} << 16U);
  std::array<std::byte, kInodeBytes> copy{};
  std::ranges::copy(inode, copy.begin());
  store_le<std::uint16_t>(copy, kChecksumLow, 0);
  store_le<std::uint16_t>(copy, kChecksumHigh, 0);
  const std::uint32_t state = crc32c_reverse(checksum, copy);
  return untwist(uncrc_u32(state, load_le<std::uint32_t>(inode, kGeneration)));
}

// Inode numbers in a piece are base+1 .. base+4 with base a multiple of 4. Whether a ^ b can be the
// difference of two slots.
bool fits_slots(std::uint32_t difference, std::size_t left, std::size_t right) {
  const auto low = static_cast<std::uint32_t>(((left + 1) ^ (right + 1)) & 3U);
  if ((difference & 3U) != low) return false;
  const std::uint32_t high = difference >> 2U;
  if (right != kSlots - 1) return high == 0;
  return high != 0 && (high & (high + 1)) == 0;  // the carry of base+4: ones from the bottom
}

// ---- xattr blocks ----

constexpr std::size_t kXattrChecksum = 16, kXattrHeader = 32;

bool looks_like_xattr(ByteSpan window) {
  if (window.size() < 1024 || load_le<std::uint32_t>(window, 0) != 0xEA020000U) return false;
  const auto references = load_le<std::uint32_t>(window, 4);
  const bool header = references > 0 && references <= 1024 && load_le<std::uint32_t>(window, 8) == 1 &&
                      load_le<std::uint32_t>(window, kXattrChecksum) != 0;
  const auto name_bytes = load_le<std::uint8_t>(window, kXattrHeader);
  const auto index = load_le<std::uint8_t>(window, kXattrHeader + 1);
  return header && is_zero(window.subspan(20, 12)) && index <= 10 && (name_bytes > 0 || index > 0);
}

// The block number that the checksum implies if the block were of this file system.
std::uint32_t implied_block(ByteSpan block, std::uint32_t seed) {
  const std::uint32_t state =
      uncrc_without(load_le<std::uint32_t>(block, kXattrChecksum), block, kXattrChecksum, 4);
  return untwist(untwist(state)) ^ seed;
}

// ---- extent trees ----

constexpr std::size_t kExtentHeader = 12, kExtentEntry = 12;
constexpr std::uint16_t kMostHigh = 0xF;  // of a block number's upper 16 bits: 256 TiB of 4 KiB blocks

// The checksum leads somewhere from any bytes, so it is the entries that must show that this is a tree: in
// order, without overlaps, and with plausible block numbers.
bool are_extents(ByteSpan block, std::size_t entries) {
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    const ByteSpan entry = block.subspan(kExtentHeader + i * kExtentEntry, kExtentEntry);
    const std::uint32_t first = load_le<std::uint32_t>(entry, 0);
    const std::uint16_t raw = load_le<std::uint16_t>(entry, 4);
    const std::uint32_t length = raw > 32768 ? raw - 32768U : raw;  // the upper half: unwritten
    if (first < next || length == 0 || load_le<std::uint16_t>(entry, 6) > kMostHigh) return false;
    next = std::uint64_t{first} + length;
  }
  return next <= (1ULL << 32U);
}

bool are_indexes(ByteSpan block, std::size_t entries) {
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    const ByteSpan entry = block.subspan(kExtentHeader + i * kExtentEntry, kExtentEntry);
    const std::uint32_t first = load_le<std::uint32_t>(entry, 0);
    if (first < next || load_le<std::uint16_t>(entry, 8) > kMostHigh) return false;
    // The first one may keep what an extent had there, when the tree grew.
    if ((i > 0 || entries == 1) && load_le<std::uint16_t>(entry, 10) != 0) return false;
    next = std::uint64_t{first} + 1;
  }
  return true;
}

// ---- group descriptors ----

constexpr std::size_t kDescriptorChecksum = 0x1E;
constexpr std::size_t kLeastDescriptors = 4;  // each but the first is 16 bits of evidence

bool looks_like_descriptor(ByteSpan window, std::size_t at) {
  return load_le<std::uint32_t>(window, at) != 0 && load_le<std::uint32_t>(window, at + 4) != 0 &&
         load_le<std::uint32_t>(window, at + 8) != 0 && load_le<std::uint16_t>(window, at + 0x12) < 8 &&
         load_le<std::uint16_t>(window, at + kDescriptorChecksum) != 0;
}

bool look_like_descriptors(ByteSpan window, std::size_t size) {
  for (std::size_t index = 0; index < kLeastDescriptors; ++index)
    if (!looks_like_descriptor(window, index * size)) return false;
  return true;
}

// The seed's part in the 16 stored bits: the same for every descriptor of a file system.
std::uint16_t seed_part(ByteSpan descriptor, std::uint32_t group) {
  const std::uint32_t rest = crc_without(crc_u32(0, group), descriptor, kDescriptorChecksum, 2);
  return static_cast<std::uint16_t>(load_le<std::uint16_t>(descriptor, kDescriptorChecksum) ^ rest);
}

std::uint32_t key_of(std::uint16_t part, std::size_t descriptor_bytes) {
  return part | static_cast<std::uint32_t>(descriptor_bytes << 16U);
}

}  // namespace

// A piece counts its groups from 0, as its place in the table is unknown. The piece's first group is a
// multiple of the number of groups in it, so that counting wrongly changes the same bits of every number,
// and, the checksum being linear, adds the same to every value.
std::uint32_t descriptor_key(std::uint32_t seed, std::uint32_t base, std::size_t descriptor_bytes) {
  std::array<std::byte, 64> zeros{};
  const std::uint32_t state = crc32c_raw(crc_u32(seed, base), ByteSpan(zeros).first(descriptor_bytes));
  return key_of(static_cast<std::uint16_t>(state), descriptor_bytes);
}

std::optional<Attribution> examine_ext_extents(ByteSpan window, const OwnIdentities& own) {
  if (load_le<std::uint16_t>(window, 0) != 0xF30A) return std::nullopt;
  const std::size_t entries = load_le<std::uint16_t>(window, 2);
  const std::size_t most = load_le<std::uint16_t>(window, 4);
  const std::size_t tail = 12 + most * 12;
  const std::size_t block_bytes = tail + 4;
  if (std::ranges::find(kExtBlockSizes, std::bit_ceil(block_bytes)) == kExtBlockSizes.end())
    return std::nullopt;
  if (std::bit_ceil(block_bytes) - block_bytes >= 12 || std::bit_ceil(block_bytes) > window.size())
    return std::nullopt;
  if (entries == 0 || entries > most || load_le<std::uint16_t>(window, 6) > 5) return std::nullopt;
  const bool leaf = load_le<std::uint16_t>(window, 6) == 0;
  if (!(leaf ? are_extents(window, entries) : are_indexes(window, entries))) return std::nullopt;
  const std::uint32_t checksum = load_le<std::uint32_t>(window, tail);
  if (checksum == 0) return std::nullopt;  // a file system without metadata checksums
  const std::uint32_t state = crc32c_reverse(checksum, window.first(tail));
  // Without checksums the kernel wrote whatever was in memory behind the entries.
  if (own.ext_without_checksums && !own.inode_states.contains(state)) return std::nullopt;
  return Attribution{ProofKind::kExtExtentBlock, !own.inode_states.contains(state),
                     static_cast<std::uint32_t>(std::bit_ceil(block_bytes)),
                     fmt::format("inode:{:08x}", state), fmt::format("{} of {} entries", entries, most)};
}

std::optional<Attribution> examine_ext_inodes(ByteSpan window, const OwnIdentities& own) {
  if (window.size() < kPieceBytes || !look_like_inodes(window)) return std::nullopt;
  std::optional<std::size_t> first;
  std::uint32_t first_value = 0;
  std::size_t agreeing = 0;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const ByteSpan inode = window.subspan(slot * kInodeBytes, kInodeBytes);
    if (is_zero(inode)) continue;
    const std::uint32_t value = seed_xor_number(inode);
    if (!first) {
      first = slot;
      first_value = value;
    } else if (!fits_slots(first_value ^ value, *first, slot)) {
      return std::nullopt;
    } else {
      ++agreeing;
    }
  }
  // One inode alone proves nothing: any checksum leads somewhere.
  if (!first || agreeing == 0) return std::nullopt;
  const bool ours = std::ranges::any_of(own.ext, [&](const OwnIdentities::ExtFs& fs) {
    const std::uint32_t number = first_value ^ fs.seed;
    return number != 0 && (number - 1) % kSlots == *first && number <= fs.inode_bound;
  });
  return Attribution{ProofKind::kExtInodeTable, !ours, kPieceBytes, ext_identity(first_value),
                     fmt::format("{} inodes whose checksums agree", agreeing + 1)};
}

std::optional<Attribution> examine_ext_xattr(ByteSpan window, const OwnIdentities& own) {
  if (!looks_like_xattr(window)) return std::nullopt;
  for (const OwnIdentities::ExtFs& fs : own.ext)
    if (fs.block_bytes <= window.size() &&
        implied_block(window.first(fs.block_bytes), fs.seed) < fs.block_count)
      return Attribution{ProofKind::kExtXattrBlock, false, fs.block_bytes, "", "xattr block"};
  return Attribution{ProofKind::kExtXattrBlock, true, kPieceBytes, "",
                     "xattr block of no file system of ours"};
}

std::optional<Attribution> examine_ext_superblock(ByteSpan window, const OwnIdentities& own) {
  constexpr std::size_t kChecksumAt = 0x3FC, kUuidAt = 0x68, kSeedAt = 0x270;
  if (window.size() < kPieceBytes || load_le<std::uint16_t>(window, 56) != 0xEF53) return std::nullopt;
  const ByteSpan super = window.first(kPieceBytes);
  const bool checksums = (load_le<std::uint32_t>(super, 0x64) & 0x400U) != 0;
  const auto log_block = load_le<std::uint32_t>(super, 0x18);
  const bool sane = log_block <= 6 && load_le<std::uint32_t>(super, 0) != 0 &&
                    load_le<std::uint32_t>(super, 4) != 0 && load_le<std::uint32_t>(super, 0x28) != 0;
  if (!sane ||
      (checksums && crc32c_raw(~0U, super.first(kChecksumAt)) != load_le<std::uint32_t>(super, kChecksumAt)))
    return std::nullopt;
  Uuid uuid{};
  std::ranges::copy(super.subspan(kUuidAt, uuid.size()), uuid.begin());
  if (is_zero(uuid)) return std::nullopt;  // it names nobody
  const bool own_seed = (load_le<std::uint32_t>(super, 0x60) & 0x2000U) != 0;
  const std::uint32_t seed = own_seed ? load_le<std::uint32_t>(super, kSeedAt) : crc32c_raw(~0U, uuid);
  return Attribution{ProofKind::kExtSuperblock, !own.uuids.contains(uuid), kPieceBytes, ext_identity(seed),
                     checksums ? "checksum holds" : "no checksum"};
}

std::optional<Attribution> examine_ext_descriptors(ByteSpan window, const OwnIdentities& own) {
  if (window.size() < kDescriptorPieceBytes || !looks_like_descriptor(window, 0)) return std::nullopt;
  for (const std::size_t size : kDescriptorSizes) {
    if (!look_like_descriptors(window, size)) continue;
    std::size_t count = 0;
    std::uint16_t part = 0;
    for (; (count + 1) * size <= kDescriptorPieceBytes && looks_like_descriptor(window, count * size);
         ++count) {
      const std::uint16_t here =
          seed_part(window.subspan(count * size, size), static_cast<std::uint32_t>(count));
      if (count == 0) part = here;
      if (here != part) break;
    }
    if (count < kLeastDescriptors) continue;
    const bool ours = own.descriptor_parts.contains(key_of(part, size));
    return Attribution{ProofKind::kExtGroupDescriptors, !ours, kDescriptorPieceBytes, "",
                       fmt::format("{} descriptors whose checksums agree", count)};
  }
  return std::nullopt;
}

}  // namespace vacant::scan
