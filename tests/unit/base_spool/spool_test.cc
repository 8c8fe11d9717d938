#include "vacant/base/spool.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "run.h"

namespace vacant {
namespace {

// Byte i of the stream, so that any part can be checked.
std::byte expected_at(std::uint64_t i) { return static_cast<std::byte>((i * 2654435761U) >> 13U); }

ByteVector stream(std::uint64_t begin, std::uint64_t length) {
  ByteVector out(length);
  for (std::uint64_t i = 0; i < length; ++i) out[i] = expected_at(begin + i);
  return out;
}

void fill(Spool& spool, std::uint64_t total, std::uint64_t piece) {
  while (spool.size_bytes() < total)
    ASSERT_TRUE(
        spool.append(stream(spool.size_bytes(), std::min(piece, total - spool.size_bytes()))).has_value());
}

TEST(Spool, GivesTheSameBytesInMemoryAndSpilled) {
  constexpr std::uint64_t kTotal = 2'000'003;
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{700'000}, kTotal}) {
    Spool spool(limit);
    fill(spool, kTotal, 4097);
    EXPECT_EQ(spool.spilled(), limit < kTotal);
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{699'990}, std::uint64_t{1'900'000}}) {
      ByteVector out(100'003);
      ASSERT_TRUE(spool.read(at, out).has_value());
      EXPECT_EQ(out, stream(at, out.size()));
    }
    ByteVector all(kTotal);
    ASSERT_TRUE(spool.read(0, all).has_value());
    EXPECT_EQ(all, stream(0, kTotal));
  }
}

TEST(Spool, RefusesToReadPastItsEnd) {
  Spool spool(10);
  fill(spool, 100, 100);
  ByteVector two(2);
  EXPECT_TRUE(spool.read(98, two).has_value());
  EXPECT_FALSE(spool.read(99, two).has_value());
  EXPECT_FALSE(spool.read(UINT64_MAX, two).has_value());
  EXPECT_TRUE(spool.read(100, {}).has_value());
}

TEST(Spool, LeavesNoNameInTheTemporaryFolder) {
  const testing::TempDir folder;
  const char* old = std::getenv("TMPDIR");
  const std::string before = old != nullptr ? old : "";
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  Spool spool(0);
  fill(spool, 1000, 1000);
  const bool empty = std::filesystem::is_empty(folder.path());
  ::setenv("TMPDIR", "/nonexistent-folder", 1);
  Spool nowhere(0);
  const auto refused = nowhere.append(stream(0, 10));
  if (old != nullptr)
    ::setenv("TMPDIR", before.c_str(), 1);
  else
    ::unsetenv("TMPDIR");
  EXPECT_TRUE(spool.spilled());
  EXPECT_TRUE(empty);
  EXPECT_FALSE(refused.has_value());
}

}  // namespace
}  // namespace vacant
