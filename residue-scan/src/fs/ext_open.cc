#include <fmt/format.h>

extern "C" {  // the header does not say so itself
#include <et/com_err.h>
}

#include <algorithm>

#include "fs/ext_child.h"
#include "fs/ext_io.h"

namespace vacant::scan {

namespace {

constexpr int kFlags = EXT2_FLAG_64BITS | EXT2_FLAG_SOFTSUPP_FEATURES | EXT2_FLAG_IGNORE_CSUM_ERRORS;

// Where mke2fs puts the first backup, by block size: one block group in, and with 1 KiB blocks one block
// further.
constexpr std::pair<unsigned, blk64_t> kBackups[] = {{1024, 8193},  {2048, 16384},  {4096, 32768},
                                                     {8192, 65528}, {16384, 65528}, {32768, 65528},
                                                     {65536, 65528}};

errcode_t try_open(io_manager manager, int superblock, unsigned block_bytes, ExtFs& out) {
  ext2_filsys fs = nullptr;
  const errcode_t problem = ext2fs_open2("volume", nullptr, kFlags, superblock, block_bytes, manager, &fs);
  if (problem == 0)
    out.reset(fs);
  else if (fs != nullptr)
    ext2fs_free(fs);
  return problem;
}

// A superblock may be whole and yet lie about the file system's size.
bool fits(ext2_filsys fs, std::uint64_t volume_bytes) {
  std::uint64_t bytes = 0;
  return !__builtin_mul_overflow(ext2fs_blocks_count(fs->super), std::uint64_t{fs->blocksize}, &bytes) &&
         bytes <= volume_bytes;
}

bool has_external_journal(const ext2_super_block& super) {
  return ext2fs_has_feature_journal(const_cast<ext2_super_block*>(&super)) != 0 && super.s_journal_inum == 0;
}

void describe(ext2_filsys fs, ExtAnswer& answer) {
  const ext2_super_block& super = *fs->super;
  std::ranges::copy(std::as_bytes(std::span(super.s_uuid)), answer.uuid.begin());
  answer.block_bytes = fs->blocksize;
  answer.has_checksums = ext2fs_has_feature_metadata_csum(fs->super) != 0;
  answer.checksum_seed = fs->csum_seed;
  answer.file_count = super.s_inodes_count - super.s_free_inodes_count;
}

Result<void> build_view(ext2_filsys fs, const ExtRequest& request, ExtAnswer& answer) {
  ExtentSink sink(answer, request);
  VACANT_TRY(map_metadata(fs, sink));
  VACANT_TRY(map_inodes(fs, sink, answer));
  if (sink.full()) return fail(Code::kLimit, "more extents or inodes than the limit");
  return {};
}

Result<void> parse_volume(io_manager manager, const ExtRequest& request, ExtAnswer& answer) {
  std::string note;
  const ExtFs fs = VACANT_TRY(open_ext(manager, request, note));
  describe(fs.get(), answer);
  if (!fits(fs.get(), request.volume_bytes))
    return fail(Code::kCorrupt, "the file system claims to be larger than its volume");
  if (ext2fs_has_feature_journal_dev(fs->super) != 0)
    return fail(Code::kUnsupported, "this is an external journal, not a file system");
  if (has_external_journal(*fs->super))
    return fail(Code::kUnsupported, "its journal is on another device, which is not at hand");
  if (request.paths) return resolve(fs.get(), request, answer);
  VACANT_TRY(build_view(fs.get(), request, answer));
  answer.parsed = true;
  answer.status = ext2fs_has_feature_journal_needs_recovery(fs->super) != 0 ? "needs recovery"
                  : (fs->super->s_state & EXT2_ERROR_FS) != 0               ? "has recorded errors"
                                                                            : "consistent";
  if (!note.empty()) answer.status += "; " + note;
  return {};
}

}  // namespace

void ExtentSink::add(std::uint64_t offset, std::uint64_t length, FsPart part, bool live,
                     std::uint32_t inode) {
  if (length == 0 || full_) return;
  if (offset > request_.volume_bytes || length > request_.volume_bytes - offset)
    return;  // a damaged pointer explains nothing
  if (!answer_.extents.empty()) {
    FsExtent& last = answer_.extents.back();
    if (last.extent.end_bytes() == offset && last.part == part && last.live == live && last.inode == inode) {
      last.extent.length_bytes += length;
      return;
    }
  }
  if (answer_.extents.size() >= request_.max_extents) {
    full_ = true;
    return;
  }
  answer_.extents.push_back({{offset, length}, 0, part, inode, live});
}

void ExtentSink::add_inode(std::uint32_t inode, std::uint32_t generation) {
  if (answer_.inodes.size() >= request_.max_inodes)
    full_ = true;
  else
    answer_.inodes.push_back({0, inode, generation});
}

Result<ExtFs> open_ext(io_manager manager, const ExtRequest& request, std::string& note) {
  ExtFs fs;
  const errcode_t problem = try_open(manager, 0, 0, fs);
  if (problem == 0) return fs;
  for (const auto& [block_bytes, block] : kBackups) {
    if (block * block_bytes >= request.volume_bytes) continue;
    if (try_open(manager, static_cast<int>(block), block_bytes, fs) != 0) continue;
    note = fmt::format("the primary superblock is damaged: the backup at block {} was used", block);
    return fs;
  }
  return fail(Code::kCorrupt, fmt::format("no usable superblock: {}", error_message(problem)));
}

Result<ByteVector> ext_child(ByteSpan bytes, IsolateChannel& channel) {
  const ExtRequest request = VACANT_TRY(decode_request(bytes));
  ExtAnswer answer;
  const auto done = parse_volume(channel_io_manager(channel, request.volume_bytes), request, answer);
  if (!done) {
    // What was found before the damage still names our own inodes; it makes nothing live.
    answer.parsed = false;
    answer.extents.clear();
    answer.status =
        (done.error().code == Code::kUnsupported || done.error().code == Code::kLimit ? "not parsed: "
                                                                                      : "damaged: ") +
        done.error().message;
  }
  return encode(answer);
}

}  // namespace vacant::scan
