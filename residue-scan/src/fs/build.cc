#include <fmt/format.h>

#include <algorithm>

#include "fs/ext_io.h"
#include "fs/ext_walk.h"
#include "fs/partition.h"
#include "fs/probe.h"
#include "vacant/base/isolate.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan {

namespace {

using fs::Probe;
using fs::WalkRequest;

IsolateLimits isolate_limits(const FsLimits& limits) {
  IsolateLimits out;
  out.wall = limits.wall;
  out.cpu_seconds = static_cast<std::uint64_t>(limits.wall.count()) / 1000 + 5;
  out.memory_bytes = limits.memory_bytes;
  out.response_bytes = 64 * kKiB + 22ULL * limits.max_extents + 8ULL * limits.max_inodes;
  return out;
}

// Answers the child's reads; refuses whatever lies outside its volume.
Isolate::Upcall reader_of(BlockDevice& device, Extent volume) {
  return [&device, volume](ByteSpan request) -> Result<ByteVector> {
    Reader reader(request);
    const auto offset = VACANT_TRY(reader.le<std::uint64_t>());
    const auto length = VACANT_TRY(reader.le<std::uint32_t>());
    if (length > fs::kMaxReadBytes || offset > volume.length_bytes || length > volume.length_bytes - offset)
      return fail(Code::kCorrupt, "a read outside the volume");
    ByteVector bytes(length);
    VACANT_TRY(device.read(volume.offset_bytes + offset, bytes));
    return bytes;
  };
}

Result<ByteVector> ask(BlockDevice& device, const Extent& volume, const WalkRequest& request,
                       const FsLimits& limits, const CancelToken* cancel) {
  Isolate child = VACANT_TRY(Isolate::start(fs::serve_walk, isolate_limits(limits)));
  return child.call(fs::encode(request), reader_of(device, volume), cancel);
}

WalkRequest request_for(const Extent& extent, const Probe& probe, const FsLimits& limits) {
  WalkRequest request;
  request.volume_bytes = extent.length_bytes;
  request.backup_block = probe.backup_block;
  request.backup_block_bytes = probe.backup_block_bytes;
  request.max_extents = limits.max_extents;
  request.max_inodes = limits.max_inodes;
  return request;
}

std::string refusal(const Error& error) {
  const bool worded = error.message.starts_with("damaged: ") || error.message.starts_with("not parsed: ");
  return fs::printable(worded ? error.message : "not parsed: " + error.message, 300);
}

void take_answer(fs::VolumeAnswer answer, int index, FsView& view) {
  Volume& volume = view.volumes[static_cast<std::size_t>(index)];
  volume.parsed = answer.parsed;
  volume.status = std::move(answer.status);
  volume.uuid = answer.uuid;
  volume.block_bytes = answer.block_bytes;
  volume.checksum_seed = answer.checksum_seed;
  volume.has_checksums = answer.has_checksums;
  volume.file_count = answer.file_count;
  for (const fs::Claim& claim : answer.claims)
    view.extents.push_back({Extent{volume.extent.offset_bytes + claim.offset_bytes, claim.length_bytes},
                            index, claim.part, claim.inode, claim.live && answer.parsed});
  for (const fs::InodeId& id : answer.inodes) view.own_inodes.push_back({index, id.inode, id.generation});
  // What lies behind the file system's end belongs to nobody.
  const std::uint64_t end = answer.size_bytes;
  if (answer.parsed && end < volume.extent.length_bytes) volume.extent.length_bytes = end;
}

// An internal journal carries the UUID that the file system was made with, and seeds its checksums with it.
void add_journal_uuid(BlockDevice& device, int index, FsView& view) {
  constexpr std::size_t kMostReads = 256, kUuidAt = 48;
  Volume& volume = view.volumes[static_cast<std::size_t>(index)];
  std::size_t reads = 0;
  ByteVector head(1024);
  for (const FsExtent& part : view.extents) {
    if (part.volume != index || part.part != FsPart::kJournal || part.extent.length_bytes < head.size())
      continue;
    if (++reads > kMostReads || !device.read(part.extent.offset_bytes, head)) return;
    const auto type = load_be<std::uint32_t>(head, 4);
    if (load_be<std::uint32_t>(head, 0) != 0xC03B3998U || (type != 3 && type != 4)) continue;
    Uuid uuid{};
    std::ranges::copy(ByteSpan(head).subspan(kUuidAt, uuid.size()), uuid.begin());
    if (!is_zero(uuid) && uuid != volume.uuid) volume.other_uuids.push_back(uuid);
    return;
  }
}

// Limits are for the whole device: what earlier volumes used is gone.
FsLimits remaining(const FsLimits& limits, const FsView& view) {
  FsLimits left = limits;
  left.max_extents -= std::min(left.max_extents, view.extents.size());
  left.max_inodes -= std::min(left.max_inodes, view.own_inodes.size());
  return left;
}

Result<void> parse_ext(BlockDevice& device, const Probe& probe, const FsLimits& all_limits,
                       const CancelToken& cancel, FsView& view) {
  const int index = static_cast<int>(view.volumes.size()) - 1;
  Volume& volume = view.volumes.back();
  const FsLimits limits = remaining(all_limits, view);
  const auto bytes = ask(device, volume.extent, request_for(volume.extent, probe, limits), limits, &cancel);
  if (!bytes && (bytes.error().code == Code::kCancelled || cancel.cancelled())) return fail(bytes.error());
  auto answer =
      bytes ? fs::decode_volume(*bytes, {volume.extent.length_bytes, limits.max_extents, limits.max_inodes})
            : Result<fs::VolumeAnswer>(std::unexpected(bytes.error()));
  if (answer) {
    take_answer(std::move(*answer), index, view);
    add_journal_uuid(device, index, view);
  } else {
    volume.status = refusal(answer.error());
  }
  if (!volume.parsed || volume.status.starts_with("damaged"))
    view.problems.push_back(fmt::format("{}: {}: {}", volume.partition, volume.type, volume.status));
  return {};
}

Result<void> add_volume(BlockDevice& device, const fs::Partition& partition, const FsLimits& limits,
                        const CancelToken& cancel, FsView& view) {
  const Probe probe = fs::probe_volume(device, partition.extent);
  Volume volume;
  volume.extent = partition.extent;
  volume.partition = partition.label;
  volume.type = probe.type;
  volume.uuid = probe.uuid;
  if (probe.metadata_uuid) volume.other_uuids.push_back(*probe.metadata_uuid);
  volume.status = probe.unreadable ? "not parsed: it cannot be read in full"
                  : probe.known()  ? "not parsed: only ext2, ext3 and ext4 are"
                                   : "not parsed: no file system recognised";
  if (probe.type == "jbd2") volume.status = "not parsed: an external journal";
  view.volumes.push_back(std::move(volume));
  if (probe.unreadable)
    view.problems.push_back(fmt::format("{}: {}", partition.label, view.volumes.back().status));
  if (!probe.is_ext()) return {};
  return parse_ext(device, probe, limits, cancel, view);
}

}  // namespace

