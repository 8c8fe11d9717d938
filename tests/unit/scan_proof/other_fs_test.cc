// XFS and btrfs: their metadata by UUID and checksum.
#include <map>
#include <set>

#include "made_fs.h"
#include "vacant/scan/proof.h"

namespace vacant::scan {
namespace {

struct Image {
  std::unique_ptr<BlockDevice> device;
  FsView view;
};

Image open_image(const std::string& path) {
  Image out;
  auto device = open_device(path, {});
  EXPECT_TRUE(device);
  out.device = std::move(*device);
  const CancelToken never;
  auto view = build_fs_view(*out.device, {}, never);
  EXPECT_TRUE(view);
  out.view = std::move(*view);
  return out;
}

struct Counts {
  std::size_t ours = 0, foreign = 0;
  std::set<std::string> details, identities;
};

Counts examine_all(BlockDevice& device, const Prover& prover) {
  Counts counts;
  ByteVector window(64 * kKiB);
  const auto map = device.allocation({0, device.size_bytes()});
  EXPECT_TRUE(map);
  for (const Allocation& part : *map) {
    if (part.hole) continue;
    for (std::uint64_t at = part.extent.offset_bytes;
         at + window.size() <= device.size_bytes() && at < part.extent.end_bytes(); at += 512) {
      EXPECT_TRUE(device.read(at, window));
      const auto found = prover.examine(window, at);
      if (!found) continue;
      ++(found->foreign ? counts.foreign : counts.ours);
      counts.details.insert(found->detail);
      counts.identities.insert(found->identity);
    }
  }
  return counts;
}

void check_pair(const Image& left, const Image& right, const std::string& type) {
  ASSERT_EQ(left.view.volumes.at(0).type, type);
  const Prover of_left(left.view), of_right(right.view);
  const Counts own = examine_all(*left.device, of_left);
  EXPECT_EQ(own.foreign, 0U);
  EXPECT_GT(own.ours, 5U);
  const Counts other = examine_all(*left.device, of_right);
  EXPECT_EQ(other.ours, 0U);
  EXPECT_EQ(other.foreign, own.ours);
  EXPECT_EQ(other.identities.size(), 1U) << "one file system is one identity";
}

TEST(OtherFsProof, Xfs) {
  if (testing::left_out("mkfs.xfs")) GTEST_SKIP() << "no mkfs.xfs here";
  const testing::TempDir dir;
  std::vector<Image> images;
  for (const char* name : {"a", "b"}) {
    testing::make_sparse(dir.file(name), 320ULL << 20);
    ASSERT_TRUE(testing::run({"mkfs.xfs", "-q", "-f", dir.file(name)}).ok());
    const std::string mount = dir.file(std::string("mnt-") + name);
    std::filesystem::create_directory(mount);
    if (testing::run({"mount", "-o", "loop", dir.file(name), mount}).ok()) {
      make_tree(mount, 1, 1500);
      ASSERT_TRUE(testing::run({"umount", mount}).ok());
    }
    images.push_back(open_image(dir.file(name)));
  }
  check_pair(images[0], images[1], "xfs");
  const Counts all = examine_all(*images[0].device, Prover(images[0].view));
  for (const char* kind :
       {"superblock", "AG free space header", "AG inode header", "free space btree", "inode btree", "inode"})
    EXPECT_TRUE(all.details.contains(kind)) << kind;
}

TEST(OtherFsProof, Btrfs) {
  if (testing::left_out("mkfs.btrfs")) GTEST_SKIP() << "no mkfs.btrfs here";
  const testing::TempDir dir;
  std::vector<Image> images;
  for (const char* name : {"a", "b"}) {
    const auto tree = dir.path() / (std::string("tree-") + name);
    make_tree(tree, 2, 800);
    testing::make_sparse(dir.file(name), 256ULL << 20);
    const auto made = testing::run({"mkfs.btrfs", "-q", "-f", "--rootdir", tree.string(), dir.file(name)});
    ASSERT_TRUE(made.ok()) << made.describe();
    images.push_back(open_image(dir.file(name)));
  }
  check_pair(images[0], images[1], "btrfs");
}

}  // namespace
}  // namespace vacant::scan
