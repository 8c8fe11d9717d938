#include "fs/ext_walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "fs/ext_io.h"

namespace vacant::scan::fs {

namespace {

bool all_ones(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0xFF}; });
}

}  // namespace

Walk::Walk(ext2_filsys fs, const WalkRequest& request) : fs_(fs), request_(request) {}

void Walk::claim(std::uint64_t offset_bytes, std::uint64_t length_bytes, FsPart part, bool live,
                 std::uint32_t inode) {
  if (length_bytes == 0 || stopped()) return;
  const std::uint64_t size = ext2fs_blocks_count(fs_->super) * block_bytes();
  if (offset_bytes > size || length_bytes > size - offset_bytes) return damage("blocks outside the volume");
  if (!claims_.empty()) {
    Claim& last = claims_.back();
    if (last.end_bytes() == offset_bytes && last.part == part && last.live == live && last.inode == inode) {
      last.length_bytes += length_bytes;
      return;
    }
  }
  if (claims_.size() >= request_.max_extents) return over_limit("more extents than the limit");
  claims_.push_back({offset_bytes, length_bytes, inode, part, live});
}

ByteVector Walk::block(std::uint64_t number) {
  ByteVector bytes(block_bytes());
  if (read_volume(number * block_bytes(), bytes)) return bytes;
  damage("metadata that cannot be read");
  return {};
}

void Walk::claim_descriptors(std::uint64_t first_block, std::uint64_t count, std::uint64_t done_bytes) {
  const std::uint64_t needed = static_cast<std::uint64_t>(fs_->group_desc_count) * EXT2_DESC_SIZE(fs_->super);
  const std::uint64_t used = needed > done_bytes ? std::min(needed - done_bytes, count * block_bytes()) : 0;
  claim(first_block * block_bytes(), used, FsPart::kGroupDescriptors, true);
  claim(first_block * block_bytes() + used, count * block_bytes() - used, FsPart::kGroupDescriptors, false);
}

void Walk::claim_group_head(dgrp_t group) {
  blk64_t super = 0;
  blk64_t old_descriptors = 0;
  blk64_t new_descriptors = 0;
  blk_t used = 0;
  if (ext2fs_super_and_bgd_loc2(fs_, group, &super, &old_descriptors, &new_descriptors, &used) != 0) return;
  if (group == 0 || super != 0) {
    const std::uint64_t at = group == 0 ? 1024 : super * block_bytes();
    const std::uint64_t begin = round_down(at, block_bytes());
    if (group == 0) claim(0, at, FsPart::kSuperblockSlack, false);
    claim(at, 1024, FsPart::kSuperblock, true);
    claim(at + 1024, begin + block_bytes() > at + 1024 ? begin + block_bytes() - at - 1024 : 0,
          FsPart::kSuperblockSlack, false);
  }
  if (old_descriptors != 0) {
    const std::uint64_t count = ext2fs_has_feature_meta_bg(fs_->super)
                                    ? std::min<std::uint64_t>(fs_->super->s_first_meta_bg, fs_->desc_blocks)
                                    : fs_->desc_blocks;
    claim_descriptors(old_descriptors, count, 0);
  }
  if (new_descriptors != 0) {
    const std::uint64_t per_block = EXT2_DESC_PER_BLOCK(fs_->super);
    claim_descriptors(new_descriptors, 1, group / per_block * block_bytes());
  }
}

void Walk::claim_superblocks() {
  for (dgrp_t group = 0; group < fs_->group_desc_count && !stopped(); ++group) claim_group_head(group);
  if (ext2fs_has_feature_mmp(fs_->super) && fs_->super->s_mmp_block != 0) {
    const std::uint64_t at = fs_->super->s_mmp_block * block_bytes();
    claim(at, 1024, FsPart::kOther, true);
    claim(at + 1024, block_bytes() - 1024, FsPart::kOther, false);
  }
}

// The file system reads only the first bytes of a bitmap's block. mke2fs and the kernel fill the rest with
// ones, which is then as good as zero; anything else there is not the file system's.
void Walk::claim_bitmap(std::uint64_t number, std::uint64_t used_bytes, FsPart part, bool initialised) {
  if (number == 0) return;
  const std::uint64_t at = number * block_bytes();
  if (!in_range(number, 1)) return damage("a bitmap outside the volume");
  used_bytes = std::min(used_bytes, block_bytes());
  if (!initialised) return claim(at, block_bytes(), part, false);
  const ByteVector bytes = block(number);
  if (bytes.empty()) return;
  const ByteSpan rest = ByteSpan(bytes).subspan(used_bytes);
  claim(at, used_bytes, part, true);
  claim(at + used_bytes, rest.size(), part, all_ones(rest) || is_zero(rest));
}

void Walk::claim_bitmaps() {
  const bool flags = ext2fs_has_group_desc_csum(fs_) != 0;
  const auto initialised = [&](dgrp_t group, __u16 flag) {
    return !flags || ext2fs_bg_flags_test(fs_, group, flag) == 0;
  };
  for (dgrp_t group = 0; group < fs_->group_desc_count && !stopped(); ++group) {
    claim_bitmap(ext2fs_block_bitmap_loc(fs_, group), fs_->super->s_clusters_per_group / 8,
                 FsPart::kBlockBitmap, initialised(group, EXT2_BG_BLOCK_UNINIT));
    claim_bitmap(ext2fs_inode_bitmap_loc(fs_, group), fs_->super->s_inodes_per_group / 8,
                 FsPart::kInodeBitmap, initialised(group, EXT2_BG_INODE_UNINIT));
  }
}

