// Partition tables and volume probes over hostile bytes: every partition must lie inside the device, in
// order.
#include <cstdint>
#include <cstdlib>

#include "fs/partition.h"
#include "fs/probe.h"
#include "vacant/props/devices.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1U << 20U) return 0;
  vacant::ByteVector bytes(size);
  for (std::size_t index = 0; index < size; ++index) bytes[index] = std::byte{data[index]};
  vacant::props::MemDevice device(std::move(bytes));
  const auto table = vacant::scan::fs::find_partitions(device);
  std::uint64_t end = 0;
  for (const auto& partition : table.partitions) {
    if (partition.extent.offset_bytes < end || partition.extent.end_bytes() > size) std::abort();
    end = partition.extent.end_bytes();
    static_cast<void>(vacant::scan::fs::probe_volume(device, partition.extent));
  }
  return 0;
}
