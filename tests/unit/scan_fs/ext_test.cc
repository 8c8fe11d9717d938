#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "run.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan {

namespace {

using vacant::testing::make_sparse;
using vacant::testing::run;
using vacant::testing::RunOptions;
using vacant::testing::TempDir;
using vacant::testing::write_text;

constexpr std::uint64_t kImageBytes = 96 * kMiB;

FsView view_of(const std::string& path) {
  auto device = open_device(path, {});
  EXPECT_TRUE(device.has_value());
  const CancelToken cancel;
  auto view = build_fs_view(**device, {}, cancel);
  EXPECT_TRUE(view.has_value()) << (view ? "" : view.error().message);
  return view ? std::move(*view) : FsView{};
}

void write_at(const std::string& path, std::uint64_t offset, std::string_view text) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  EXPECT_TRUE(file.good());
}

void fill_tree(const TempDir& temp) {
  const auto root = temp.path() / "tree";
  std::filesystem::create_directories(root / "sub/deeper");
  write_text((root / "small").string(), std::string(700, 'a'));
  write_text((root / "large").string(), std::string(3'000'001, 'b'));
  write_text((root / "tiny").string(), "inline me");
  for (int index = 0; index < 600; ++index)
    write_text((root / "sub" / ("entry-with-a-rather-long-name-" + std::to_string(index))).string(), "x");
  std::filesystem::create_symlink(std::string(200, 't'), root / "slow-link");
  std::filesystem::create_symlink("short", root / "fast-link");
}

// Makes an image with the tree in it. `options` go to mke2fs.
std::string make_image(const TempDir& temp, const std::vector<std::string>& options,
                       std::uint64_t size = kImageBytes) {
  const std::string path = temp.file("image");
  make_sparse(path, size);
  if (!std::filesystem::exists(temp.path() / "tree")) fill_tree(temp);
  std::vector<std::string> words = {"mke2fs", "-q", "-F", "-d", temp.file("tree")};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(path);
  const auto made = run(words);
  EXPECT_TRUE(made.ok()) << made.describe();
  return path;
}

struct Variant {
  const char* label;
  std::vector<std::string> options;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.label; }

struct Ranges {
  std::uint64_t block_bytes = 0;
  std::uint64_t block_count = 0;
  std::vector<bool> free_blocks;
};

// What dumpe2fs says is free.
Ranges free_blocks(const std::string& path) {
  Ranges ranges;
  const auto dump = run({"dumpe2fs", path});
  EXPECT_TRUE(dump.ok()) << dump.describe();
  std::istringstream lines(dump.out);
  std::uint64_t cluster_bytes = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Block count:")) ranges.block_count = std::stoull(line.substr(12));
    if (line.starts_with("Block size:")) ranges.block_bytes = std::stoull(line.substr(11));
    if (line.starts_with("Cluster size:")) cluster_bytes = std::stoull(line.substr(13));
    const auto at = line.find("  Free blocks: ");
    if (at != 0) continue;
    ranges.free_blocks.resize(ranges.block_count);
    std::istringstream items(line.substr(15));
    for (std::string item; std::getline(items, item, ',');) {
      if (item.find_first_of("0123456789") == std::string::npos) continue;
      const auto dash = item.find('-');
      const auto first = std::stoull(item);
      auto last = dash == std::string::npos ? first : std::stoull(item.substr(dash + 1));
      // With bigalloc the end of a range is the first block of its last cluster.
      if (cluster_bytes != 0) last += cluster_bytes / ranges.block_bytes - 1;
      for (auto block = first; block <= last && block < ranges.block_count; ++block)
        ranges.free_blocks[block] = true;
    }
  }
  return ranges;
}

void expect_sorted(const FsView& view) {
  std::uint64_t end = 0;
  for (const FsExtent& entry : view.extents) {
    ASSERT_GE(entry.extent.offset_bytes, end);
    ASSERT_GT(entry.extent.length_bytes, 0U);
    end = entry.extent.end_bytes();
  }
}

