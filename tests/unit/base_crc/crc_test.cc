#include <gtest/gtest.h>

#include <random>

#include "vacant/base/bytes.h"

namespace vacant {
namespace {

TEST(Crc, KnownAnswers) {
  EXPECT_EQ(crc32_ieee(as_bytes("123456789")), 0xCBF43926U);
  EXPECT_EQ(~crc32c_raw(~0U, as_bytes("123456789")), 0xE3069283U);  // RFC 3720's check value
  const ByteVector zeros(32);
  EXPECT_EQ(~crc32c_raw(~0U, zeros), 0x8A9136AAU);  // RFC 3720 B.4: 32 bytes of zeros
  EXPECT_EQ(crc32_ieee({}), 0U);
}

TEST(Crc, ContinuesWhereItStopped) {
  const std::string text = "a text that is cut in two";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const auto left = as_bytes(std::string_view(text).substr(0, cut));
    const auto right = as_bytes(std::string_view(text).substr(cut));
    EXPECT_EQ(crc32_ieee(right, crc32_ieee(left)), crc32_ieee(as_bytes(text)));
    EXPECT_EQ(crc32c_raw(crc32c_raw(7, left), right), crc32c_raw(7, as_bytes(text)));
  }
}

TEST(Crc, ReversalIsExact) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    ByteVector bytes(random() % 300);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    const auto state = static_cast<std::uint32_t>(random());
    ASSERT_EQ(crc32c_reverse(crc32c_raw(state, bytes), bytes), state);
    if (bytes.empty()) continue;
    bytes[random() % bytes.size()] ^= std::byte{4};  // the control: other bytes lead elsewhere
    ASSERT_NE(crc32c_reverse(crc32c_raw(state, bytes) ^ 1U, bytes), state);
  }
}

}  // namespace
}  // namespace vacant
