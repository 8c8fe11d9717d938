// What a partition holds, told from its magic numbers. Bounded: a handful of small reads.
#pragma once

#include <optional>
#include <string>

#include "vacant/base/device.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan::fs {

struct Probe {
  std::string type = "unknown";
  Uuid uuid{};
  std::optional<Uuid> metadata_uuid;  // XFS, btrfs: what the blocks carry, if it is another
  std::uint64_t backup_block = 0;     // ext: the primary superblock is gone; one was found here
  std::uint32_t backup_block_bytes = 0;
  bool unreadable = false;  // a read failed on the way
  [[nodiscard]] bool known() const { return type != "unknown"; }
  [[nodiscard]] bool is_ext() const { return type.starts_with("ext"); }
};

Probe probe_volume(BlockDevice& device, const Extent& extent);

}  // namespace vacant::scan::fs