// Two owners of one byte: the one that begins first keeps it, nobody's claim to it stays live, and the file
// system is damaged (shared blocks are a feature of read-only images that is refused here too).
void Walk::sort_claims() {
  std::ranges::sort(claims_, {},
                    [](const Claim& claim) { return std::pair(claim.offset_bytes, claim.end_bytes()); });
  std::vector<Claim> out;
  out.reserve(claims_.size());
  for (Claim claim : claims_) {
    if (!out.empty() && claim.offset_bytes < out.back().end_bytes()) {
      damage("blocks with two owners");
      out.back().live = false;
      if (claim.end_bytes() <= out.back().end_bytes()) continue;
      claim.length_bytes = claim.end_bytes() - out.back().end_bytes();
      claim.offset_bytes = out.back().end_bytes();
      claim.live = false;
    }
    out.push_back(claim);
  }
  claims_ = std::move(out);
}

// A live byte in a block that the bitmap calls free: one of the two is wrong.
void Walk::check_bitmap() {
  const std::uint64_t first = fs_->super->s_first_data_block;
  for (const Claim& claim : claims_) {
    if (!claim.live) continue;
    const std::uint64_t begin = std::max(first, claim.offset_bytes / block_bytes());
    const std::uint64_t end = (claim.end_bytes() + block_bytes() - 1) / block_bytes();
    if (begin >= end) continue;
    blk64_t found = 0;
    if (ext2fs_find_first_zero_block_bitmap2(fs_->block_map, begin, end - 1, &found) == 0)
      return damage("blocks in use that the bitmap calls free");
  }
}

// Allocated, but nothing refers to it: rest of a cluster, lost blocks.
void Walk::claim_leftovers() {
  const std::uint64_t first = fs_->super->s_first_data_block;
  const std::uint64_t total = ext2fs_blocks_count(fs_->super);
  const std::vector<Claim> known = std::move(claims_);
  claims_.clear();
  std::uint64_t at = first * block_bytes();
  const auto fill = [&](std::uint64_t until) {  // the allocated blocks inside [at, until)
    std::uint64_t next = std::max(first, at / block_bytes());
    while (next * block_bytes() < until && !stopped()) {
      blk64_t set = 0;
      const std::uint64_t last = (until - 1) / block_bytes();
      if (ext2fs_find_first_set_block_bitmap2(fs_->block_map, next, last, &set) != 0) return;
      blk64_t clear = 0;
      if (ext2fs_find_first_zero_block_bitmap2(fs_->block_map, set, last, &clear) != 0) clear = last + 1;
      const std::uint64_t begin = std::max<std::uint64_t>(at, set * block_bytes());
      const std::uint64_t end = std::min<std::uint64_t>(until, clear * block_bytes());
      if (begin < end) claim(begin, end - begin, FsPart::kOther, false);
      next = clear;
    }
  };
  for (const Claim& entry : known) {
    if (entry.offset_bytes > at) fill(entry.offset_bytes);
    claim(entry.offset_bytes, entry.length_bytes, entry.part, entry.live, entry.inode);
    at = std::max(at, entry.end_bytes());
  }
  if (at < total * block_bytes()) fill(total * block_bytes());
}

VolumeAnswer Walk::finish(const std::string& note) {
  sort_claims();
  check_bitmap();
  claim_leftovers();
  VolumeAnswer answer;
  const ext2_super_block& super = *fs_->super;
  answer.block_bytes = fs_->blocksize;
  answer.size_bytes = ext2fs_blocks_count(fs_->super) * block_bytes();
  answer.has_checksums = ext2fs_has_feature_metadata_csum(fs_->super) != 0;
  answer.checksum_seed = answer.has_checksums ? fs_->csum_seed : 0;
  answer.file_count = file_count_;
  std::ranges::copy(std::as_bytes(std::span(super.s_uuid)), answer.uuid.begin());
  if (answer.size_bytes > request_.volume_bytes) damage("larger than its partition");
  if ((super.s_state & EXT2_ERROR_FS) != 0) damage("marked as having errors");
  answer.parsed = damage_.empty() && limit_.empty();
  if (!limit_.empty())
    answer.status = "not parsed: " + limit_;
  else if (!damage_.empty())
    answer.status = "damaged: " + damage_ + (note.empty() ? "" : "; " + note);
  else if (!note.empty())
    answer.status = note;
  else
    answer.status = ext2fs_has_feature_journal_needs_recovery(fs_->super) ? "needs recovery" : "consistent";
  answer.claims = std::move(claims_);
  answer.inodes = std::move(inodes_);
  return answer;
}

Result<ByteVector> serve_walk(ByteSpan request_bytes, IsolateChannel& channel) {
  const WalkRequest request = VACANT_TRY(decode_request(request_bytes));
  use_channel(channel, request.volume_bytes);
  Opened opened = VACANT_TRY(open_fs(request));
  if (!request.paths_of.empty()) return encode(VACANT_TRY(find_paths(opened.fs.get(), request)));
  if (ext2fs_read_bitmaps(opened.fs.get()) != 0)
    return fail(Code::kCorrupt, "damaged: bitmaps" + (opened.note.empty() ? "" : "; " + opened.note));
  Walk walk(opened.fs.get(), request);
  walk.claim_superblocks();
  walk.claim_bitmaps();
  walk.claim_inodes();
  return encode(walk.finish(opened.note));
}

}  // namespace vacant::scan::fs
