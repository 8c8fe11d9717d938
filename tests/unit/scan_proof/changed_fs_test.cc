// File systems whose metadata does not name them by what their superblock says now: a changed UUID, a dropped
// feature, an old kind of journal checksum, tables of more than one block. Nothing of theirs may be foreign.
#include <fmt/format.h>
#include <sys/xattr.h>

#include <bit>
#include <map>

#include "made_fs.h"
#include "vacant/scan/proof.h"

namespace vacant::scan {
namespace {

struct Opened {
  std::unique_ptr<BlockDevice> device;
  FsView view;
};

Opened open_image(const std::string& path) {
  Opened out;
  auto device = open_device(path, {});
  EXPECT_TRUE(device);
  out.device = std::move(*device);
  const CancelToken never;
  auto view = build_fs_view(*out.device, {}, never);
  EXPECT_TRUE(view);
  out.view = std::move(*view);
  return out;
}

struct Seen {
  std::map<std::string, std::size_t> ours, foreign;
  std::string examples;
};

void count(const Attribution& found, std::uint64_t at, Seen& seen) {
  ++(found.foreign ? seen.foreign : seen.ours)[std::string(rule_name(found.kind))];
  if (found.foreign && seen.examples.size() < 2000)
    seen.examples += fmt::format(" {} at {} ({})", rule_name(found.kind), at, found.detail);
}

// Walks over everything that is not a hole, as the engine does.
Seen examine_all(BlockDevice& device, const Prover& prover) {
  Seen seen;
  const auto map = device.allocation({0, device.size_bytes()});
  EXPECT_TRUE(map);
  ByteVector window;
  for (const Allocation& part : *map) {
    std::uint64_t step = kKiB;
    for (std::uint64_t at = part.extent.offset_bytes; !part.hole && at < part.extent.end_bytes();
         at += step) {
      window.resize(static_cast<std::size_t>(std::min(64 * kKiB, device.size_bytes() - at)));
      EXPECT_TRUE(device.read(at, window));
      const auto found = prover.examine(window, at);
      step = found ? std::max<std::uint64_t>(kKiB, round_down(found->block_bytes, kKiB)) : kKiB;
      if (found) count(*found, at, seen);
    }
  }
  return seen;
}

// Nothing is foreign to itself; and, as a control, `rule` is found and is foreign to somebody else.
void expect_own(const Opened& image, std::string_view rule, std::size_t least) {
  const Seen own = examine_all(*image.device, Prover(image.view));
  EXPECT_TRUE(own.foreign.empty()) << own.examples;
  const Seen other = examine_all(*image.device, Prover(FsView()));
  EXPECT_TRUE(other.ours.empty());
  const auto found = other.foreign.find(std::string(rule));
  EXPECT_GE(found == other.foreign.end() ? 0U : found->second, least) << rule;
}

std::string make_image(const testing::TempDir& dir, const std::string& size,
                       const std::vector<std::string>& options) {
  std::vector<std::string> words{"mke2fs", "-q", "-F", "-t", "ext4"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {dir.file("image"), size});
  const auto made = testing::run(words);
  EXPECT_TRUE(made.ok()) << made.describe();
  return dir.file("image");
}

// Writes through the kernel; false: no loop mounts here.
bool write_mounted(const testing::TempDir& dir, const std::string& image, int salt,
                   const std::string& options = "loop", const std::string& attribute = {}) {
  const std::string mount = dir.file("mnt");
  std::filesystem::create_directories(mount);
  if (!testing::run({"mount", "-o", options, image, mount}).ok()) return false;
  make_tree(std::filesystem::path(mount) / ("tree-" + std::to_string(salt)), salt, 400);
  testing::run({"sync", "-f", mount});
  if (!attribute.empty())
    for (int i = 0; i < 4; ++i) {
      const std::string file = mount + "/attributed-" + std::to_string(i);
      testing::write_text(file, "x");
      EXPECT_EQ(::setxattr(file.c_str(), "user.big", attribute.data(), attribute.size(), 0), 0);
    }
  EXPECT_TRUE(testing::run({"umount", mount}).ok());
  return true;
}

// What was explained by something else is not examined: then a block's end comes without its beginning.
TEST(ExtProofHalves, TheEndOfALeafAccusesNobody) {
  const testing::TempDir dir;
  MadeFs fs = make_ext(dir, 3, {"-b", "4096"}, 2500);
  const Prover own(fs.view), nobody((FsView()));
  std::size_t taken_for_leaves = 0;
  ByteVector window(64 * kKiB);
  for (const FsExtent& part : fs.view.extents) {
    if (part.part != FsPart::kDirectory) continue;
    for (std::uint64_t at = part.extent.offset_bytes; at < part.extent.end_bytes(); at += kKiB) {
      ASSERT_TRUE(fs.device->read(at, window));
      const auto found = own.examine(window, at);
      EXPECT_FALSE(found && found->foreign) << at;
      if (at % 4096 != 0) taken_for_leaves += nobody.examine(window, at).has_value();
    }
  }
  EXPECT_GE(taken_for_leaves, 1U) << "the control: ends that look like leaves occur";
}

class ManyGroups : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ManyGroups, EveryPieceOfTheDescriptorTableIsOurs) {
  const testing::TempDir dir;
  expect_own(open_image(make_image(dir, "600M", GetParam())), "ext4-group-descriptors", 2);
}

using Words = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(ExtProof, ManyGroups,
                         ::testing::Values(Words{"-b", "1024", "-O", "64bit"},
                                           Words{"-b", "1024", "-O", "^64bit"},
                                           Words{"-b", "1024", "-O", "^resize_inode,meta_bg"},
                                           Words{"-b", "4096", "-g", "1024"},
                                           Words{"-b", "2048", "-O", "metadata_csum_seed,64bit"},
                                           Words{"-b", "1024", "-I", "512", "-O", "^flex_bg"},
                                           Words{"-b", "4096", "-g", "512", "-O", "^64bit"}));

class Mounted : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Mounted, WhatTheKernelWroteIsOurs) {
  const testing::TempDir dir;
  const std::string image = make_image(dir, "96M", GetParam());
  if (!write_mounted(dir, image, 1) && !testing::must_run())
    GTEST_SKIP() << "no loop mount of this kind here";
  ASSERT_TRUE(write_mounted(dir, image, 2));
  expect_own(open_image(image), "ext4-directory-leaf", 20);
}

