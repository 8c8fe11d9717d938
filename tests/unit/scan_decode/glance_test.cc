// The quick look at a run must never reject what the decoders would have handed on.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "decode/classes.h"
#include "decode/glance.h"

namespace vacant::scan::decode {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string encode(std::string_view in) {
  std::string out;
  for (std::size_t bit = 0; bit + 6 <= in.size() * 8; bit += 6) {
    unsigned value = 0;
    for (std::size_t b = bit; b < bit + 6; ++b)
      value = value << 1U | (static_cast<std::uint8_t>(in[b / 8]) >> (7 - b % 8) & 1U);
    out += kAlphabet[value];
  }
  return out;
}

bool any_alignment_is_plausible(const Chars& chars) {
  for (std::size_t phase = 0; phase < 4; ++phase)
    if (plausible(decode_base64(chars, phase).bytes)) return true;
  return false;
}

std::string payload(std::mt19937_64& random) {
  std::string out;
  const auto noise = [&](std::size_t count) {
    while (count-- > 0) out += static_cast<char>(random());
  };
  noise(random() % 12);
  switch (random() % 4) {
    case 0:
      for (std::size_t i = 0, size = 10 + random() % 8; i < size; ++i)
        out += static_cast<char>(0x20 + random() % 95);
      break;
    case 1:
      for (std::size_t i = 0, size = 6 + random() % 5; i < size; ++i)
        out += {static_cast<char>(0x20 + random() % 95), '\0'};
      break;
    case 2:
      out.clear();
      out += random() % 2 == 0 ? "\x1f\x8b\x08" : random() % 2 == 0 ? "\x28\xb5\x2f\xfd" : "\x78\x9c";
      break;
    default:
      break;
  }
  noise(20);
  return out;
}

TEST(Glance, IsNeverWronglyFalse) {
  std::mt19937_64 random(11);
  int plausible_runs = 0, rejected = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string text = std::string(kAlphabet.substr(random() % 60, random() % 4)) + encode(payload(random));
    text.resize(std::min<std::size_t>(text.size(), kMinBase64Chars + random() % 24));
    if (text.size() < kMinBase64Chars) continue;
    Range run{0, text.size()};
    const Glance look = glance(as_bytes(text), run);
    const bool expected = any_alignment_is_plausible(gather(as_bytes(text), run, run));
    plausible_runs += expected;
    rejected += !look.text;
    ASSERT_TRUE(look.text || !expected) << text;
  }
  EXPECT_GT(plausible_runs, 10'000);
  EXPECT_GT(rejected, 5'000);  // and it is of use
}

TEST(Glance, TheFastOneEqualsThePortable) {
  if (!has_avx512_vbmi()) GTEST_SKIP() << "left out: this processor has no AVX-512 VBMI";
  std::mt19937_64 random(12);
  for (int round = 0; round < 60'000; ++round) {
    std::string text(random() % 9, ' ');
    const Range start{text.size(), 0};
    const std::string_view letters = kAlphabet.substr(0, 1 + random() % kAlphabet.size());
    while (text.size() - start.begin < kMinBase64Chars + random() % 200) {
      switch (random() % 3) {
        case 0:
          text += encode(payload(random));
          break;
        case 1:
          text += std::string(random() % 40, letters[random() % letters.size()]);
          break;
        default:
          for (std::size_t i = random() % 40; i > 0; --i) text += "0123456789abcdef"[random() % 16];
      }
    }
    const Range run{start.begin, text.size()};
    if (random() % 2 == 0) text += "\nmore";
    ASSERT_EQ(glance_avx512(as_bytes(text), run), glance_portable(as_bytes(text), run)) << text;
  }
}

TEST(Glance, SeesHexAndLines) {
  const std::string hex(kMinHexDigits, 'a');
  const std::string mixed = "xyz" + hex.substr(1) + "0zzz";
  EXPECT_TRUE(glance(as_bytes(mixed), {0, mixed.size()}).hex);
  const std::string less = "xyz" + hex.substr(1) + "zzzz";
  EXPECT_FALSE(glance(as_bytes(less), {0, less.size()}).hex);
  const std::string lines = less + "\r\n  more";
  EXPECT_TRUE(glance(as_bytes(lines), {0, less.size()}).goes_on);
  const std::string end = less + "\n\nmore";
  EXPECT_FALSE(glance(as_bytes(end), {0, less.size()}).goes_on);
}

}  // namespace
}  // namespace vacant::scan::decode
