#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs/ext_child.h"
#include "fs/ext_io.h"
#include "fs/partition.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan {

namespace {

constexpr std::array<std::string_view, 20> kPartNames = {"file",
                                                         "file-tail-slack",
                                                         "directory",
                                                         "directory-slack",
                                                         "extent-tree",
                                                         "xattr",
                                                         "symlink",
                                                         "inode-table",
                                                         "unused-inode",
                                                         "block-bitmap",
                                                         "inode-bitmap",
                                                         "group-descriptors",
                                                         "reserved-gdt",
                                                         "superblock",
                                                         "superblock-slack",
                                                         "journal",
                                                         "journal-slack",
                                                         "other",
                                                         "free",
                                                         "outside"};

// The first bytes of a volume, enough for every magic that is looked for.
constexpr std::uint64_t kHeadBytes = 68 * kKiB;
constexpr std::uint64_t kExtSuperblock = 1024;

bool has_text(ByteSpan head, std::size_t at, std::string_view text) {
  return head.size() >= at + text.size() && as_text(head.subspan(at, text.size())) == text;
}

bool is_ext_superblock(ByteSpan bytes, std::size_t at) {
  return bytes.size() >= at + 1024 && load_le<std::uint16_t>(bytes, at + 56) == 0xEF53;
}

// A first backup superblock where mke2fs puts it: then a wiped start still counts as ext.
bool has_ext_backup(BlockDevice& device, const Extent& volume) {
  constexpr std::array<std::uint64_t, 5> kOffsets = {8193 * 1024ULL, 16384 * 2048ULL, 32768 * 4096ULL,
                                                     65528 * 16384ULL, 65528 * 65536ULL};
  for (const std::uint64_t offset : kOffsets) {
    if (offset + 1024 > volume.length_bytes) continue;
    ByteVector block(1024);
    if (device.read(volume.offset_bytes + offset, block) && is_ext_superblock(block, 0)) return true;
  }
  return false;
}

void copy_uuid(ByteSpan head, std::size_t at, Volume& volume) {
  if (head.size() >= at + 16) std::ranges::copy(head.subspan(at, 16), volume.uuid.begin());
}

void recognise(BlockDevice& device, Volume& volume) {
  ByteVector head(static_cast<std::size_t>(std::min(kHeadBytes, volume.extent.length_bytes)));
  volume.type = "unknown";
  volume.status = "no file system that is known here";
  const auto read = device.read(volume.extent.offset_bytes, head);
  if (!read) volume.status = "not parsed: its start cannot be read";
  if (is_ext_superblock(head, kExtSuperblock) || has_ext_backup(device, volume.extent)) {
    volume.type = "ext4";
    return;
  }
  if (!read) return;
  if (has_text(head, 0, "XFSB")) {
    volume.type = "xfs";
    copy_uuid(head, 32, volume);
  } else if (has_text(head, 65536 + 64, "_BHRfS_M")) {
    volume.type = "btrfs";
    copy_uuid(head, 65536 + 32, volume);
  } else if (has_text(head, 0, "LUKS\xba\xbe")) {
    volume.type = "luks";
  } else if (has_text(head, 4086, "SWAPSPACE2")) {
    volume.type = "swap";
  }
  if (volume.type != "unknown") volume.status = "not parsed: only its identity is used";
}

// One isolated child a volume. Reads go up to the parent, inside the volume only.
Result<ExtAnswer> ask_child(BlockDevice& device, const Extent& volume, const ExtRequest& request,
                            const FsLimits& limits, const CancelToken* cancel) {
  IsolateLimits isolate_limits;
  isolate_limits.wall = limits.wall;
  isolate_limits.cpu_seconds = static_cast<std::uint64_t>(limits.wall.count() / 1000 + 1);
  isolate_limits.memory_bytes = limits.memory_bytes;
  isolate_limits.response_bytes = 256 * kMiB;
  Isolate child = VACANT_TRY(Isolate::start(ext_child, isolate_limits));
  const auto read = [&](ByteSpan question) -> Result<ByteVector> {
    const Extent range = VACANT_TRY(decode_read(question));
    if (range.length_bytes > kMaxUpcallBytes || range.end_bytes() > volume.length_bytes)
      return fail(Code::kCorrupt, "a read outside the volume");
    ByteVector out(static_cast<std::size_t>(range.length_bytes));
    VACANT_TRY(device.read(volume.offset_bytes + range.offset_bytes, out));
    return out;
  };
  const ByteVector answer = VACANT_TRY(child.call(encode(request), read, cancel));
  return decode_answer(answer, request);
}

// Two owners of one byte are a damaged file system: only the first keeps it, and nothing of the overlap is
// live.
void resolve_overlaps(std::vector<FsExtent>& extents, std::vector<std::string>& problems) {
  std::ranges::sort(extents, [](const FsExtent& a, const FsExtent& b) {
    return std::pair(a.extent, a.part) < std::pair(b.extent, b.part);
  });
  std::vector<FsExtent> out;
  out.reserve(extents.size());
  std::size_t overlaps = 0;
  for (FsExtent part : extents) {
    if (!out.empty() && out.back().extent.end_bytes() > part.extent.offset_bytes) {
      ++overlaps;
      const std::uint64_t end = out.back().extent.end_bytes();
      if (part.extent.end_bytes() <= end) continue;
      part.extent = {end, part.extent.end_bytes() - end};
    }
    out.push_back(part);
  }
  extents = std::move(out);
  if (overlaps > 0)
    problems.push_back(fmt::format("{} pieces of file systems claim bytes that another one owns", overlaps));
}

void take_answer(const ExtAnswer& answer, int index, FsView& view) {
  Volume& volume = view.volumes[static_cast<std::size_t>(index)];
  volume.status = answer.status;
  volume.parsed = answer.parsed;
  volume.uuid = answer.uuid;
  volume.block_bytes = answer.block_bytes;
  volume.checksum_seed = answer.checksum_seed;
  volume.has_checksums = answer.has_checksums;
  volume.file_count = answer.file_count;
  for (FsExtent part : answer.extents) {
    part.extent.offset_bytes += volume.extent.offset_bytes;
    part.volume = index;
    view.extents.push_back(part);
  }
  for (OwnInode inode : answer.inodes) {
    inode.volume = index;
    view.own_inodes.push_back(inode);
  }
}

void parse_volume(BlockDevice& device, int index, const FsLimits& limits, const CancelToken& cancel,
                  FsView& view) {
  Volume& volume = view.volumes[static_cast<std::size_t>(index)];
  ExtRequest request;
  request.volume_bytes = volume.extent.length_bytes;
  request.max_extents = limits.max_extents - std::min(limits.max_extents, view.extents.size());
  request.max_inodes = limits.max_inodes - std::min(limits.max_inodes, view.own_inodes.size());
  const auto answer = ask_child(device, volume.extent, request, limits, &cancel);
  if (answer) return take_answer(*answer, index, view);
  volume.status = fmt::format("not parsed: {}", answer.error().message);
}

}  // namespace

