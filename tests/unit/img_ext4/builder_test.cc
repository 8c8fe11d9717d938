#include <random>

#include "support.h"
#include "vacant/base/copy.h"
#include "vacant/base/target.h"

namespace vacant::img {
namespace {

using props::FaultDevice;
using props::MemDevice;
using testing::TempDir;

Ext4Options sized(std::uint64_t size_bytes) {
  Ext4Options options;
  options.size_bytes = size_bytes;
  return options;
}

// Saves what was made, for the tools.
std::string save(const TempDir& dir, MemDevice& device) {
  TargetOptions options;
  options.size_bytes = device.size_bytes();
  options.overwrite = true;
  auto target = Target::open(dir.file("image"), options);
  const CancelToken never;
  EXPECT_TRUE(target && copy_sparse(device, target->device(), never) && target->commit());
  return dir.file("image");
}

ByteVector empty_image(const Ext4Options& options) {
  MemDevice device(options.size_bytes);
  auto builder = Ext4Builder::start(device, options);
  EXPECT_TRUE(builder) << builder.error().message;
  const auto summary = builder->finish();
  EXPECT_TRUE(summary) << summary.error().message;
  return device.bytes();
}

TEST(Ext4Create, EverySizeAndBlockSizeIsSound) {
  const TempDir dir;
  for (const std::uint32_t block : {1024U, 2048U, 4096U}) {
    for (const std::uint64_t size : {2 * kMiB, 9 * kMiB + 5000, 64 * kMiB, 300 * kMiB}) {
      Ext4Options options = sized(size);
      options.block_bytes = block;
      options.label = "sixteen-bytes-xx";
      MemDevice device(empty_image(options));
      expect_sound(save(dir, device));
    }
  }
}

TEST(Ext4Create, VariantsAreSound) {
  const TempDir dir;
  for (int variant = 0; variant < 4; ++variant) {
    Ext4Options options = sized(200 * kMiB);
    options.journal = variant != 0;
    options.resize_inode = variant == 1;
    options.inode_count = variant == 2 ? 1000 : 0;
    options.journal_mib = variant == 3 ? 16 : 0;
    MemDevice device(empty_image(options));
    const std::string image = save(dir, device);
    expect_sound(image);
    const std::string features = debugfs(image, "features");
    EXPECT_EQ(features.find("has_journal") != std::string::npos, options.journal);
    EXPECT_EQ(features.find("resize_inode") != std::string::npos, options.resize_inode);
  }
}

TEST(Ext4Create, IsAFunctionOfItsOptions) {
  Ext4Options options = sized(32 * kMiB);
  options.uuid = random_uuid();
  options.time_seconds = 1'700'000'000;
  const ByteVector first = empty_image(options);
  EXPECT_EQ(first, empty_image(options));
  options.uuid = random_uuid();
  EXPECT_NE(first, empty_image(options)) << "the test can tell two images apart";
}

TEST(Ext4Create, RefusesWhatCannotBe) {
  MemDevice device(8 * kMiB);
  const auto refused = [&](auto change) {
    Ext4Options options = sized(8 * kMiB);
    change(options);
    const auto builder = Ext4Builder::start(device, options);
    return !builder && builder.error().code == Code::kInvalidArgument;
  };
  EXPECT_FALSE(refused([](Ext4Options&) {}));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.size_bytes = 9 * kMiB; }));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.size_bytes = 4096; }));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.block_bytes = 3000; }));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.block_bytes = 0; }));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.label = "seventeen bytes x"; }));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.time_seconds = 0; }));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.reserved_percent = 51; }));
  EXPECT_TRUE(refused([](Ext4Options& o) { o.inode_count = 1ULL << 33U; }));
}

