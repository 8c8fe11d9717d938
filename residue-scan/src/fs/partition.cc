#include "fs/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fs/probe.h"

namespace vacant::scan::fs {

namespace {

constexpr std::uint64_t kMaxEntries = 1024;
constexpr std::uint64_t kMaxEntryBytes = 4096;
constexpr int kMaxLogical = 128;

std::optional<ByteVector> read_at(BlockDevice& device, std::uint64_t offset, std::uint64_t length) {
  if (offset > device.size_bytes() || length > device.size_bytes() - offset) return std::nullopt;
  ByteVector bytes(static_cast<std::size_t>(length));
  if (!device.read(offset, bytes)) return std::nullopt;
  return bytes;
}

// The partition [first, last] in sectors, if it lies inside the device.
std::optional<Extent> sectors(std::uint64_t first, std::uint64_t count, std::uint64_t sector_bytes,
                              std::uint64_t size_bytes) {
  const std::uint64_t total = size_bytes / sector_bytes;
  if (count == 0 || first >= total || count > total - first) return std::nullopt;
  return Extent{first * sector_bytes, count * sector_bytes};
}

bool header_holds(ByteSpan header, std::uint64_t lba, std::uint64_t sector_bytes) {
  if (as_text(header.first(8)) != "EFI PART") return false;
  const auto size = load_le<std::uint32_t>(header, 12);
  if (size < 92 || size > sector_bytes || load_le<std::uint64_t>(header, 24) != lba) return false;
  ByteVector copy(header.begin(), header.begin() + size);
  store_le<std::uint32_t>(copy, 16, 0);
  return crc32_ieee(copy) == load_le<std::uint32_t>(header, 16);
}

void add_entries(ByteSpan entries, std::uint64_t count, std::uint64_t entry_bytes, std::uint64_t sector_bytes,
                 std::uint64_t size_bytes, PartitionTable& table) {
  for (std::uint64_t index = 0; index < count; ++index) {
    const ByteSpan entry = entries.subspan(static_cast<std::size_t>(index * entry_bytes), 128);
    if (is_zero(entry.first(16))) continue;
    const auto first = load_le<std::uint64_t>(entry, 32);
    const auto last = load_le<std::uint64_t>(entry, 40);
    const auto extent =
        last < first ? std::nullopt : sectors(first, last - first + 1, sector_bytes, size_bytes);
    if (extent)
      table.partitions.push_back({*extent, fmt::format("gpt {}", index + 1)});
    else
      table.problems.push_back(fmt::format("gpt {}: lies outside the device; ignored", index + 1));
  }
}

// True if a valid table begins at this sector; fills `table`.
bool read_gpt(BlockDevice& device, std::uint64_t lba, std::uint64_t sector_bytes, PartitionTable& table) {
  const auto header = read_at(device, lba * sector_bytes, sector_bytes);
  if (!header || !header_holds(*header, lba, sector_bytes)) return false;
  const auto entries_lba = load_le<std::uint64_t>(*header, 72);
  const std::uint64_t count = load_le<std::uint32_t>(*header, 80);
  const std::uint64_t entry_bytes = load_le<std::uint32_t>(*header, 84);
  if (count > kMaxEntries || entry_bytes < 128 || entry_bytes > kMaxEntryBytes) return false;
  if (entries_lba >= device.size_bytes() / sector_bytes) return false;
  const auto entries = read_at(device, entries_lba * sector_bytes, count * entry_bytes);
  if (!entries || crc32_ieee(*entries) != load_le<std::uint32_t>(*header, 88)) return false;
  add_entries(*entries, count, entry_bytes, sector_bytes, device.size_bytes(), table);
  return true;
}

bool has_boot_signature(ByteSpan sector) { return load_le<std::uint16_t>(sector, 510) == 0xAA55; }

bool is_extended(std::uint8_t type) { return type == 0x05 || type == 0x0F || type == 0x85; }

struct MbrEntry {
  std::uint8_t status = 0;
  std::uint8_t type = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

MbrEntry mbr_entry(ByteSpan sector, std::size_t index) {
  const std::size_t at = 446 + 16 * index;
  return {load_le<std::uint8_t>(sector, at), load_le<std::uint8_t>(sector, at + 4),
          load_le<std::uint32_t>(sector, at + 8), load_le<std::uint32_t>(sector, at + 12)};
}

bool has_protective_entry(ByteSpan sector) {
  if (!has_boot_signature(sector)) return false;
  for (std::size_t index = 0; index < 4; ++index)
    if (mbr_entry(sector, index).type == 0xEE) return true;
  return false;
}

// The boot sector of a file system carries the same signature: ask for well-formed entries.
bool looks_like_mbr(ByteSpan sector) {
  if (!has_boot_signature(sector)) return false;
  bool any = false;
  for (std::size_t index = 0; index < 4; ++index) {
    const MbrEntry entry = mbr_entry(sector, index);
    if ((entry.status & 0x7FU) != 0) return false;
    if (entry.type == 0) continue;
    if (entry.first == 0 || entry.count == 0) return false;
    any = true;
  }
  return any;
}

// Logical partitions: a chain of EBR sectors, whose first entry is relative to the EBR itself and whose
// second names the next one relative to the extended partition. Bounded against loops.
void add_logical(BlockDevice& device, std::uint64_t base, std::uint64_t unit, PartitionTable& table) {
  std::uint64_t at = base;
  for (int index = 0; index < kMaxLogical; ++index) {
    const auto sector = read_at(device, at * unit, 512);
    if (!sector || !has_boot_signature(*sector)) {
      table.problems.emplace_back("mbr: the chain of logical partitions is broken");
      return;
    }
    const MbrEntry own = mbr_entry(*sector, 0);
    if (own.type != 0) {
      if (const auto extent = sectors(at + own.first, own.count, unit, device.size_bytes()))
        table.partitions.push_back({*extent, fmt::format("mbr {}", index + 5)});
      else
        table.problems.push_back(fmt::format("mbr {}: lies outside the device; ignored", index + 5));
    }
    const MbrEntry next = mbr_entry(*sector, 1);
    if (!is_extended(next.type) || next.count == 0) return;
    if (base + next.first <= at) {
      table.problems.emplace_back("mbr: the chain of logical partitions loops");
      return;
    }
    at = base + next.first;
  }
  table.problems.push_back(
      fmt::format("mbr: more than {} logical partitions; the rest ignored", kMaxLogical));
}

void read_mbr(BlockDevice& device, ByteSpan sector, PartitionTable& table) {
  const std::uint64_t unit = device.info().sector_bytes == 4096 ? 4096 : 512;
  for (std::size_t index = 0; index < 4; ++index) {
    const MbrEntry entry = mbr_entry(sector, index);
    if (entry.type == 0 || entry.type == 0xEE) continue;
    if (is_extended(entry.type)) {
      add_logical(device, entry.first, unit, table);
      continue;
    }
    if (const auto extent = sectors(entry.first, entry.count, unit, device.size_bytes()))
      table.partitions.push_back({*extent, fmt::format("mbr {}", index + 1)});
    else
      table.problems.push_back(fmt::format("mbr {}: lies outside the device; ignored", index + 1));
  }
}

bool read_primary_gpt(BlockDevice& device, PartitionTable& table) {
  return read_gpt(device, 1, 512, table) || read_gpt(device, 1, 4096, table);
}

bool read_backup_gpt(BlockDevice& device, PartitionTable& table) {
  for (const std::uint64_t unit : {std::uint64_t{512}, std::uint64_t{4096}}) {
    const std::uint64_t total = device.size_bytes() / unit;
    if (total < 2 || !read_gpt(device, total - 1, unit, table)) continue;
    table.problems.emplace_back("gpt: the primary table is damaged; the backup table was used");
    return true;
  }
  return false;
}

void drop_overlaps(PartitionTable& table) {
  std::ranges::sort(table.partitions, {}, [](const Partition& part) { return part.extent; });
  std::vector<Partition> kept;
  for (Partition& part : table.partitions) {
    if (kept.empty() || !kept.back().extent.overlaps(part.extent))
      kept.push_back(std::move(part));
    else
      table.problems.push_back(fmt::format("{}: overlaps {}; ignored", part.label, kept.back().label));
  }
  table.partitions = std::move(kept);
}

}  // namespace

PartitionTable find_partitions(BlockDevice& device) {
  PartitionTable table;
  const Extent whole{0, device.size_bytes()};
  const auto first = read_at(device, 0, 512);
  const bool gpt = read_primary_gpt(device, table) ||
                   (first && has_protective_entry(*first) && read_backup_gpt(device, table));
  if (!gpt && !probe_volume(device, whole).known()) {
    if (first && looks_like_mbr(*first)) read_mbr(device, *first, table);
    if (table.partitions.empty()) read_backup_gpt(device, table);
  }
  drop_overlaps(table);
  if (table.partitions.empty() && !whole.empty()) table.partitions.push_back({whole, "whole device"});
  return table;
}

}  // namespace vacant::scan::fs
