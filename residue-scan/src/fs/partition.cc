#include "fs/partition.h"

#include <fmt/format.h>

#include <algorithm>

namespace vacant::scan {

namespace {

constexpr std::size_t kMbrBytes = 512;
constexpr std::size_t kMbrTable = 446, kMbrEntryBytes = 16;
constexpr std::uint8_t kTypeProtective = 0xEE, kTypeExtended = 0x05, kTypeExtendedLba = 0x0F,
                       kTypeExtendedLinux = 0x85;
constexpr std::size_t kGptHeaderBytes = 92;
constexpr std::uint32_t kMaxGptEntryBytes = 4096;
constexpr std::size_t kMaxLogical = 128;

struct MbrEntry {
  std::uint8_t type = 0;
  std::uint64_t first_lba = 0;
  std::uint64_t lba_count = 0;
};

bool is_extended(std::uint8_t type) {
  return type == kTypeExtended || type == kTypeExtendedLba || type == kTypeExtendedLinux;
}

MbrEntry mbr_entry(ByteSpan sector, std::size_t index) {
  const std::size_t at = kMbrTable + index * kMbrEntryBytes;
  return {load_le<std::uint8_t>(sector, at + 4), load_le<std::uint32_t>(sector, at + 8),
          load_le<std::uint32_t>(sector, at + 12)};
}

bool has_mbr_mark(ByteSpan sector) {
  return sector[510] == std::byte{0x55} && sector[511] == std::byte{0xAA};
}

class TableReader {
 public:
  explicit TableReader(BlockDevice& device) : device_(device), lba_bytes_(device.info().sector_bytes) {}

  PartitionTable read() {
    const auto sector = read_at(0, kMbrBytes);
    if (!sector || !has_mbr_mark(*sector)) {
      // A wiped first sector may still have a GPT behind it, or its backup at the end.
      if (!read_gpt()) whole_device();
    } else if (is_boot_sector_of_a_file_system(*sector)) {
      whole_device();
    } else if (!read_gpt()) {
      read_mbr(*sector);
    }
    finish();
    return std::move(table_);
  }

 private:
  Result<ByteVector> read_at(std::uint64_t offset, std::size_t size) {
    ByteVector out(size);
    if (offset > device_.size_bytes() || size > device_.size_bytes() - offset)
      return fail(Code::kCorrupt, "past the end");
    VACANT_TRY(device_.read(offset, out));
    return out;
  }

  // FAT and NTFS boot sectors carry the MBR's mark, but no table: their entries do not look like entries.
  static bool is_boot_sector_of_a_file_system(ByteSpan sector) {
    bool any = false;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto boot_flag = load_le<std::uint8_t>(sector, kMbrTable + i * kMbrEntryBytes);
      if (boot_flag != 0 && boot_flag != 0x80) return true;
      any |= mbr_entry(sector, i).type != 0;
    }
    return !any;
  }

  void add(std::uint64_t first_lba, std::uint64_t lba_count, std::string label) {
    std::uint64_t offset = 0, length = 0;
    const bool wraps = __builtin_mul_overflow(first_lba, lba_bytes_, &offset) ||
                       __builtin_mul_overflow(lba_count, lba_bytes_, &length);
    if (wraps || length == 0 || offset >= device_.size_bytes()) {
      table_.problems.push_back(fmt::format("partition {} lies outside the device", label));
      return;
    }
    if (length > device_.size_bytes() - offset) {
      table_.problems.push_back(fmt::format("partition {} runs past the end of the device", label));
      length = device_.size_bytes() - offset;
    }
    if (table_.partitions.size() < kMaxPartitions)
      table_.partitions.push_back({{offset, length}, std::move(label)});
  }

  bool read_gpt() {
    if (read_gpt_at(1)) return true;
    if (device_.size_bytes() < 2 * lba_bytes_ || !read_gpt_at(device_.size_bytes() / lba_bytes_ - 1))
      return false;
    table_.problems.emplace_back("the primary GPT is damaged: the backup at the end of the device was used");
    return true;
  }

