#include "vacant/base/target.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "run.h"

namespace vacant {
namespace {

using testing::TempDir;

std::size_t entries(const TempDir& dir) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(dir.path()), {}));
}

TargetOptions of_size(std::uint64_t size_bytes, bool overwrite = false) {
  TargetOptions options;
  options.size_bytes = size_bytes;
  options.overwrite = overwrite;
  return options;
}

TEST(TargetTest, HasNoNameBeforeItIsWhole) {
  const TempDir dir;
  {
    auto target = Target::open(dir.file("disk"), of_size(kMiB));
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_TRUE(target->is_new());
    ASSERT_TRUE(target->device().write(1000, as_bytes("content")));
    EXPECT_EQ(entries(dir), 0U);
  }
  EXPECT_EQ(entries(dir), 0U) << "given up without a trace";
  auto target = Target::open(dir.file("disk"), of_size(kMiB));
  ASSERT_TRUE(target);
  ASSERT_TRUE(target->device().write(1000, as_bytes("content")));
  ASSERT_TRUE(target->commit());
  EXPECT_EQ(entries(dir), 1U);
  EXPECT_EQ(testing::read_text(dir.file("disk")).substr(1000, 7), "content");
  EXPECT_EQ(std::filesystem::file_size(dir.file("disk")), kMiB);
}

TEST(TargetTest, ReplacesOnlyWhenToldAndThenAsAWhole) {
  const TempDir dir;
  testing::write_text(dir.file("disk"), "precious");
  const auto refused = Target::open(dir.file("disk"), of_size(kMiB));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  auto target = Target::open(dir.file("disk"), of_size(kMiB, true));
  ASSERT_TRUE(target);
  EXPECT_EQ(testing::read_text(dir.file("disk")), "precious");
  ASSERT_TRUE(target->commit());
  EXPECT_EQ(testing::read_text(dir.file("disk")), std::string(kMiB, '\0'));
  EXPECT_EQ(entries(dir), 1U);
}

TEST(TargetTest, ANameThatWasTakenMeanwhileIsNotOverwritten) {
  const TempDir dir;
  auto target = Target::open(dir.file("disk"), of_size(kMiB));
  ASSERT_TRUE(target);
  testing::write_text(dir.file("disk"), "somebody else's");
  EXPECT_FALSE(target->commit());
  EXPECT_EQ(testing::read_text(dir.file("disk")), "somebody else's");
}

TEST(TargetTest, InPlaceKeepsTheFileAndLocksIt) {
  const TempDir dir;
  testing::write_text(dir.file("disk"), std::string(kMiB, 'x'));
  TargetOptions options = of_size(kMiB, true);
  options.in_place = true;
  auto target = Target::open(dir.file("disk"), options);
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_FALSE(target->is_new());
  const auto second = Target::open(dir.file("disk"), options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kPermission);
  ASSERT_TRUE(target->device().write(0, as_bytes("new")));
  ASSERT_TRUE(target->commit());
  EXPECT_EQ(testing::read_text(dir.file("disk")).substr(0, 5), "newxx");
  options.size_bytes = 2 * kMiB;
  EXPECT_FALSE(Target::open(dir.file("disk"), options)) << "too small";
}

// Killed at any point before commit(): the old file is there, and nothing else.
TEST(TargetTest, AKilledProcessLeavesTheOldFileAlone) {
  const TempDir dir;
  testing::write_text(dir.file("disk"), "precious");
  const pid_t child = ::fork();
  if (child == 0) {
    auto target = Target::open(dir.file("disk"), of_size(kMiB, true));
    if (target) (void)target->device().write(0, as_bytes("half"));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(testing::read_text(dir.file("disk")), "precious");
  EXPECT_EQ(entries(dir), 1U);
}

TEST(TargetTest, SizesThatNoFileCanHaveAreRefused) {
  const TempDir dir;
  const auto target = Target::open(dir.file("disk"), of_size(UINT64_MAX));
  ASSERT_FALSE(target);
  EXPECT_EQ(entries(dir), 0U);
  EXPECT_FALSE(Target::open(dir.file("none/disk"), of_size(kMiB)));
}

}  // namespace
}  // namespace vacant
