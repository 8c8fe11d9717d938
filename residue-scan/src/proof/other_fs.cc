// XFS (version 5) and btrfs: metadata blocks that carry the file system's UUID and a CRC-32C of themselves.
// Sources: the XFS "Filesystem Structures" document; btrfs' on-disk format page.
#include <fmt/format.h>

#include "proof/state.h"

namespace vacant::scan {

namespace {

// Where a kind of XFS block keeps its checksum and UUID.
struct XfsKind {
  std::uint32_t magic;
  std::size_t checksum_at;
  std::size_t uuid_at;
  const char* what;
};

constexpr std::uint32_t magic(const char (&text)[5]) {
  return (std::uint32_t(std::uint8_t(text[0])) << 24U) | (std::uint32_t(std::uint8_t(text[1])) << 16U) |
         (std::uint32_t(std::uint8_t(text[2])) << 8U) | std::uint8_t(text[3]);
}

constexpr XfsKind kXfsKinds[] = {{magic("XFSB"), 224, 32, "superblock"},
                                 {magic("XDB3"), 4, 24, "directory block"},
                                 {magic("XDD3"), 4, 24, "directory data"},
                                 {magic("XDF3"), 4, 24, "directory free index"},
                                 {magic("AB3B"), 52, 32, "free space btree"},
                                 {magic("AB3C"), 52, 32, "free space btree"},
                                 {magic("IAB3"), 52, 32, "inode btree"},
                                 {magic("FIB3"), 52, 32, "free inode btree"},
                                 {magic("RMB3"), 52, 32, "reverse map btree"},
                                 {magic("R3FC"), 52, 32, "reference count btree"},
                                 {magic("BMA3"), 64, 40, "extent map btree"},
                                 {magic("XAGF"), 216, 64, "AG free space header"},
                                 {magic("XAGI"), 312, 296, "AG inode header"},
                                 {magic("XARM"), 12, 16, "remote attribute"},
                                 {magic("XSLM"), 12, 16, "symlink"}};

// Directory and attribute trees: 16-bit magic at 8, checksum at 12, UUID at 32.
constexpr std::uint16_t kDaMagics[] = {0x3DF1, 0x3DFF, 0x3EBE, 0x3BEE};
constexpr std::array<std::size_t, 9> kXfsSizes = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 256};

bool xfs_checksum_holds(ByteSpan block, std::size_t checksum_at) {
  return ~crc_without(~0U, block, checksum_at, 4) == load_le<std::uint32_t>(block, checksum_at);
}

std::optional<Attribution> xfs_block(ByteSpan window, std::size_t checksum_at, std::size_t uuid_at,
                                     const char* what, const OwnIdentities& own) {
  for (const std::size_t size : kXfsSizes) {
    if (size > window.size() || size < checksum_at + 4 || size < uuid_at + 16) continue;
    if (!xfs_checksum_holds(window.first(size), checksum_at)) continue;
    Uuid uuid{};
    std::ranges::copy(window.subspan(uuid_at, uuid.size()), uuid.begin());
    return Attribution{ProofKind::kXfs, !own.uuids.contains(uuid), static_cast<std::uint32_t>(size),
                       uuid_identity(uuid), what};
  }
  return std::nullopt;
}

// The header of a tree block, before five sizes of it are run through the checksum: CRC-32C fills 4 of the
// checksum's 32 bytes, the block's address is aligned, two flags and one version of back references exist.
bool looks_like_tree_block(ByteSpan window) {
  const auto address = load_le<std::uint64_t>(window, 48), flags = load_le<std::uint64_t>(window, 56);
  constexpr std::uint64_t kVersion = 56, kMostItems = 65536 / 17;
  return load_le<std::uint32_t>(window, 0) != 0 && is_zero(window.subspan(4, 28)) && address != 0 &&
         address % 4096 == 0 && (flags >> kVersion) <= 1 && (flags & ((1ULL << kVersion) - 1)) < 4 &&
         load_le<std::uint32_t>(window, 96) <= kMostItems && load_le<std::uint8_t>(window, 100) <= 8;
}

}  // namespace

std::optional<Attribution> examine_xfs(ByteSpan window, const OwnIdentities& own) {
  if (window.size() < 512) return std::nullopt;
  const auto first = load_be<std::uint32_t>(window, 0);
  for (const XfsKind& kind : kXfsKinds)
    if (kind.magic == first) return xfs_block(window, kind.checksum_at, kind.uuid_at, kind.what, own);
  // Inodes of version 3: "IN", and the version at byte 4.
  if ((first >> 16U) == 0x494E && window[4] == std::byte{3}) return xfs_block(window, 100, 160, "inode", own);
  const auto second = load_be<std::uint16_t>(window, 8);
  for (const std::uint16_t kind : kDaMagics)
    if (kind == second) return xfs_block(window, 12, 32, "directory or attribute tree", own);
  return std::nullopt;
}

std::optional<Attribution> examine_btrfs(ByteSpan window, const OwnIdentities& own) {
  constexpr std::size_t kFsidAt = 32, kChecksumBytes = 32;
  if (window.size() < 4096) return std::nullopt;
  const bool super = as_text(window.subspan(64, 8)) == "_BHRfS_M";
  if (!super && !looks_like_tree_block(window)) return std::nullopt;
  for (const std::size_t size :
       {std::size_t{4096}, std::size_t{16384}, std::size_t{8192}, std::size_t{32768}, std::size_t{65536}}) {
    if (size > window.size() || (super && size != 4096)) continue;
    if (~crc32c_raw(~0U, window.subspan(kChecksumBytes, size - kChecksumBytes)) !=
        load_le<std::uint32_t>(window, 0))
      continue;
    Uuid fsid{};
    std::ranges::copy(window.subspan(kFsidAt, fsid.size()), fsid.begin());
    return Attribution{ProofKind::kBtrfs, !own.uuids.contains(fsid), static_cast<std::uint32_t>(size),
                       uuid_identity(fsid), super ? "superblock" : "tree block"};
  }
  return std::nullopt;
}

}  // namespace vacant::scan