  bool read_gpt_at(std::uint64_t lba) {
    const auto header = read_at(lba * lba_bytes_, static_cast<std::size_t>(lba_bytes_));
    if (!header || as_text(*header).substr(0, 8) != "EFI PART") return false;
    const auto header_bytes = load_le<std::uint32_t>(*header, 12);
    if (header_bytes < kGptHeaderBytes || header_bytes > header->size() ||
        load_le<std::uint64_t>(*header, 24) != lba)
      return false;
    ByteVector copy(header->begin(), header->begin() + header_bytes);
    store_le<std::uint32_t>(copy, 16, 0);
    if (crc32_ieee(copy) != load_le<std::uint32_t>(*header, 16)) return false;
    const auto entries_lba = load_le<std::uint64_t>(*header, 72);
    const auto count = load_le<std::uint32_t>(*header, 80);
    const auto entry_bytes = load_le<std::uint32_t>(*header, 84);
    if (count > 1024 || entry_bytes < 128 || entry_bytes > kMaxGptEntryBytes ||
        entries_lba > device_.size_bytes() / lba_bytes_)
      return false;
    const auto entries = read_at(entries_lba * lba_bytes_, std::size_t{count} * entry_bytes);
    if (!entries || crc32_ieee(*entries) != load_le<std::uint32_t>(*header, 88)) return false;
    for (std::uint32_t i = 0; i < count; ++i)
      add_gpt_entry(ByteSpan(*entries).subspan(std::size_t{i} * entry_bytes, 128), i + 1);
    return true;
  }

  void add_gpt_entry(ByteSpan entry, std::uint32_t number) {
    if (is_zero(entry.first(16))) return;  // no partition type: unused
    const auto first = load_le<std::uint64_t>(entry, 32);
    const auto last = load_le<std::uint64_t>(entry, 40);
    if (last < first || last == UINT64_MAX) {
      table_.problems.push_back(fmt::format("partition gpt {} has no sensible bounds", number));
      return;
    }
    add(first, last - first + 1, fmt::format("gpt {}", number));
  }

  void read_mbr(ByteSpan sector) {
    for (std::size_t i = 0; i < 4; ++i) {
      const MbrEntry entry = mbr_entry(sector, i);
      if (entry.type == 0 || entry.lba_count == 0) continue;
      if (is_extended(entry.type))
        read_logical(entry.first_lba);
      else
        add(entry.first_lba, entry.lba_count,
            fmt::format("mbr {}{}", i + 1, entry.type == kTypeProtective ? " (protective)" : ""));
    }
    if (table_.partitions.empty()) whole_device();
  }

  // A chain of tables: each has one partition and the place of the next. A loop ends at the limit.
  void read_logical(std::uint64_t base_lba) {
    std::uint64_t lba = base_lba;
    for (std::size_t i = 0; i < kMaxLogical; ++i) {
      const auto sector = read_at(lba * lba_bytes_, kMbrBytes);
      if (!sector || !has_mbr_mark(*sector)) {
        table_.problems.emplace_back("the chain of logical partitions is damaged");
        return;
      }
      const MbrEntry part = mbr_entry(*sector, 0);
      const MbrEntry next = mbr_entry(*sector, 1);
      if (part.type != 0 && part.lba_count > 0)
        add(lba + part.first_lba, part.lba_count, fmt::format("mbr logical {}", i + 5));
      if (!is_extended(next.type) || next.first_lba == 0) return;
      lba = base_lba + next.first_lba;
    }
    table_.problems.emplace_back("too many logical partitions: the rest was not looked for");
  }

  void whole_device() { table_.partitions.push_back({{0, device_.size_bytes()}, "whole device"}); }

  void finish() {
    auto& list = table_.partitions;
    std::ranges::sort(list, {}, &Partition::extent);
    std::vector<Partition> kept;
    for (Partition& part : list) {
      if (!kept.empty() && kept.back().extent.overlaps(part.extent))
        table_.problems.push_back(
            fmt::format("partition {} overlaps {}: left out", part.label, kept.back().label));
      else
        kept.push_back(std::move(part));
    }
    list = std::move(kept);
  }

  BlockDevice& device_;
  std::uint64_t lba_bytes_;
  PartitionTable table_;
};

}  // namespace

PartitionTable read_partitions(BlockDevice& device) { return TableReader(device).read(); }

}  // namespace vacant::scan
