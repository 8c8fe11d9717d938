#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "fs/ext_io.h"
#include "fs/ext_walk.h"

namespace vacant::scan::fs {

namespace {

constexpr std::size_t kMaxWanted = 1'000'000;

Result<FsHandle> try_open(std::uint64_t super_block, std::uint32_t block_bytes, int flags, errcode_t& error) {
  ext2_filsys fs = nullptr;
  error =
      ext2fs_open2("volume", nullptr, EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP | flags,
                   static_cast<int>(super_block), static_cast<int>(block_bytes), upcall_io_manager(), &fs);
  if (error != 0) return fail(Code::kCorrupt, "cannot be opened");
  return FsHandle(fs);
}

// Why libext2fs refused, in words for the report (its own table of texts would have to be loaded from files).
std::string reason(errcode_t error) {
  switch (error) {
    case EXT2_ET_UNSUPP_FEATURE:
    case EXT2_ET_RO_UNSUPP_FEATURE:
      return "not parsed: it has features that are not known here";
    case EXT2_ET_BAD_MAGIC:
      return "damaged: no superblock";
    case EXT2_ET_SB_CSUM_INVALID:
      return "damaged: superblock checksum";
    case EXT2_ET_CORRUPT_SUPERBLOCK:
      return "damaged: superblock";
    case EXT2_ET_SHORT_READ:
      return "damaged: it ends early or cannot be read";
    case EXT2_ET_GDESC_READ:
      return "damaged: group descriptors";
    default:
      return fmt::format("damaged: cannot be opened (code {})", error);
  }
}

// A backup superblock with the primary group descriptors: the kernel does not keep backups of the descriptors
// up to date, so those tell less. nullopt if the descriptors do not fit it.
std::optional<FsHandle> open_overlaid(std::uint64_t super_offset) {
  ByteVector super(1024);
  if (!read_volume(super_offset, super)) return std::nullopt;
  store_le<std::uint16_t>(super, 90, 0);  // the group that it says it lies in
  store_le<std::uint32_t>(super, 1020, crc32c_raw(~0U, ByteSpan(super).first(1020)));
  overlay_superblock(std::move(super));
  errcode_t error = 0;
  if (auto fs = try_open(0, 0, 0, error)) return std::move(*fs);
  overlay_superblock({});
  return std::nullopt;
}

// Backups of the usual geometries: the one that the probe saw, else the first of each block size.
Result<Opened> open_backup(const WalkRequest& request, const std::string& why) {
  for (std::uint32_t bytes = 1024; bytes <= 65536; bytes *= 2) {
    if (request.backup_block_bytes != 0 && bytes != request.backup_block_bytes) continue;
    const std::uint64_t block =
        request.backup_block != 0 ? request.backup_block : 8ULL * bytes + (bytes == 1024 ? 1 : 0);
    if (block > INT32_MAX || (block + 1) * bytes > request.volume_bytes) continue;
    errcode_t error = 0;
    auto fs = try_open(block, bytes, 0, error);
    if (!fs || (*fs)->blocksize != bytes) continue;
    if (auto overlaid = open_overlaid(block * bytes)) *fs = std::move(*overlaid);
    return Opened{std::move(*fs),
                  fmt::format("damaged: primary superblock; the backup at block {} was used", block)};
  }
  return fail(Code::kCorrupt, why);
}

Result<Opened> open_any(const WalkRequest& request) {
  if (request.backup_block != 0) return open_backup(request, "damaged: no superblock");
  errcode_t error = 0;
  if (auto fs = try_open(0, 0, 0, error)) return Opened{std::move(*fs), ""};
  const std::string why = reason(error);
  if (error == EXT2_ET_UNSUPP_FEATURE || error == EXT2_ET_RO_UNSUPP_FEATURE)
    return fail(Code::kUnsupported, why);
  return open_backup(request, why);
}

bool external_journal(const ext2_super_block& super) {
  if ((super.s_feature_compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL) == 0 || super.s_journal_inum != 0)
    return false;
  return super.s_journal_dev != 0 ||
         std::ranges::any_of(super.s_journal_uuid, [](__u8 byte) { return byte != 0; });
}

}  // namespace

Result<Opened> open_fs(const WalkRequest& request) {
  Opened opened = VACANT_TRY(open_any(request));
  if (external_journal(*opened.fs->super))
    return fail(Code::kUnsupported, "not parsed: its journal is on another device");
  return opened;
}

ByteVector encode(const WalkRequest& request) {
  ByteVector out(44 + 4 * request.paths_of.size());
  store_le(out, 0, request.volume_bytes);
  store_le(out, 8, request.backup_block);
  store_le(out, 16, request.backup_block_bytes);
  store_le(out, 20, request.max_extents);
  store_le(out, 28, request.max_inodes);
  store_le(out, 36, static_cast<std::uint64_t>(request.paths_of.size()));
  for (std::size_t index = 0; index < request.paths_of.size(); ++index)
    store_le(out, 44 + 4 * index, request.paths_of[index]);
  return out;
}

Result<WalkRequest> decode_request(ByteSpan bytes) {
  Reader reader(bytes);
  WalkRequest request;
  request.volume_bytes = VACANT_TRY(reader.le<std::uint64_t>());
  request.backup_block = VACANT_TRY(reader.le<std::uint64_t>());
  request.backup_block_bytes = VACANT_TRY(reader.le<std::uint32_t>());
  request.max_extents = VACANT_TRY(reader.le<std::uint64_t>());
  request.max_inodes = VACANT_TRY(reader.le<std::uint64_t>());
  const auto count = VACANT_TRY(reader.le<std::uint64_t>());
  if (count > kMaxWanted) return fail(Code::kLimit, "too many inodes asked for");
  for (std::uint64_t index = 0; index < count; ++index)
    request.paths_of.push_back(VACANT_TRY(reader.le<std::uint32_t>()));
  return request;
}

}  // namespace vacant::scan::fs
