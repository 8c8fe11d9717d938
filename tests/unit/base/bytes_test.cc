#include "vacant/base/bytes.h"

#include <gtest/gtest.h>

#include "vacant/base/extent.h"

namespace vacant {
namespace {

TEST(Hex, RoundTripsAndRefusesEverythingElse) {
  const auto bytes = from_hex("00ffA5");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(to_hex(*bytes), "00ffa5");
  for (const char* bad : {"0", "0g", " 00", "0x", "00 "}) EXPECT_FALSE(from_hex(bad)) << bad;
}

TEST(Reader, NeverReadsPastTheEnd) {
  const ByteVector bytes(5, std::byte{1});
  Reader reader(bytes);
  EXPECT_TRUE(reader.le<std::uint32_t>());
  const auto beyond = reader.le<std::uint16_t>();
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, Code::kCorrupt);
  EXPECT_EQ(reader.remaining(), 1U) << "a failed read takes nothing";
}

// Every size up to three strides of the AVX2 loop, and a single set bit at every place in it.
TEST(ZeroTest, BothImplementationsSeeEveryBit) {
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  for (std::size_t size = 0; size < 800; ++size) {
    ByteVector bytes(size + 1);
    const ByteSpan part = ByteSpan(bytes).subspan(1);  // unaligned
    ASSERT_TRUE(is_zero_portable(part)) << size;
    ASSERT_TRUE(is_zero_avx2(part)) << size;
    for (std::size_t at = 0; at < size; at += 1 + size / 16) {
      bytes[at + 1] = std::byte{0x80};
      ASSERT_FALSE(is_zero_portable(part)) << size << " at " << at;
      ASSERT_FALSE(is_zero_avx2(part)) << size << " at " << at;
      bytes[at + 1] = std::byte{0};
    }
  }
}

TEST(ExtentTest, RefusesToWrap) {
  EXPECT_TRUE(make_extent(UINT64_MAX - 8, 8));
  EXPECT_FALSE(make_extent(UINT64_MAX - 8, 9));
}

TEST(ExtentTest, IntersectionIsEmptyOnlyWithoutCommonBytes) {
  const Extent left{10, 10};
  EXPECT_EQ(left.intersect({15, 10}), (Extent{15, 5}));
  EXPECT_TRUE(left.intersect({20, 5}).empty());
  EXPECT_FALSE(left.overlaps({20, 5}));
  EXPECT_TRUE(left.overlaps({19, 1}));
}

}  // namespace
}  // namespace vacant
