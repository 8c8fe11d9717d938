// Blocks of a jbd2 journal with checksums. Source of the format: the kernel's
// Documentation/filesystems/ext4/journal.rst.
#include "proof/state.h"

namespace vacant::scan {

namespace {

constexpr std::uint32_t kMagic = 0xC03B3998U, kDescriptor = 1, kCommit = 2, kSuperV2 = 4, kRevoke = 5;
constexpr std::size_t kSuperBytes = 1024, kSuperUuid = 48, kSuperChecksum = 0xFC;
constexpr std::size_t kCommitKind = 12, kCommitChecksum = 16, kCommitBytes = 60;

bool ours(std::uint32_t seed, const OwnIdentities& own) { return own.journal_seeds.contains(seed); }

// A journal without a UUID of its own names nobody.
bool is_nobody(std::uint32_t seed) {
  static const std::uint32_t kZeroSeed = crc32c_raw(~0U, Uuid{});
  return seed == kZeroSeed;
}

Attribution attribute(std::uint32_t seed, std::size_t block_bytes, std::string detail,
                      const OwnIdentities& own) {
  return {ProofKind::kJbd2Block, !ours(seed, own), static_cast<std::uint32_t>(block_bytes),
          ext_identity(seed), std::move(detail)};
}

std::optional<Attribution> examine_super(ByteSpan window, const OwnIdentities& own) {
  if (window.size() < kSuperBytes) return std::nullopt;
  const ByteSpan super = window.first(kSuperBytes);
  // Features 8 and 16: checksums of version 2 and 3, which cover the superblock.
  const bool checksums = (load_be<std::uint32_t>(super, 40) & 24U) != 0;
  if (!checksums ||
      crc_without(~0U, super, kSuperChecksum, 4) != load_be<std::uint32_t>(super, kSuperChecksum))
    return std::nullopt;
  const std::uint32_t seed = crc32c_raw(~0U, super.subspan(kSuperUuid, 16));
  if (is_nobody(seed)) return std::nullopt;
  return attribute(seed, kSuperBytes, "journal superblock, checksum holds", own);
}

// A commit block is its header and zeros; the checksum's place is then the only thing that is left to
// explain.
std::optional<Attribution> examine_commit(ByteSpan window, const OwnIdentities& own) {
  const std::uint32_t checksum = load_be<std::uint32_t>(window, kCommitChecksum);
  // Version 1 names its kind and covers the transaction's blocks, not this one.
  const bool version_1 = load_le<std::uint16_t>(window, kCommitKind) != 0;
  if (checksum == 0 || version_1) return std::nullopt;
  for (const std::size_t block_bytes : kExtBlockSizes) {
    if (window.size() < block_bytes || !is_zero(window.subspan(kCommitBytes, block_bytes - kCommitBytes)))
      break;
    // Blocks behind it may be zero too: the size is that for which the state is one of ours, or the common
    // one.
    const std::uint32_t seed = uncrc_without(checksum, window.first(block_bytes), kCommitChecksum, 4);
    if (ours(seed, own)) return attribute(seed, block_bytes, "commit block", own);
  }
  if (window.size() < 4096 || !is_zero(window.subspan(kCommitBytes, 4096 - kCommitBytes)))
    return std::nullopt;
  const std::uint32_t seed = uncrc_without(checksum, window.first(4096), kCommitChecksum, 4);
  if (is_nobody(seed)) return std::nullopt;
  Attribution out = attribute(seed, 4096, "commit block", own);
  out.identity.clear();  // the block size is a guess, so the seed is one too
  return out;
}

}  // namespace

std::optional<Attribution> examine_jbd2(ByteSpan window, const OwnIdentities& own) {
  if (window.size() < 1024 || load_be<std::uint32_t>(window, 0) != kMagic) return std::nullopt;
  switch (load_be<std::uint32_t>(window, 4)) {
    case kSuperV2:
      return examine_super(window, own);
    case kCommit:
      return examine_commit(window, own);
    // Descriptor and revoke blocks hold a checksum only if the journal has that feature, which the block does
    // not say.
    case kDescriptor:
    case kRevoke:
    default:
      return std::nullopt;
  }
}

}  // namespace vacant::scan
