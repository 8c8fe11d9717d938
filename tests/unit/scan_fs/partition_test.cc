#include "fs/partition.h"

#include <gtest/gtest.h>

#include "fs/probe.h"
#include "vacant/props/devices.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan::fs {

namespace {

constexpr std::uint64_t kDiskBytes = 16 * kMiB;
constexpr std::uint64_t kSectors = kDiskBytes / 512;

void put_mbr_entry(MutableByteSpan disk, std::uint64_t sector, std::size_t index, std::uint8_t type,
                   std::uint32_t first, std::uint32_t count) {
  const std::size_t at = sector * 512 + 446 + 16 * index;
  store_le<std::uint8_t>(disk, at + 4, type);
  store_le<std::uint32_t>(disk, at + 8, first);
  store_le<std::uint32_t>(disk, at + 12, count);
  store_le<std::uint16_t>(disk, sector * 512 + 510, 0xAA55);
}

void put_gpt_header(MutableByteSpan disk, std::uint64_t lba, std::uint64_t entries_lba) {
  const std::size_t at = lba * 512;
  std::ranges::copy(as_bytes("EFI PART"), disk.begin() + at);
  store_le<std::uint32_t>(disk, at + 12, 92);
  store_le<std::uint64_t>(disk, at + 24, lba);
  store_le<std::uint64_t>(disk, at + 72, entries_lba);
  store_le<std::uint32_t>(disk, at + 80, 128);
  store_le<std::uint32_t>(disk, at + 84, 128);
  store_le<std::uint32_t>(disk, at + 88, crc32_ieee(ByteSpan(disk).subspan(entries_lba * 512, 128 * 128)));
  store_le<std::uint32_t>(disk, at + 16, 0);
  store_le<std::uint32_t>(disk, at + 16, crc32_ieee(ByteSpan(disk).subspan(at, 92)));
}

ByteVector gpt_disk(std::uint64_t first, std::uint64_t last) {
  ByteVector disk(kDiskBytes);
  put_mbr_entry(disk, 0, 0, 0xEE, 1, kSectors - 1);
  for (const std::uint64_t entries : {std::uint64_t{2}, kSectors - 33}) {
    store_le<std::uint64_t>(disk, entries * 512, 0x1122334455667788);
    store_le<std::uint64_t>(disk, entries * 512 + 32, first);
    store_le<std::uint64_t>(disk, entries * 512 + 40, last);
  }
  put_gpt_header(disk, 1, 2);
  put_gpt_header(disk, kSectors - 1, kSectors - 33);
  return disk;
}

TEST(Partitions, WholeDeviceWithoutATable) {
  props::MemDevice device{ByteVector(kDiskBytes)};
  const PartitionTable table = find_partitions(device);
  ASSERT_EQ(table.partitions.size(), 1U);
  EXPECT_EQ(table.partitions[0].label, "whole device");
  EXPECT_EQ(table.partitions[0].extent, (Extent{0, kDiskBytes}));
  EXPECT_TRUE(table.problems.empty());
}

TEST(Partitions, GptPrimaryThenBackup) {
  ByteVector disk = gpt_disk(2048, 4095);
  {
    props::MemDevice device{disk};
    const PartitionTable table = find_partitions(device);
    ASSERT_EQ(table.partitions.size(), 1U);
    EXPECT_EQ(table.partitions[0].label, "gpt 1");
    EXPECT_EQ(table.partitions[0].extent, (Extent{2048 * 512, 2048 * 512}));
    EXPECT_TRUE(table.problems.empty());
  }
  disk[512 + 60] ^= std::byte{1};  // the primary's checksum no longer holds
  {
    props::MemDevice device{disk};
    const PartitionTable table = find_partitions(device);
    ASSERT_EQ(table.partitions.size(), 1U);
    EXPECT_EQ(table.partitions[0].label, "gpt 1");
    EXPECT_EQ(table.problems.size(), 1U);
  }
  disk[(kSectors - 1) * 512 + 60] ^= std::byte{1};
  props::MemDevice device{disk};
  EXPECT_EQ(find_partitions(device).partitions.at(0).label, "whole device");
}

TEST(Partitions, GptEntryOutsideTheDevice) {
  for (const std::uint64_t last : {kSectors + 5, std::uint64_t{10}, UINT64_MAX}) {
    props::MemDevice device{gpt_disk(2048, last)};
    const PartitionTable table = find_partitions(device);
    EXPECT_EQ(table.partitions.at(0).label, "whole device");
    EXPECT_FALSE(table.problems.empty());
  }
}

TEST(Partitions, MbrWithLogicalOnes) {
  ByteVector disk(kDiskBytes);
  put_mbr_entry(disk, 0, 0, 0x83, 2048, 2048);
  put_mbr_entry(disk, 0, 1, 0x05, 8192, 16384);
  put_mbr_entry(disk, 8192, 0, 0x83, 64, 1000);
  put_mbr_entry(disk, 8192, 1, 0x05, 4096, 4096);
  put_mbr_entry(disk, 8192 + 4096, 0, 0x82, 64, 1000);
  props::MemDevice device{disk};
  const PartitionTable table = find_partitions(device);
  ASSERT_EQ(table.partitions.size(), 3U);
  EXPECT_EQ(table.partitions[0].label, "mbr 1");
  EXPECT_EQ(table.partitions[1].label, "mbr 5");
  EXPECT_EQ(table.partitions[1].extent.offset_bytes, (8192 + 64) * 512U);
  EXPECT_EQ(table.partitions[2].label, "mbr 6");
  EXPECT_TRUE(table.problems.empty());
}

TEST(Partitions, LoopOfLogicalOnesEnds) {
  ByteVector disk(kDiskBytes);
  put_mbr_entry(disk, 0, 1, 0x0F, 8192, 16384);
  put_mbr_entry(disk, 8192, 0, 0x83, 64, 1000);
  put_mbr_entry(disk, 8192, 1, 0x05, 0, 4096);  // names itself
  props::MemDevice device{disk};
  const PartitionTable table = find_partitions(device);
  EXPECT_EQ(table.partitions.size(), 1U);
  EXPECT_FALSE(table.problems.empty());
}

TEST(Partitions, OverlapIsAProblem) {
  ByteVector disk(kDiskBytes);
  put_mbr_entry(disk, 0, 0, 0x83, 2048, 4096);
  put_mbr_entry(disk, 0, 1, 0x83, 4096, 4096);
  props::MemDevice device{disk};
  const PartitionTable table = find_partitions(device);
  EXPECT_EQ(table.partitions.size(), 1U);
  EXPECT_EQ(table.problems.size(), 1U);
}

TEST(Probe, KnowsMagicNumbers) {
  const auto probe = [](std::size_t at, std::string_view magic) {
    ByteVector disk(kMiB);
    if (!magic.empty()) std::ranges::copy(as_bytes(magic), disk.begin() + static_cast<std::ptrdiff_t>(at));
    props::MemDevice device{disk};
    return probe_volume(device, {0, kMiB}).type;
  };
  EXPECT_EQ(probe(0, "XFSB"), "xfs");
  EXPECT_EQ(probe(65536 + 64, "_BHRfS_M"), "btrfs");
  EXPECT_EQ(probe(0, "LUKS\xBA\xBE"), "luks");
  EXPECT_EQ(probe(4086, "SWAPSPACE2"), "swap");
  EXPECT_EQ(probe(1024 + 56, "\x53\xEF"), "ext2");
  EXPECT_EQ(probe(0, ""), "unknown");
}

TEST(FsViewLookups, PlaceAndLive) {
  FsView view;
  Volume volume;
  volume.extent = {1000, 9000};
  volume.parsed = true;
  view.volumes.push_back(volume);
  view.extents.push_back({Extent{2000, 100}, 0, FsPart::kFile, 12, true});
  view.extents.push_back({Extent{2100, 100}, 0, FsPart::kFileTailSlack, 12, false});
  EXPECT_EQ(view.place_of(2050).inode, 12U);
  EXPECT_EQ(view.place_of(1500).part, FsPart::kFree);
  EXPECT_EQ(view.place_of(1500).volume, 0);
  EXPECT_EQ(view.place_of(500).volume, -1);
  EXPECT_EQ(view.place_of(500).part, FsPart::kOutside);
  EXPECT_TRUE(view.is_live({2000, 100}));
  EXPECT_FALSE(view.is_live({2000, 101}));
  EXPECT_FALSE(view.is_live({1999, 5}));
}

}  // namespace
}  // namespace vacant::scan::fs
