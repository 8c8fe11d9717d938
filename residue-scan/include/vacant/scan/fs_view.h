// FsView: what the file systems on the device say about who owns which bytes. Built by an isolated child that
// drives libext2fs (isolate.h); everything it answers is checked against bounds before use. Immutable once
// built; safe to read from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "vacant/base/cancel.h"
#include "vacant/base/device.h"
#include "vacant/scan/finding.h"

namespace vacant::scan {

using Uuid = std::array<std::byte, 16>;

// A file system, swap area or other recognised content of a partition, or of the whole device.
struct Volume {
  Extent extent;          // on the device
  std::string partition;  // "gpt 1", "mbr 2", "whole device"
  std::string type;       // "ext4", "xfs", "btrfs", "luks", "swap", "unknown"
  std::string status;     // "consistent", "needs recovery", "damaged: ...", "not parsed: ..."
  bool parsed = false;    // the view is complete: only then may anything count as fs-live
  Uuid uuid{};            // zero if none
  // What its metadata says instead where the UUID was changed since it was made: the metadata UUID of XFS and
  // btrfs, the UUID in an ext journal.
  std::vector<Uuid> other_uuids;
  std::uint32_t block_bytes = 0;
  std::uint32_t checksum_seed = 0;  // ext4 metadata_csum: crc32c(~0, uuid) or s_checksum_seed
  bool has_checksums = false;
  std::uint64_t file_count = 0;  // inodes in use
};

// A range of the device with one owner. Sorted by offset, no overlaps within a view.
struct FsExtent {
  Extent extent;  // bytes; may begin or end inside a sector (file tails)
  int volume = 0;
  FsPart part = FsPart::kFree;
  std::uint32_t inode = 0;
  // Whether a consistent file system refers to these bytes as they are, as against slack, unwritten extents,
  // uninitialised tables and free space. Only live bytes may count as fs-live.
  bool live = false;
  friend bool operator==(const FsExtent&, const FsExtent&) = default;
};

// An inode that owns checksummed metadata: lets a block be attributed to us by its checksum.
struct OwnInode {
  int volume = 0;
  std::uint32_t inode = 0;
  std::uint32_t generation = 0;
};

struct FsLimits {
  std::chrono::milliseconds wall{120'000};
  std::uint64_t memory_bytes = 1024ULL << 20;
  std::size_t max_extents = 3'000'000;  // 24-32 bytes each
  std::size_t max_inodes = 4'000'000;
};

struct FsView {
  std::vector<Volume> volumes;
  std::vector<FsExtent> extents;
  std::vector<OwnInode>
      own_inodes;  // every inode in use, and deleted ones whose generation is still readable
  std::vector<std::string> problems;  // for the report: what could not be parsed and why

  // The owner of a byte; part kFree inside a parsed volume, kOutside elsewhere. O(log n).
  [[nodiscard]] Place place_of(std::uint64_t offset_bytes) const;
  // Whether every byte of the range is live. O(log n + extents in range).
  [[nodiscard]] bool is_live(const Extent& extent) const;
};

// Finds partitions (GPT, MBR with logical ones) and file systems, and builds the view. Never fails for
// hostile content: damage is told in Volume::status and problems. Fails only if the device cannot be read at
// all or the child cannot be started.
Result<FsView> build_fs_view(BlockDevice& device, const FsLimits& limits, const CancelToken& cancel);

// Paths of the given inodes of one volume (isolated child again). Inodes without a name are left out.
Result<std::map<std::uint32_t, std::string>> resolve_paths(BlockDevice& device, const Volume& volume,
                                                           std::span<const std::uint32_t> inodes,
                                                           const FsLimits& limits);

}  // namespace vacant::scan
