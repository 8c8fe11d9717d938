#include "decode/masks.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>

#include "decode/codecs.h"
#include "decode/deflate_probe.h"
#include "decode/sweep.h"

namespace vacant::scan::decode {
namespace {

ByteVector noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ByteVector out(size);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

TEST(Masks, Avx2EqualsPortable) {
  if (!has_avx2()) GTEST_SKIP();
  ByteVector bytes = noise(64 * 512 + 1, 1);
  for (unsigned first = 0; first < 256; ++first)  // every byte, and every pair with the bytes behind magics
    for (unsigned second = 0; second < 64; ++second)
      bytes[first * 64 + second] = static_cast<std::byte>(second % 2 == 0 ? first : second * 4 + first);
  for (const unsigned first : {0x1FU, 0x28U, 0x50U, 0x78U})
    for (unsigned second = 0; second < 256; ++second) {
      bytes[64 * 300 + 2 * second] = static_cast<std::byte>(first);
      bytes[64 * 300 + 2 * second + 1] = static_cast<std::byte>(second);
      std::array<Masks, 512> fast, slow;
      if (second % 16 != 15) continue;
      masks_avx2(bytes.data(), 512, fast.data());
      masks_portable(bytes.data(), 512, slow.data());
      EXPECT_EQ(fast, slow);
    }
}

struct Runs final : Visitor {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  std::vector<std::size_t> wides, specials;
  void run(std::size_t begin, std::size_t end) override { runs.emplace_back(begin, end); }
  void wide(std::size_t at) override { wides.push_back(at); }
  void special(std::size_t at) override { specials.push_back(at); }
};

// Against the definition, on data with runs of all lengths around the edges of words and blocks.
TEST(Sweep, FindsExactlyTheMaximalRuns) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    ByteVector bytes;
    while (bytes.size() < 9000) {
      bytes.insert(bytes.end(), random() % 90, static_cast<std::byte>('a'));
      bytes.insert(bytes.end(), 1 + random() % 3, static_cast<std::byte>(' '));
      if (random() % 40 == 0) bytes.insert(bytes.end(), random() % 5000, static_cast<std::byte>('b'));
    }
    bytes.resize(bytes.size() - random() % 70);
    Runs expected, got;
    for (std::size_t at = 0; at < bytes.size();) {
      std::size_t end = at;
      while (end < bytes.size() && is_base64(bytes[end])) ++end;
      if (end - at >= kMinBase64Chars) expected.runs.emplace_back(at, end);
      at = end + 1;
    }
    sweep(bytes, bytes.size(), got);
    EXPECT_EQ(got.runs, expected.runs);
  }
}

TEST(Sweep, TellsOfEveryWideRun) {
  for (std::size_t at = 0; at < 200; ++at) {
    ByteVector bytes(400, std::byte{0xFF});
    for (std::size_t i = 0; i < 8; ++i) {
      bytes[at + 2 * i] = std::byte{'x'};
      bytes[at + 2 * i + 1] = std::byte{0};
    }
    Runs got;
    sweep(bytes, bytes.size(), got);
    ASSERT_FALSE(got.wides.empty()) << at;
    const Range run = wide_run(bytes, got.wides[0]);
    EXPECT_EQ(run.begin, at);
    EXPECT_EQ(run.end, at + 15);
  }
}

TEST(DeflateProbe, AcceptsWhatZlibWrites) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const std::size_t size = 1 + random() % 3000;
    const std::size_t spread = 1 + random() % 255;
    while (text.size() < size) {
      text += static_cast<char>(random() % spread);
      // Matches of all lengths and distances.
      if (random() % 8 == 0) text += text.substr(random() % text.size(), random() % 300);
    }
    uLongf length = compressBound(text.size());
    std::string out(length, '\0');
    ASSERT_EQ(
        compress2(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(text.data()),
                  text.size(), static_cast<int>(random() % 10)),
        Z_OK);
    out.resize(length);
    EXPECT_TRUE(plausible_deflate(as_bytes(out).subspan(2)));
    EXPECT_TRUE(
        plausible_deflate(as_bytes(out).subspan(2, std::min<std::size_t>(out.size() - 2, random() % 40))));
  }
}

// Blocks that refer to the ones before them.
TEST(DeflateProbe, AcceptsManyShortBlocks) {
  std::string out(4096, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit(&stream, 9), Z_OK);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  for (int i = 0; i < 8; ++i) {
    std::string part = "a part of the text, and again a part of the text";
    stream.next_in = reinterpret_cast<Bytef*>(part.data());
    stream.avail_in = static_cast<uInt>(part.size());
    ASSERT_EQ(deflate(&stream, i == 7 ? Z_FINISH : Z_BLOCK), i == 7 ? Z_STREAM_END : Z_OK);
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  EXPECT_TRUE(plausible_deflate(as_bytes(out).subspan(2)));
}

TEST(DeflateProbe, RejectsNearlyAllNoise) {
  int accepted = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed)
    if (plausible_deflate(noise(600, seed))) ++accepted;
  EXPECT_LT(accepted, 200);
}

TEST(Plausible, TellsTextFromNoise) {
  EXPECT_TRUE(plausible(as_bytes("\x80\x81twelve chars\xff")));
  EXPECT_FALSE(
      plausible(as_bytes("\x80\x81"
                         "eleven char\xff")));
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(at, '\x80');
    text += "twelve chars" + std::string(20, '\x80');
    EXPECT_TRUE(plausible(as_bytes(text)));
  }
}

}  // namespace
}  // namespace vacant::scan::decode
