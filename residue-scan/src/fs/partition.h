// Partition tables: GPT (UEFI specification 2.10, chapter 5) and MBR with logical partitions. Bounded; trusts
// nothing. Private to scan.
#pragma once

#include <string>
#include <vector>

#include "vacant/base/device.h"

namespace vacant::scan {

struct Partition {
  Extent extent;
  std::string label;  // "gpt 1", "mbr 2", "mbr logical 5", "whole device"
};

struct PartitionTable {
  std::vector<Partition>
      partitions;  // sorted; those that leave the device or overlap an earlier one are left out
  std::vector<std::string> problems;
};

inline constexpr std::size_t kMaxPartitions = 256;

// The whole device as one part if it has no table. Read errors become problems.
PartitionTable read_partitions(BlockDevice& device);

}  // namespace vacant::scan
