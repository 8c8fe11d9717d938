#include "vacant/base/append_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "run.h"
#include "vacant/base/extent.h"
#include "vacant/base/file.h"

namespace vacant {
namespace {

using testing::TempDir;

std::vector<std::string> replayed(const std::string& path) {
  std::vector<std::string> out;
  auto log = AppendLog::open(path, [&](ByteSpan record) -> Result<void> {
    out.emplace_back(as_text(record));
    return {};
  });
  EXPECT_TRUE(log) << (log ? "" : log.error().message);
  return out;
}

void write_three(const std::string& path) {
  auto log = AppendLog::open(path, [](ByteSpan) -> Result<void> { return {}; });
  ASSERT_TRUE(log);
  for (const char* text : {"one", "two", "three"}) ASSERT_TRUE(log->append(as_bytes(text)));
}

// A crash may leave any prefix of the file: whole records in front of the cut are kept, nothing else is.
TEST(AppendLogTest, EveryPrefixKeepsItsWholeRecords) {
  const TempDir dir;
  const std::string path = (dir.path() / "log").string();
  write_three(path);
  const auto bytes = read_file(path, kMiB);
  ASSERT_TRUE(bytes);
  const std::size_t first = 12 + 3;
  for (std::size_t size = first; size <= bytes->size(); ++size) {
    const std::string cut = (dir.path() / "cut").string();
    ASSERT_TRUE(write_file_atomic(cut, ByteSpan(*bytes).first(size), 0600));
    const auto records = replayed(cut);
    const std::size_t whole = size == bytes->size() ? 3 : size >= 2 * first ? 2 : 1;
    ASSERT_EQ(records.size(), whole) << size;
  }
}

TEST(AppendLogTest, AFlippedBitEndsTheLogThere) {
  const TempDir dir;
  const std::string path = (dir.path() / "log").string();
  write_three(path);
  auto bytes = read_file(path, kMiB);
  ASSERT_TRUE(bytes);
  (*bytes)[12 + 3 + 12] ^= std::byte{1};  // first payload byte of the second record
  ASSERT_TRUE(write_file_atomic(path, *bytes, 0600));
  EXPECT_EQ(replayed(path), std::vector<std::string>{"one"});
}

TEST(AppendLogTest, NeverCutsAFileThatIsNoLog) {
  const TempDir dir;
  const std::string path = (dir.path() / "precious").string();
  ASSERT_TRUE(write_file_atomic(path, as_bytes("somebody's only copy"), 0600));
  const auto log = AppendLog::open(path, [](ByteSpan) -> Result<void> { return {}; });
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, Code::kCorrupt);
  const auto after = read_file(path, kMiB);
  ASSERT_TRUE(after);
  EXPECT_EQ(as_text(*after), "somebody's only copy");
}

TEST(AppendLogTest, ASecondWriterIsRefused) {
  const TempDir dir;
  const std::string path = (dir.path() / "log").string();
  const auto ignore = [](ByteSpan) -> Result<void> { return {}; };
  const auto first = AppendLog::open(path, ignore);
  ASSERT_TRUE(first);
  const auto second = AppendLog::open(path, ignore);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kPermission);
}

}  // namespace
}  // namespace vacant
