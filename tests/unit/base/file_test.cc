#include "vacant/base/file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "run.h"
#include "vacant/base/extent.h"

namespace vacant {
namespace {

using testing::TempDir;

std::size_t entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(WriteFileAtomic, ReplacesWholeAndLeavesNoTemporary) {
  const TempDir dir;
  const std::string path = (dir.path() / "file").string();
  ASSERT_TRUE(write_file_atomic(path, as_bytes("old"), 0640));
  ASSERT_TRUE(write_file_atomic(path, as_bytes("new"), 0600));
  const auto bytes = read_file(path, 100);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(as_text(*bytes), "new");
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(entries(dir.path()), 1U);
}

// A folder as the target makes the rename fail: the old state stays and the temporary file goes.
TEST(WriteFileAtomic, AFailureLeavesWhatWasThere) {
  const TempDir dir;
  const auto target = dir.path() / "target";
  std::filesystem::create_directory(target);
  std::filesystem::create_directory(target / "inside");
  EXPECT_FALSE(write_file_atomic(target.string(), as_bytes("x"), 0600));
  EXPECT_TRUE(std::filesystem::is_directory(target / "inside"));
  EXPECT_EQ(entries(dir.path()), 1U);
}

TEST(ReadFile, HoldsItsLimitAndRefusesOtherKinds) {
  const TempDir dir;
  const std::string path = (dir.path() / "file").string();
  ASSERT_TRUE(write_file_atomic(path, as_bytes("12345678"), 0600));
  EXPECT_TRUE(read_file(path, 8));
  const auto over = read_file(path, 7);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Code::kLimit);
  EXPECT_EQ(read_file(dir.path().string(), 8).error().code, Code::kUnsupported);
  EXPECT_EQ(read_file("/dev/zero", 8).error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace vacant