INSTANTIATE_TEST_SUITE_P(ExtProof, Mounted,
                         ::testing::Values(Words{"-b", "1024"}, Words{"-b", "2048"}, Words{"-b", "4096"},
                                           Words{"-b", "1024", "-I", "128"}, Words{"-b", "4096", "-I", "128"},
                                           Words{"-b", "1024", "-I", "512"}, Words{"-b", "4096", "-I", "512"},
                                           Words{"-b", "2048", "-I", "1024"},
                                           Words{"-b", "4096", "-I", "2048"},
                                           Words{"-b", "4096", "-O", "fast_commit"},
                                           Words{"-b", "1024", "-O", "metadata_csum_seed"},
                                           Words{"-b", "1024", "-O", "^64bit"},
                                           Words{"-b", "4096", "-O", "inline_data", "-I", "512"},
                                           Words{"-b", "4096", "-O", "bigalloc", "-C", "16384"},
                                           Words{"-b", "1024", "-O", "^resize_inode,meta_bg"},
                                           Words{"-b", "4096", "-J", "size=8", "-O", "ea_inode"}));

TEST(ExtProofChanged, AFileSystemWithoutAUuidAccusesNobody) {
  const testing::TempDir dir;
  const Opened image = open_image(make_image(dir, "64M", {"-U", "clear"}));
  const Seen own = examine_all(*image.device, Prover(image.view));
  EXPECT_TRUE(own.foreign.empty()) << own.examples;
  const testing::TempDir other_dir;
  const Opened other = open_image(make_image(other_dir, "64M", {}));
  EXPECT_GE(examine_all(*other.device, Prover(image.view)).foreign["ext4-superblock"], 1U) << "the control";
}

TEST(ExtProofChanged, WhatWasWrittenUnderAnEarlierUuidIsOurs) {
  const testing::TempDir dir;
  const std::string image = make_image(dir, "96M", {"-b", "1024"});
  if (!write_mounted(dir, image, 1) && !testing::must_run()) GTEST_SKIP() << "no loop mounts here";
  ASSERT_TRUE(testing::run({"e2fsck", "-f", "-y", image}).ok());
  ASSERT_TRUE(testing::run({"tune2fs", "-U", "random", image}).ok());
  ASSERT_TRUE(write_mounted(dir, image, 2));
  expect_own(open_image(image), "jbd2-block", 2);
}

TEST(ExtProofChanged, WhatWasWrittenWhileThereWereChecksumsIsOurs) {
  const testing::TempDir dir;
  const std::string image = make_image(dir, "96M", {"-b", "4096"});
  if (!write_mounted(dir, image, 1) && !testing::must_run()) GTEST_SKIP() << "no loop mounts here";
  ASSERT_TRUE(testing::run({"e2fsck", "-f", "-y", image}).ok());
  ASSERT_TRUE(testing::run({"tune2fs", "-O", "^metadata_csum", image}).ok());
  ASSERT_TRUE(write_mounted(dir, image, 2));
  expect_own(open_image(image), "ext4-directory-leaf", 3);
}

