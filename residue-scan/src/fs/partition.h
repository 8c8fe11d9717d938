// Partition tables: GPT (primary, else backup, both with their checksums) and MBR with logical partitions.
// Every count is bounded: 1024 GPT entries, 128 logical partitions. Sources: UEFI specification chapter 5;
// the common MBR and EBR layout. Pure but for reads of the device.
#pragma once

#include <string>
#include <vector>

#include "vacant/base/device.h"

namespace vacant::scan::fs {

struct Partition {
  Extent extent;
  std::string label;  // "gpt 1", "mbr 5", "whole device"
};

struct PartitionTable {
  std::vector<Partition> partitions;  // sorted by offset, inside the device, no overlaps
  std::vector<std::string> problems;
};

// Answers one "whole device" entry where there is no table. Never fails: what cannot be read is a problem.
PartitionTable find_partitions(BlockDevice& device);

}  // namespace vacant::scan::fs