// Every allocated block has an owner, every free one has none.
void expect_coverage(const std::string& path, const FsView& view) {
  const Ranges ranges = free_blocks(path);
  ASSERT_GT(ranges.block_count, 0U);
  ASSERT_EQ(ranges.free_blocks.size(), ranges.block_count);
  std::uint64_t wrong = 0;
  std::uint64_t free_count = 0;
  for (std::uint64_t block = 0; block < ranges.block_count; ++block) {
    const bool is_free = ranges.free_blocks[block];
    free_count += is_free ? 1 : 0;
    for (const std::uint64_t offset : {std::uint64_t{0}, ranges.block_bytes - 1}) {
      const Place place = view.place_of(block * ranges.block_bytes + offset);
      if ((place.part == FsPart::kFree) != is_free && wrong++ < 5)
        ADD_FAILURE() << "block " << block << " is " << (is_free ? "free" : "in use") << " but "
                      << name(place.part);
      if (is_free && view.is_live({block * ranges.block_bytes + offset, 1})) ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(free_count, 0U);
}

class MadeFileSystem : public ::testing::TestWithParam<Variant> {};

TEST_P(MadeFileSystem, EveryBlockHasItsOwner) {
  const TempDir temp;
  const std::string path = make_image(temp, GetParam().options);
  const FsView view = view_of(path);
  ASSERT_EQ(view.volumes.size(), 1U);
  EXPECT_TRUE(view.volumes[0].parsed) << view.volumes[0].status;
  EXPECT_EQ(view.volumes[0].status, "consistent");
  EXPECT_EQ(view.volumes[0].partition, "whole device");
  EXPECT_TRUE(view.problems.empty());
  EXPECT_GT(view.volumes[0].file_count, 600U);
  EXPECT_GE(view.own_inodes.size(), view.volumes[0].file_count);
  expect_sorted(view);
  expect_coverage(path, view);
}

INSTANTIATE_TEST_SUITE_P(
    Features, MadeFileSystem,
    ::testing::Values(
        Variant{"ext2", {"-t", "ext2"}}, Variant{"ext2_1k", {"-t", "ext2", "-b", "1024"}},
        Variant{"ext3", {"-t", "ext3"}}, Variant{"ext4", {"-t", "ext4"}},
        Variant{"ext4_1k", {"-t", "ext4", "-b", "1024"}}, Variant{"ext4_2k", {"-t", "ext4", "-b", "2048"}},
        Variant{"ext4_64k", {"-t", "ext4", "-b", "65536"}},
        Variant{"no_journal", {"-t", "ext4", "-O", "^has_journal"}},
        Variant{"no_64bit", {"-t", "ext4", "-O", "^64bit"}},
        Variant{"no_csum", {"-t", "ext4", "-O", "^metadata_csum"}},
        Variant{"uninit_bg", {"-t", "ext4", "-O", "^metadata_csum,uninit_bg"}},
        Variant{"meta_bg", {"-t", "ext4", "-b", "1024", "-O", "meta_bg,^resize_inode"}},
        Variant{"bigalloc", {"-t", "ext4", "-O", "bigalloc", "-C", "65536"}},
        Variant{"inline_data", {"-t", "ext4", "-O", "inline_data"}},
        Variant{"no_flex_bg", {"-t", "ext4", "-b", "1024", "-O", "^flex_bg"}},
        Variant{"quota", {"-t", "ext4", "-O", "quota"}}, Variant{"mmp", {"-t", "ext4", "-O", "mmp"}},
        Variant{"sparse_super2", {"-t", "ext4", "-b", "1024", "-O", "sparse_super2,^resize_inode"}},
        Variant{"small_inodes", {"-t", "ext4", "-I", "128"}},
        Variant{"csum_seed", {"-t", "ext4", "-O", "metadata_csum_seed"}}),
    [](const auto& test) { return std::string(test.param.label); });

TEST(ExtView, ResolvesPathsAndPlaces) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext4"});
  const FsView view = view_of(path);
  std::map<std::uint32_t, std::uint64_t> sizes;
  for (const FsExtent& entry : view.extents)
    if (entry.part == FsPart::kFile && entry.live) sizes[entry.inode] += entry.extent.length_bytes;
  const auto largest = std::ranges::max_element(sizes, {}, [](const auto& item) { return item.second; });
  ASSERT_NE(largest, sizes.end());
  const std::uint32_t large = largest->first;
  EXPECT_EQ(largest->second, 3'000'001U);  // exactly to the end of the file
  auto device = open_device(path, {});
  ASSERT_TRUE(device.has_value());
  const std::vector<std::uint32_t> wanted = {large, 2, 999'999};
  const auto paths = resolve_paths(**device, view.volumes[0], wanted, {});
  ASSERT_TRUE(paths.has_value()) << paths.error().message;
  EXPECT_EQ(paths->at(large), "/large");
  EXPECT_EQ(paths->at(2), "/");
  EXPECT_FALSE(paths->contains(999'999));
  const auto count = [&](FsPart part) {
    return std::ranges::count_if(view.extents, [&](const FsExtent& entry) { return entry.part == part; });
  };
  for (const FsPart part :
       {FsPart::kDirectory, FsPart::kSymlink, FsPart::kInodeTable, FsPart::kUnusedInode, FsPart::kBlockBitmap,
        FsPart::kInodeBitmap, FsPart::kGroupDescriptors, FsPart::kReservedGdt, FsPart::kSuperblock,
        FsPart::kSuperblockSlack, FsPart::kJournal, FsPart::kJournalSlack, FsPart::kFileTailSlack})
    EXPECT_GT(count(part), 0) << name(part);
}

TEST(ExtView, UnwrittenExtentsAreNotLive) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext4"});
  ASSERT_TRUE(run({"debugfs", "-w", "-R", "fallocate /small 100 400", path}).ok());
  const FsView view = view_of(path);
  ASSERT_TRUE(view.volumes[0].parsed) << view.volumes[0].status;
  std::uint64_t unwritten = 0;
  for (const FsExtent& entry : view.extents)
    if (entry.part == FsPart::kFileTailSlack && entry.extent.length_bytes >= 1024) {
      unwritten += entry.extent.length_bytes;
      EXPECT_FALSE(entry.live);
    }
  EXPECT_GE(unwritten, 300U * 1024);
  expect_coverage(path, view);
}

// Bytes planted in the slack of a structure get its name and are not live; used bytes beside them are.
TEST(ExtView, NamesPlantedBytes) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext4", "-b", "4096", "-O", "^metadata_csum"});
  const FsView before = view_of(path);
  ASSERT_TRUE(before.volumes[0].parsed) << before.volumes[0].status;
  const auto blocks = run({"debugfs", "-R", "blocks /sub/deeper", path});
  ASSERT_TRUE(blocks.ok());
  const std::uint64_t leaf = std::stoull(blocks.out) * 4096;
  EXPECT_TRUE(before.is_live({leaf, 4096}));  // negative control: nothing hides in the gap yet
  write_at(path, leaf + 2000, "planted");
  write_at(path, 3000, "planted");  // behind the superblock
  const FsView after = view_of(path);
  EXPECT_TRUE(after.volumes[0].parsed) << after.volumes[0].status;
  EXPECT_EQ(after.place_of(leaf).part, FsPart::kDirectory);
  EXPECT_TRUE(after.is_live({leaf, 24}));
  EXPECT_EQ(after.place_of(leaf + 2000).part, FsPart::kDirectorySlack);
  EXPECT_GT(after.place_of(leaf + 2000).inode, 2U);
  EXPECT_FALSE(after.is_live({leaf + 2000, 7}));
  EXPECT_EQ(after.place_of(3000).part, FsPart::kSuperblockSlack);
  EXPECT_EQ(after.place_of(0).part, FsPart::kSuperblockSlack);
  EXPECT_EQ(after.place_of(1024).part, FsPart::kSuperblock);
  EXPECT_FALSE(after.is_live({3000, 7}));
  EXPECT_TRUE(after.is_live({1024, 1024}));
}

class JournalView : public ::testing::TestWithParam<Variant> {};

// Transactions of our own journal are told from what lay in its blocks before.
TEST_P(JournalView, TellsTransactionsFromOldBytes) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext4"});
  const auto journal_bytes = [](const FsView& view) {
    std::uint64_t bytes = 0;
    for (const FsExtent& entry : view.extents)
      if (entry.part == FsPart::kJournal && entry.live) bytes += entry.extent.length_bytes;
    return bytes;
  };
  const std::uint64_t empty = journal_bytes(view_of(path));
  EXPECT_EQ(empty, 1024U);
  write_text(temp.file("payload"), std::string(5 * 1024, 'p'));
  RunOptions options;
  options.input = std::string(GetParam().options[0]) + "\njournal_write -b 90000-90004 " +
                  temp.file("payload") + "\njournal_write -r 90003\njournal_close\n";
  const auto written = run({"debugfs", "-w", "-f", "-", path}, options);
  ASSERT_TRUE(written.ok()) << written.describe();
  const FsView view = view_of(path);
  EXPECT_EQ(view.volumes[0].status, "needs recovery");
  // Superblock; descriptor, five blocks, commit; revoke, commit.
  EXPECT_EQ(journal_bytes(view), empty + 9 * 1024U) << written.out << written.err;
}

INSTANTIATE_TEST_SUITE_P(Checksums, JournalView,
                         ::testing::Values(Variant{"none", {"journal_open"}},
                                           Variant{"v2", {"journal_open -c -v 2"}},
                                           Variant{"v3", {"journal_open -c -v 3"}}),
                         [](const auto& test) { return std::string(test.param.label); });

TEST(ExtView, UsesABackupSuperblock) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext4", "-b", "1024"});
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1024);
    file << std::string(1024, '\0');
  }
  const FsView view = view_of(path);
  ASSERT_EQ(view.volumes.size(), 1U);
  EXPECT_NE(view.volumes[0].status.find("backup at block 8193"), std::string::npos) << view.volumes[0].status;
  EXPECT_TRUE(view.volumes[0].parsed) << view.volumes[0].status;
  EXPECT_FALSE(view.problems.empty());
}