Result<FsView> build_fs_view(BlockDevice& device, const FsLimits& limits, const CancelToken& cancel) {
  FsView view;
  fs::PartitionTable table = fs::find_partitions(device);
  view.problems = std::move(table.problems);
  for (const fs::Partition& partition : table.partitions) {
    if (cancel.cancelled()) return fail(Code::kCancelled, "stopped");
    VACANT_TRY(add_volume(device, partition, limits, cancel, view));
  }
  return view;
}

Result<std::map<std::uint32_t, std::string>> resolve_paths(BlockDevice& device, const Volume& volume,
                                                           std::span<const std::uint32_t> inodes,
                                                           const FsLimits& limits) {
  if (inodes.empty() || !volume.type.starts_with("ext")) return fs::Paths{};
  WalkRequest request = request_for(volume.extent, fs::probe_volume(device, volume.extent), limits);
  request.paths_of.assign(inodes.begin(), inodes.end());
  std::ranges::sort(request.paths_of);
  const auto repeated = std::ranges::unique(request.paths_of);
  request.paths_of.erase(repeated.begin(), repeated.end());
  const ByteVector bytes = VACANT_TRY(ask(device, volume.extent, request, limits, nullptr));
  return fs::decode_paths(bytes, request.paths_of);
}

}  // namespace vacant::scan
