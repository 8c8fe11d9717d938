// File systems made by the real tools, each with directories small and large, a fragmented file and extended
// attributes.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run.h"
#include "vacant/base/device.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan {

struct MadeFs {
  std::string name;
  std::unique_ptr<BlockDevice> device;
  FsView view;
  bool big_attribute = false;  // debugfs wrote one into a block of its own
};

// Folders of 3 to 40 entries and one of `large` entries, so that a directory grows a hash tree.
inline void make_tree(const std::filesystem::path& root, int salt, int large) {
  for (int i = 0; i < 12; ++i) {
    const auto folder = root / ("folder-" + std::to_string(salt) + "-" + std::to_string(i));
    std::filesystem::create_directories(folder);
    for (int j = 0; j < 3 + i * 3; ++j)
      testing::write_text((folder / ("file-" + std::to_string(j * 7 + salt))).string(),
                          std::string(static_cast<std::size_t>(j * 37), 'a'));
  }
  std::filesystem::create_directories(root / "large");
  for (int i = 0; i < large; ++i)
    testing::write_text(
        (root / "large" / ("entry-with-a-rather-long-name-" + std::to_string(i * 31 + salt))).string(), "");
  // Alternating data and holes: more extents than fit in an inode.
  const std::string sparse = (root / "sparse").string();
  std::ofstream file(sparse, std::ios::binary);
  for (int i = 0; i < 400; ++i) {
    file.seekp(i * 131072);
    file << "piece " << i;
  }
}

inline MadeFs make_ext(const testing::TempDir& dir, int number, std::vector<std::string> options,
                       int large = 2500) {
  const auto tree = dir.path() / ("tree-" + std::to_string(number));
  make_tree(tree, number, large);
  const std::string image = dir.file("ext-" + std::to_string(number));
  std::vector<std::string> words{"mke2fs", "-q", "-F", "-t", "ext4", "-N", "8000"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"-d", tree.string(), image, "96M"});
  const auto made = testing::run(words);
  EXPECT_TRUE(made.ok()) << made.describe();
  // A big value of an extended attribute takes a block of its own.
  testing::write_text(dir.file("value"), std::string(600, 'v'));
  EXPECT_TRUE(
      testing::run({"debugfs", "-w", "-R", "ea_set -f " + dir.file("value") + " /sparse user.big", image})
          .ok());
  std::filesystem::remove_all(tree);
  MadeFs out;
  for (const std::string& word : options) out.name += word + " ";
  auto device = open_device(image, {});
  EXPECT_TRUE(device);
  out.device = std::move(*device);
  const CancelToken never;
  auto view = build_fs_view(*out.device, {}, never);
  EXPECT_TRUE(view);
  out.view = std::move(*view);
  for (const FsExtent& part : out.view.extents) out.big_attribute |= part.part == FsPart::kXattr;
  EXPECT_TRUE(out.view.volumes.at(0).parsed) << out.name << out.view.volumes.at(0).status;
  return out;
}

}  // namespace vacant::scan