TEST(ExtView, RefusesAnExternalJournal) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext4", "-O", "^has_journal,^metadata_csum"});
  EXPECT_TRUE(view_of(path).volumes.at(0).parsed);  // negative control
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(1024 + 92);
    const char low = static_cast<char>(file.get());
    file.seekp(1024 + 92);
    file.put(static_cast<char>(low | 4));  // has_journal, without a journal inode
    file.seekp(1024 + 208);
    file << std::string(16, 'j');
  }
  const FsView view = view_of(path);
  EXPECT_FALSE(view.volumes.at(0).parsed);
  EXPECT_EQ(view.volumes.at(0).status, "not parsed: its journal is on another device");
  EXPECT_FALSE(view.problems.empty());
  for (const FsExtent& entry : view.extents) EXPECT_FALSE(entry.live);
}

TEST(ExtView, TwoOwnersOfABlockAreDamage) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext2"});
  EXPECT_TRUE(view_of(path).volumes.at(0).parsed);  // negative control
  const auto stat = run({"debugfs", "-R", "blocks /large", path});
  ASSERT_TRUE(stat.ok());
  const auto first = std::to_string(std::stoull(stat.out));
  ASSERT_TRUE(run({"debugfs", "-w", "-R", "set_inode_field /small block[0] " + first, path}).ok());
  const FsView view = view_of(path);
  EXPECT_FALSE(view.volumes.at(0).parsed);
  EXPECT_TRUE(view.volumes.at(0).status.starts_with("damaged")) << view.volumes.at(0).status;
}

TEST(ExtView, LimitsEndTheView) {
  const TempDir temp;
  const std::string path = make_image(temp, {"-t", "ext4"});
  auto device = open_device(path, {});
  ASSERT_TRUE(device.has_value());
  FsLimits limits;
  limits.max_extents = 10;
  const CancelToken cancel;
  const auto view = build_fs_view(**device, limits, cancel);
  ASSERT_TRUE(view.has_value());
  EXPECT_FALSE(view->volumes.at(0).parsed);
  EXPECT_LE(view->extents.size(), 10U);
  EXPECT_FALSE(view->problems.empty());
}

TEST(ExtView, PartNamesRoundTrip) {
  for (int index = 0; index <= static_cast<int>(FsPart::kOutside); ++index)
    EXPECT_EQ(fs_part_from_name(name(static_cast<FsPart>(index))), static_cast<FsPart>(index));
  EXPECT_FALSE(fs_part_from_name("nonsense").has_value());
}

}  // namespace
}  // namespace vacant::scan