TEST(Ext4Build, FilesOfEveryKindComeBack) {
  const TempDir dir;
  MemDevice device(64 * kMiB);
  auto builder = Ext4Builder::start(device, sized(64 * kMiB));
  ASSERT_TRUE(builder);
  Attributes odd = plain(06751);
  odd.uid = 70'000;
  odd.gid = 4'000'000'000;
  odd.mtime_seconds = 5'000'000'000;  // beyond 2038, and beyond 2106
  odd.xattrs["user.note"] = "value";
  Text content("hello\n");
  ASSERT_TRUE(builder->add_file("etc/odd", odd, content.size(), content));
  ASSERT_TRUE(add_text(*builder, "etc/empty", ""));
  ASSERT_TRUE(builder->add_hard_link("second-name", "etc/odd"));
  ASSERT_TRUE(builder->add_symlink("short", plain(0777), "etc/odd"));
  ASSERT_TRUE(builder->add_symlink("long", plain(0777), std::string(1000, 'l')));
  ASSERT_TRUE(builder->add_special("fifo", plain(), SpecialKind::kFifo, 0, 0));
  ASSERT_TRUE(builder->add_special("null", plain(), SpecialKind::kCharacterDevice, 1, 3));
  ASSERT_TRUE(builder->add_special("big", plain(), SpecialKind::kBlockDevice, 300, 70'000));
  const auto summary = builder->finish();
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->files, 2U);
  EXPECT_EQ(summary->hard_links, 1U);
  EXPECT_EQ(summary->specials, 3U);
  const std::string image = save(dir, device);
  expect_sound(image);
  EXPECT_EQ(debugfs(image, "cat second-name"), "hello\n");
  const std::string stat = debugfs(image, "stat etc/odd");
  EXPECT_NE(stat.find("Mode:  06751"), std::string::npos) << stat;
  EXPECT_NE(stat.find("Links: 2"), std::string::npos) << stat;
  EXPECT_NE(stat.find("70000"), std::string::npos) << stat;
  EXPECT_NE(stat.find("user.note"), std::string::npos) << stat;
  EXPECT_NE(debugfs(image, "stat big").find("300:70000"), std::string::npos) << debugfs(image, "stat big");
}

// One block of entries, one level of the hash tree, two levels.
TEST(Ext4Build, FoldersOfEverySizeAreSoundAndIndexed) {
  const TempDir dir;
  for (const int count : {0, 20, 300, 3000, 60'000}) {
    Ext4Options options = sized(96 * kMiB);
    options.block_bytes = 1024;
    options.inode_count = 70'000;
    MemDevice device(options.size_bytes);
    auto builder = Ext4Builder::start(device, options);
    ASSERT_TRUE(builder);
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(add_text(*builder, "d/a name that takes room " + std::to_string(i * 7919), ""));
    ASSERT_TRUE(builder->add_directory("d/last", plain(0755)));
    const auto summary = builder->finish();
    ASSERT_TRUE(summary) << summary.error().message;
    const std::string image = save(dir, device);
    expect_sound(image);
    const std::string tree = debugfs(image, "htree_dump d");
    EXPECT_EQ(tree.find("Indirect levels: 1") != std::string::npos, count == 60'000)
        << count << tree.substr(0, 500);
    EXPECT_EQ(tree.find("Number of entries") != std::string::npos, count >= 300) << count;
  }
}

TEST(Ext4Build, ManyFragmentsGrowTheExtentTree) {
  const TempDir dir;
  MemDevice device(64 * kMiB);
  auto builder = Ext4Builder::start(device, sized(64 * kMiB));
  ASSERT_TRUE(builder);
  std::string text(16 * kMiB, '\0');  // every other block is a hole
  for (std::size_t at = 0; at < text.size(); at += 8192) text[at] = 'x';
  ASSERT_TRUE(add_text(*builder, "holes", text));
  ASSERT_TRUE(add_text(*builder, "zeros", std::string(3 * kMiB + 7, '\0')));
  ASSERT_TRUE(builder->finish());
  const std::string image = save(dir, device);
  expect_sound(image);
  EXPECT_EQ(debugfs(image, "cat holes"), text);
  EXPECT_EQ(debugfs(image, "cat zeros"), std::string(3 * kMiB + 7, '\0'));
  EXPECT_NE(debugfs(image, "stat zeros").find("Blockcount: 0"), std::string::npos);
}

TEST(Ext4Build, PathsThatCannotBeAreRefusedAndNothingElseIsLost) {
  const TempDir dir;
  MemDevice device(16 * kMiB);
  auto builder = Ext4Builder::start(device, sized(16 * kMiB));
  ASSERT_TRUE(builder);
  ASSERT_TRUE(add_text(*builder, "file", "kept"));
  for (const std::string& path : {std::string("/absolute"), std::string("a//b"), std::string("../up"),
                                  std::string("a/./b"), std::string("file/inside"), std::string("slash/"),
                                  std::string(256, 'n'), std::string("nul\0here", 8), std::string("")})
    EXPECT_FALSE(add_text(*builder, path, "x")) << path;
  std::string deep = "d";
  for (int i = 0; i < 5000; ++i) deep += "/d";
  EXPECT_FALSE(add_text(*builder, deep, "x"));
  EXPECT_FALSE(builder->add_hard_link("link", "missing"));
  EXPECT_FALSE(builder->add_symlink("l", plain(), ""));
  EXPECT_FALSE(builder->add_special("s", plain(), SpecialKind::kBlockDevice, 1U << 12U, 0));
  ASSERT_TRUE(builder->finish());
  const std::string image = save(dir, device);
  expect_sound(image);
  EXPECT_EQ(debugfs(image, "cat file"), "kept");
}

// A second file of the same name takes the place of the first, whose content is nowhere any more.
TEST(Ext4Build, WhatIsReplacedLeavesNoTrace) {
  const TempDir dir;
  MemDevice device(16 * kMiB);
  auto builder = Ext4Builder::start(device, sized(16 * kMiB));
  ASSERT_TRUE(builder);
  std::string first;
  while (first.size() < 100'000) first += "FORMER CONTENT ";
  ASSERT_TRUE(add_text(*builder, "file", first));
  ASSERT_TRUE(add_text(*builder, "other", "other"));
  ASSERT_TRUE(add_text(*builder, "file", "second"));
  ASSERT_TRUE(builder->add_directory("folder", plain(0755)));
  ASSERT_TRUE(add_text(*builder, "folder/in it", "x"));
  EXPECT_FALSE(add_text(*builder, "folder", "a file cannot take its place"));
  ASSERT_TRUE(builder->add_directory("folder", plain(0700)));
  ASSERT_TRUE(builder->finish());
  EXPECT_EQ(as_text(device.bytes()).find("FORMER CONTENT"), std::string::npos);
  const std::string image = save(dir, device);
  expect_sound(image);
  EXPECT_EQ(debugfs(image, "cat file"), "second");
  EXPECT_EQ(debugfs(image, "cat \"folder/in it\""), "x");
}

TEST(Ext4Build, WhatDoesNotFitIsToldAndInodesToo) {
  MemDevice device(8 * kMiB);
  auto builder = Ext4Builder::start(device, sized(8 * kMiB));
  ASSERT_TRUE(builder);
  const auto full = add_text(*builder, "file", std::string(9 * kMiB, 'x'));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kLimit);
  Ext4Options few = sized(8 * kMiB);
  few.inode_count = 32;
  MemDevice small(8 * kMiB);
  auto second = Ext4Builder::start(small, few);
  ASSERT_TRUE(second);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(add_text(*second, std::to_string(i), ""));
  const auto none_left = second->finish();
  ASSERT_FALSE(none_left);
  EXPECT_EQ(none_left.error().code, Code::kLimit);
}

// A write that fails at any point is an error of the build, and no superblock stands on the device before the
// last one.
TEST(Ext4Build, FailedWritesNeverLookLikeAFileSystem) {
  const auto attempt = [](BlockDevice& device) -> Result<void> {
    auto builder = VACANT_TRY(Ext4Builder::start(device, sized(16 * kMiB)));
    for (int i = 0; i < 50; ++i) VACANT_TRY(add_text(builder, std::to_string(i), std::string(100'000, 'x')));
    VACANT_TRY(builder.finish());
    return {};
  };
  std::uint64_t failures = 0;
  for (std::uint64_t after = 0; after < 100; ++after) {
    MemDevice memory(16 * kMiB);
    FaultDevice device(memory);
    device.fail_writes_after(after, ENOSPC);
    const auto done = attempt(device);
    const bool magic = load_le<std::uint16_t>(memory.bytes(), 1024 + 56) == 0xEF53;
    EXPECT_EQ(done.has_value(), magic) << after;
    if (done) break;
    EXPECT_EQ(done.error().sys_errno, ENOSPC) << done.error().message;
    ++failures;
  }
  EXPECT_GT(failures, 4U);
}

// The summary's write map is the truth: everything else still reads as zero.
TEST(Ext4Build, TheWriteMapNamesEveryByteThatIsNotZero) {
  MemDevice device(32 * kMiB);
  auto builder = Ext4Builder::start(device, sized(32 * kMiB));
  ASSERT_TRUE(builder);
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(add_text(*builder, std::to_string(i % 17) + "/" + std::to_string(i),
                         std::string(random() % 20'000, 'y')));
  const auto summary = builder->finish();
  ASSERT_TRUE(summary);
  ByteVector rest = device.bytes();
  ASSERT_FALSE(is_zero(rest));
  for (const Extent& extent : summary->written)
    std::fill_n(rest.begin() + static_cast<std::ptrdiff_t>(extent.offset_bytes), extent.length_bytes,
                std::byte{0});
  EXPECT_TRUE(is_zero(rest));
}

TEST(Uuids, RoundTripAndStamp) {
  const Uuid uuid = random_uuid();
  const auto parsed = parse_uuid(to_string(uuid));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, uuid);
  EXPECT_EQ(to_string(uuid)[14], '4');
  EXPECT_EQ(to_string(uuid_of(as_bytes("x")))[14], '8');
  for (const char* bad :
       {"", "0123", "0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdeg"})
    EXPECT_FALSE(parse_uuid(bad)) << bad;
}

}  // namespace
}  // namespace vacant::img
