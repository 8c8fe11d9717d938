// What the isolated child answers, and the parent's reading of it. The parent takes nothing on trust: extents
// must be sorted, disjoint, not empty and inside the volume, counts inside the limits, texts printable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vacant/base/bytes.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan::fs {

// An FsExtent relative to its volume, without the volume's index.
struct Claim {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::uint32_t inode = 0;
  FsPart part = FsPart::kOther;
  bool live = false;
  [[nodiscard]] std::uint64_t end_bytes() const { return offset_bytes + length_bytes; }
};

struct InodeId {
  std::uint32_t inode = 0;
  std::uint32_t generation = 0;
};

struct VolumeAnswer {
  bool parsed = false;
  bool has_checksums = false;
  std::uint32_t block_bytes = 0;
  std::uint32_t checksum_seed = 0;
  std::uint64_t file_count = 0;
  std::uint64_t size_bytes = 0;  // of the file system
  Uuid uuid{};
  std::string status;
  std::vector<Claim> claims;
  std::vector<InodeId> inodes;
};

struct WireBounds {
  std::uint64_t volume_bytes = 0;
  std::size_t max_extents = 0;
  std::size_t max_inodes = 0;
};

ByteVector encode(const VolumeAnswer& answer);
Result<VolumeAnswer> decode_volume(ByteSpan bytes, const WireBounds& bounds);

using Paths = std::map<std::uint32_t, std::string>;
ByteVector encode(const Paths& paths);
// Only inodes of `wanted` (sorted) are taken. Texts are escaped and cut to 4096 bytes.
Result<Paths> decode_paths(ByteSpan bytes, std::span<const std::uint32_t> wanted);

// Printable ASCII and valid UTF-8 stay; other bytes and backslashes become \xNN. At most `limit` bytes.
std::string printable(std::string_view text, std::size_t limit);

}  // namespace vacant::scan::fs