std::string_view name(FsPart part) { return kPartNames[static_cast<std::size_t>(part)]; }

std::optional<FsPart> fs_part_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kPartNames.size(); ++i)
    if (kPartNames[i] == text) return static_cast<FsPart>(i);
  return std::nullopt;
}

Place FsView::place_of(std::uint64_t offset_bytes) const {
  const auto after = std::ranges::upper_bound(extents, offset_bytes, {},
                                              [](const FsExtent& part) { return part.extent.offset_bytes; });
  if (after != extents.begin() && std::prev(after)->extent.contains(offset_bytes)) {
    const FsExtent& part = *std::prev(after);
    return {part.volume, part.part, part.inode, ""};
  }
  for (std::size_t i = 0; i < volumes.size(); ++i)
    if (volumes[i].extent.contains(offset_bytes))
      return {static_cast<int>(i), volumes[i].parsed ? FsPart::kFree : FsPart::kOutside, 0, ""};
  return {};
}

bool FsView::is_live(const Extent& extent) const {
  auto part = std::ranges::upper_bound(extents, extent.offset_bytes, {},
                                       [](const FsExtent& entry) { return entry.extent.offset_bytes; });
  if (part == extents.begin()) return false;
  --part;
  std::uint64_t at = extent.offset_bytes;
  for (; part != extents.end() && part->extent.contains(at); ++part) {
    if (!part->live) return false;
    at = part->extent.end_bytes();
    if (at >= extent.end_bytes()) return true;
  }
  return false;
}

Result<FsView> build_fs_view(BlockDevice& device, const FsLimits& limits, const CancelToken& cancel) {
  FsView view;
  PartitionTable table = read_partitions(device);
  view.problems = std::move(table.problems);
  for (const Partition& partition : table.partitions) {
    Volume volume;
    volume.extent = partition.extent;
    volume.partition = partition.label;
    recognise(device, volume);
    view.volumes.push_back(std::move(volume));
  }
  for (std::size_t i = 0; i < view.volumes.size(); ++i) {
    if (cancel.cancelled()) return fail(Code::kCancelled, "stopped while reading the file systems");
    if (view.volumes[i].type == "ext4") parse_volume(device, static_cast<int>(i), limits, cancel, view);
    if (view.volumes[i].status.starts_with("damaged") ||
        (view.volumes[i].type == "ext4" && !view.volumes[i].parsed))
      view.problems.push_back(fmt::format("{}: {}", view.volumes[i].partition, view.volumes[i].status));
  }
  resolve_overlaps(view.extents, view.problems);
  return view;
}

Result<std::map<std::uint32_t, std::string>> resolve_paths(BlockDevice& device, const Volume& volume,
                                                           std::span<const std::uint32_t> inodes,
                                                           const FsLimits& limits) {
  if (volume.type != "ext4" || inodes.empty()) return std::map<std::uint32_t, std::string>();
  ExtRequest request;
  request.paths = true;
  request.volume_bytes = volume.extent.length_bytes;
  request.max_inodes = limits.max_inodes;
  request.inodes.assign(inodes.begin(), inodes.end());
  ExtAnswer answer = VACANT_TRY(ask_child(device, volume.extent, request, limits, nullptr));
  return std::move(answer.paths);
}

}  // namespace vacant::scan
