// vacant image from the command line, on real trees.
#include <sys/stat.h>
#include <sys/xattr.h>

#include <filesystem>

#include "cli_support.h"
#include "image_support.h"

namespace vacant::testing {
namespace {

namespace fs = std::filesystem;

TEST(ImageCreate, IsSoundSparseAndReproducible) {
  const TempDir dir;
  const std::vector<std::string> pinned = {"--uuid", "01234567-89ab-4def-8123-456789abcdef", "--time",
                                           "1700000000"};
  for (const std::string name : {"one", "two"}) {
    std::vector<std::string> words{"image", "create", "512M", dir.file(name), "--json"};
    words.insert(words.end(), pinned.begin(), pinned.end());
    const RunOutcome made = vacant(words);
    ASSERT_EQ(made.exit_code, 0) << made.describe();
    EXPECT_EQ(nlohmann::json::parse(made.out)["size_bytes"], 512ULL << 20U);
  }
  EXPECT_TRUE(run({"cmp", dir.file("one"), dir.file("two")}).ok());
  ASSERT_EQ(vacant({"image", "create", "512M", dir.file("three")}).exit_code, 0);
  EXPECT_FALSE(run({"cmp", "-s", dir.file("one"), dir.file("three")}).ok()) << "a UUID of its own";
  ASSERT_EQ(vacant({"image", "create", "24G", dir.file("large")}).exit_code, 0);
  expect_sound(dir.file("large"));
  EXPECT_LE(allocated_bytes(dir.file("large")), 1U << 20U);
}

TEST(ImageCreate, AsksBeforeItOverwritesAndSaysWhatIsWrong) {
  const TempDir dir;
  write_text(dir.file("disk"), "precious");
  const RunOutcome refused = vacant({"image", "create", "8M", dir.file("disk")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--yes"), std::string::npos) << refused.err;
  EXPECT_EQ(read_text(dir.file("disk")), "precious");
  EXPECT_EQ(vacant({"image", "create", "8M", dir.file("disk"), "--yes"}).exit_code, 0);
  expect_sound(dir.file("disk"));
  const std::vector<std::vector<std::string>> bad = {
      {"image"},
      {"image", "create"},
      {"image", "create", "much", dir.file("x")},
      {"image", "create", "9E", dir.file("x")},
      {"image", "create", "99999999999999999999", dir.file("x")},
      {"image", "create", "1K", dir.file("x")},
      {"image", "create", "8M", dir.file("x"), "--uuid", "1"},
      {"image", "create", "8M", dir.file("x"), "--label", "seventeen bytes x"},
      {"image", "build", dir.path().string(), dir.file("x"), "--size", "8M", "--owner", "root"},
      {"image", "build", dir.path().string(), dir.file("x"), "--size", "8M", "--clamp-mtime"}};
  for (const auto& words : bad) EXPECT_EQ(vacant(words).exit_code, 2) << words.back();
  EXPECT_FALSE(fs::exists(dir.file("x")));
  EXPECT_EQ(vacant({"image", "create", "8M", dir.file("none/x")}).exit_code, 3);
  EXPECT_EQ(vacant({"image", "create", "8M", "/dev/null", "--yes"}).exit_code, 3);
}

TEST(ImageBuild, TheTreeComesBackAsItWas) {
  if (!may_mount()) GTEST_SKIP() << "left out: mounting needs root and loop devices";
  const TempDir dir;
  const std::string tree = dir.file("tree");
  make_odd_tree(tree);
  ASSERT_EQ(vacant({"image", "build", tree, dir.file("image"), "--size", "256M"}).exit_code, 0);
  expect_sound(dir.file("image"));
  const Mount mount(dir.file("image"), dir.file("mnt"));
  ASSERT_TRUE(mount.mounted());
  EXPECT_EQ(listing(dir.file("mnt")), listing(tree));
  write_text(tree + "/one more", "");
  EXPECT_NE(listing(dir.file("mnt")), listing(tree)) << "the comparison can tell two trees apart";
}

// Where the tree was kept, who owns the process, in what order the folder lists its names: none of it counts.
TEST(ImageBuild, IsTheSameFromEveryCopy) {
  const TempDir dir;
  const std::string tree = dir.file("tree");
  make_odd_tree(tree);
  ASSERT_TRUE(run({"cp", "-a", "--sparse=always", tree, dir.file("sparse")}).ok());
  ASSERT_TRUE(run({"cp", "-a", "--sparse=never", tree, dir.file("full")}).ok());
  const std::string expected = image_digest(dir, tree);
  EXPECT_EQ(image_digest(dir, dir.file("sparse")), expected);
  EXPECT_EQ(image_digest(dir, dir.file("full")), expected);
  for (const std::string type : {"btrfs", "xfs", "tmpfs", "ext4"}) {
    if (!may_mount() || (type != "tmpfs" && left_out("mkfs." + type))) continue;
    const FreshFs other(dir, type);
    ASSERT_TRUE(other.mounted()) << type;
    // Names in the opposite order, so that the folders list them in another one.
    ASSERT_TRUE(copy_backwards(tree, other.path() + "/tree"));
    EXPECT_EQ(image_digest(dir, other.path() + "/tree"), expected) << type;
  }
  write_text(dir.file("full") + "/plain", "other content");
  EXPECT_NE(image_digest(dir, dir.file("full")), expected);
}

TEST(ImageBuild, WhatItMayNotReadOrDoesNotFitLeavesNothing) {
  const TempDir dir;
  const std::string tree = dir.file("tree");
  fs::create_directory(tree);
  write_text(tree + "/large", noise(9 << 20, 1));
  const RunOutcome full = vacant({"image", "build", tree, dir.file("image"), "--size", "8M"});
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_NE(full.err.find("large"), std::string::npos) << full.err;
  EXPECT_FALSE(fs::exists(dir.file("image")));
  EXPECT_EQ(vacant({"image", "build", dir.file("missing"), dir.file("image"), "--size", "8M"}).exit_code, 3);
  EXPECT_EQ(vacant({"image", "build", tree + "/large", dir.file("image"), "--size", "8M"}).exit_code, 3);
  EXPECT_FALSE(fs::exists(dir.file("image")));
}

TEST(ImageZero, ClearsAndProvesIt) {
  const TempDir dir;
  write_text(dir.file("disk"), noise(3'000'000, 4));
  EXPECT_EQ(scan_json(dir.file("disk"), {"--profile", "inventory"}, 1)["verdict"], "residue");
  EXPECT_EQ(vacant({"image", "zero", dir.file("disk")}).exit_code, 2) << "not without --yes";
  const RunOutcome cleared = vacant({"image", "zero", dir.file("disk"), "--yes", "--json", "--no-discard"});
  ASSERT_EQ(cleared.exit_code, 0) << cleared.describe();
  EXPECT_EQ(nlohmann::json::parse(cleared.out)["verified_zero_bytes"], 3'000'000);
  EXPECT_EQ(scan_json(dir.file("disk"), {"--profile", "inventory"}, 0)["verdict"], "vacant");
  EXPECT_EQ(vacant({"image", "zero", dir.file("missing"), "--yes"}).exit_code, 3);
}

}  // namespace
}  // namespace vacant::testing