TEST(ExtProofChanged, CommitBlocksWithChecksumsOfVersion1ProveNothing) {
  const testing::TempDir dir;
  const std::string image = make_image(dir, "96M", {"-b", "4096", "-O", "^metadata_csum"});
  if (!write_mounted(dir, image, 1, "loop,journal_checksum") && !testing::must_run())
    GTEST_SKIP() << "no loop mounts here";
  const Opened opened = open_image(image);
  const Seen own = examine_all(*opened.device, Prover(opened.view));
  EXPECT_TRUE(own.foreign.empty()) << own.examples;
  EXPECT_GE(own.ours.at("ext4-superblock"), 1U) << "the control: the image was looked at";
}

ByteVector commit_block(const Uuid& uuid) {
  ByteVector block(4096);
  store_le<std::uint32_t>(block, 0, std::byteswap<std::uint32_t>(0xC03B3998U));
  store_le<std::uint32_t>(block, 4, std::byteswap<std::uint32_t>(2));
  store_le<std::uint32_t>(block, 8, std::byteswap<std::uint32_t>(77));
  const std::uint32_t checksum = crc32c_raw(crc32c_raw(~0U, uuid), block);
  store_le<std::uint32_t>(block, 16, std::byteswap<std::uint32_t>(checksum));
  return block;
}

TEST(Jbd2Proof, AnExternalJournalOwnsItsCommits) {
  Uuid uuid{}, other{};
  uuid.fill(std::byte{0x5A});
  other.fill(std::byte{0xA5});
  Volume volume;
  volume.type = "jbd2";
  volume.uuid = uuid;
  FsView view;
  view.volumes.push_back(volume);
  const Prover prover(view);
  const auto own = prover.examine(commit_block(uuid), 0);
  ASSERT_TRUE(own);
  EXPECT_FALSE(own->foreign);
  const auto foreign = prover.examine(commit_block(other), 0);
  ASSERT_TRUE(foreign);
  EXPECT_TRUE(foreign->foreign);
  ByteVector version_1 = commit_block(other);
  version_1[12] = std::byte{1};  // crc32, over the blocks of the transaction
  version_1[13] = std::byte{4};
  EXPECT_FALSE(prover.examine(version_1, 0));
}

TEST(OtherFsChanged, XfsAttributesAndAnEarlierUuid) {
  if (testing::left_out("mkfs.xfs")) GTEST_SKIP() << "no mkfs.xfs here";
  const testing::TempDir dir;
  const std::string image = dir.file("image");
  testing::make_sparse(image, 320ULL << 20);
  ASSERT_TRUE(testing::run({"mkfs.xfs", "-q", "-f", image}).ok());
  if (!write_mounted(dir, image, 1, "loop", std::string(20'000, 'v')) && !testing::must_run())
    GTEST_SKIP() << "no loop mounts here";
  expect_own(open_image(image), "xfs-metadata", 20);
  const auto attributed = [](const Opened& opened) {
    std::size_t found = 0;
    ByteVector window(64 * kKiB);
    const Prover prover(opened.view);
    for (std::uint64_t at = 0; at + window.size() <= opened.device->size_bytes(); at += 4096) {
      EXPECT_TRUE(opened.device->read(at, window));
      const auto proof = prover.examine(window, at);
      found += proof && !proof->foreign && proof->detail == "remote attribute";
    }
    return found;
  };
  EXPECT_GE(attributed(open_image(image)), 4U);
  if (!testing::run({"xfs_admin", "-U", "generate", image}).ok() && !testing::must_run())
    GTEST_SKIP() << "no xfs_admin here";
  expect_own(open_image(image), "xfs-metadata", 20);
}

TEST(OtherFsChanged, BtrfsWithAnEarlierUuid) {
  if (testing::left_out("mkfs.btrfs")) GTEST_SKIP() << "no mkfs.btrfs here";
  const testing::TempDir dir;
  const std::string image = dir.file("image");
  testing::make_sparse(image, 256ULL << 20);
  ASSERT_TRUE(testing::run({"mkfs.btrfs", "-q", "-f", image}).ok());
  expect_own(open_image(image), "btrfs-metadata", 5);
  if (!testing::run({"btrfstune", "-f", "-m", image}).ok() && !testing::must_run())
    GTEST_SKIP() << "no btrfstune -m here";
  expect_own(open_image(image), "btrfs-metadata", 5);
}

}  // namespace
}  // namespace vacant::scan
