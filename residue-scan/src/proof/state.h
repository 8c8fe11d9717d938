// What the proofs of each file system share. Private to scan.
#pragma once

#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "vacant/scan/proof.h"

namespace vacant::scan {

// Our own identities.
struct OwnIdentities {
  struct ExtFs {
    std::uint32_t seed = 0;  // of the metadata checksums, now or before its UUID was changed
    std::uint64_t block_count = 0;
    std::uint64_t inode_bound = 0;  // no inode has a higher number
    std::uint32_t block_bytes = 0;
  };
  std::vector<ExtFs> ext;
  bool ext_incomplete = false;         // an ext file system of ours could not be parsed
  bool ext_without_checksums = false;  // one of ours leaves the place of checksums to chance
  std::set<Uuid> uuids;                // of every volume, and those that its metadata carries
  struct Blocks {
    Extent extent;  // on the device
    std::uint32_t block_bytes = 0;
  };
  std::vector<Blocks> ext_blocks;
  std::unordered_set<std::uint32_t> journal_seeds;
  std::unordered_set<std::uint32_t> descriptor_parts;  // descriptor_key() of every piece of our tables
  std::unordered_set<std::uint32_t>
      inode_states;  // checksum state behind (seed, inode, generation), every own inode
};

// The seed's part in the 16 stored bits of a group descriptor, for a piece of the table
// (kDescriptorPieceBytes) whose first group is `base`; the same for each descriptor of the piece.
inline constexpr std::size_t kDescriptorPieceBytes = 1024;
inline constexpr std::array<std::size_t, 2> kDescriptorSizes = {64, 32};
std::uint32_t descriptor_key(std::uint32_t seed, std::uint32_t base, std::size_t descriptor_bytes);

// Each examiner looks for its own kinds at window[0]; nullopt: none of them, or no proof.
std::optional<Attribution> examine_ext_directory(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_ext_extents(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_ext_inodes(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_ext_xattr(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_ext_superblock(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_ext_descriptors(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_jbd2(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_xfs(ByteSpan window, const OwnIdentities& own);
std::optional<Attribution> examine_btrfs(ByteSpan window, const OwnIdentities& own);

// CRC-32C of little-endian numbers, as ext4 feeds them.
std::uint32_t crc_u32(std::uint32_t state, std::uint32_t value);
// The state before four bytes of value `value` were fed.
std::uint32_t uncrc_u32(std::uint32_t state, std::uint32_t value);
// CRC-32C with one field counted as zeros.
std::uint32_t crc_without(std::uint32_t state, ByteSpan bytes, std::size_t field_at, std::size_t field_bytes);
std::uint32_t uncrc_without(std::uint32_t state, ByteSpan bytes, std::size_t field_at,
                            std::size_t field_bytes);

// The name of an ext file system: the top bits of its checksum seed. Lower ones cannot be told from the inode
// number in an inode table block, so all sources use the same part and a file system is counted once.
inline constexpr unsigned kSeedBits = 10;
std::string ext_identity(std::uint32_t seed);
std::string uuid_identity(ByteSpan uuid);

inline constexpr std::array<std::size_t, 7> kExtBlockSizes = {1024, 2048, 4096, 8192, 16384, 32768, 65536};

}  // namespace vacant::scan
