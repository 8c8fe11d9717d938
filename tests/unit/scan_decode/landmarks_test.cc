#include "core/landmarks.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>

#include "core/masks.h"
#include "decode/classes.h"
#include "decode/codecs.h"
#include "decode/deflate_probe.h"

namespace vacant::scan::decode {
namespace {

ByteVector noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ByteVector out(size);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

// Every byte, and every pair of bytes that can begin something special.
ByteVector telling_bytes() {
  ByteVector bytes = noise(64 * 512 + 1, 1);
  for (unsigned first = 0; first < 256; ++first)
    for (unsigned second = 0; second < 64; ++second)
      bytes[first * 64 + second] = static_cast<std::byte>(second % 2 == 0 ? first : second * 4 + first);
  std::size_t at = 64 * 260;
  for (const unsigned first : {0x1FU, 0x28U, 0x50U, 0x78U, 0x57U, 0x2DU, 0x25U, 0x5CU})
    for (unsigned second = 0; second < 256; ++second) {
      bytes[at++] = static_cast<std::byte>(first);
      bytes[at++] = static_cast<std::byte>(second);
    }
  return bytes;
}

std::vector<const MaskFunctions*> fast_ones() {
  std::vector<const MaskFunctions*> out;
  if (has_avx2()) out.push_back(&avx2_mask_functions());
  if (has_avx512()) out.push_back(&avx512_mask_functions());
  return out;
}

TEST(Masks, TheFastOnesEqualThePortable) {
  const ByteVector bytes = telling_bytes();
  for (const MaskFunctions* functions : fast_ones()) {
    MaskBlock fast, slow;
    for (std::size_t at = 0; at + kMaskBlockBytes < bytes.size(); at += kMaskBlockBytes) {
      functions->fill(bytes.data() + at, fast);
      portable_mask_functions().fill(bytes.data() + at, slow);
      EXPECT_EQ(fast, slow) << at;
      EXPECT_EQ(functions->has_runs(fast), portable_mask_functions().has_runs(slow)) << at;
    }
  }
}

TEST(Masks, ThePortableOneKeepsToTheDefinitions) {
  const ByteVector bytes = telling_bytes();
  MaskBlock masks;
  const std::set<std::pair<unsigned, unsigned>> begins = {{0x1F, 0x8B}, {0x28, 0xB5}, {'P', 'K'},
                                                          {0x78, 0x01}, {0x78, 0x9C}, {0x78, 0xDA},
                                                          {0x57, 0xFB}, {'-', 'B'},   {'\\', 'u'}};
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (i % kMaskBlockBytes == 0) portable_mask_functions().fill(bytes.data() + i, masks);
    const auto here = std::to_integer<unsigned>(bytes[i]), next = std::to_integer<unsigned>(bytes[i + 1]);
    const auto bit = [&](const MaskBlock::Words& words) {
      return (words[1 + i % kMaskBlockBytes / kMaskWordBytes] >> (i % kMaskWordBytes) & 1U) != 0;
    };
    EXPECT_EQ(bit(masks.base64), is_base64(bytes[i]));
    EXPECT_EQ(bit(masks.zero), here == 0);
    EXPECT_EQ(bit(masks.printable), here >= 9 && here < 128);
    const bool escape = here == '%' && is_hex(bytes[i + 1]);
    EXPECT_TRUE(bit(masks.special) || (!escape && !begins.contains({here, next}))) << here << ' ' << next;
  }
}

// A block is told apart by any one run of the least length, wherever it begins, also in the block before.
TEST(Masks, AnyRunOfTheLeastLengthIsSeen) {
  const auto sees = [](std::size_t at, std::string_view run, std::size_t count) {
    ByteVector bytes(2 * kMaskBlockBytes + 1, std::byte{0xEE});
    for (std::size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<std::byte>(run[i % run.size()]);
    MaskBlock masks;
    portable_mask_functions().fill(bytes.data(), masks);
    const bool first = portable_mask_functions().has_runs(masks);
    portable_mask_functions().fill(bytes.data() + kMaskBlockBytes, masks);
    return first || portable_mask_functions().has_runs(masks);
  };
  using namespace std::string_view_literals;
  for (std::size_t at = kMaskBlockBytes - 100; at < kMaskBlockBytes + 100; ++at) {
    EXPECT_TRUE(sees(at, " ", kMinTextBytes)) << at;
    EXPECT_FALSE(sees(at, " ", kMinTextBytes - 1)) << at;
    EXPECT_TRUE(sees(at, "A", kMinBase64Chars)) << at;
    EXPECT_TRUE(sees(at, "x\0"sv, 16)) << at;
    EXPECT_FALSE(sees(at, "x\0"sv, 6)) << at;
  }
}

std::vector<Range> runs_by_definition(ByteSpan bytes, std::size_t least, bool (*inside)(std::byte)) {
  std::vector<Range> out;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at;
    while (end < bytes.size() && inside(bytes[end])) ++end;
    if (end - at >= least) out.push_back({at, end});
    at = end + 1;
  }
  return out;
}

// Runs of all lengths around the edges of words and blocks.
ByteVector made_of_runs(std::mt19937_64& random) {
  ByteVector bytes;
  while (bytes.size() < 9000) {
    bytes.insert(bytes.end(), random() % 90, static_cast<std::byte>('a'));
    bytes.insert(bytes.end(), 1 + random() % 3, static_cast<std::byte>(random() % 3 == 0 ? ' ' : 0x80));
    if (random() % 40 == 0) bytes.insert(bytes.end(), random() % 5000, static_cast<std::byte>('b'));
    if (random() % 40 == 0) bytes.insert(bytes.end(), random() % 500, static_cast<std::byte>(0xEE));
  }
  bytes.resize(bytes.size() - random() % 70);
  return bytes;
}

TEST(Landmarks, HoldExactlyTheMaximalRuns) {
  std::mt19937_64 random(3);
  Landmarks got;
  for (int round = 0; round < 200; ++round) {
    const ByteVector bytes = made_of_runs(random);
    find_landmarks(bytes, bytes.size(), got);
    EXPECT_EQ(got.runs, runs_by_definition(bytes, kMinBase64Chars, is_base64));
  }
}

TEST(Landmarks, EveryTextLiesInOnePartAndBinaryDataInNone) {
  std::mt19937_64 random(4);
  Landmarks got;
  const auto printable = [](std::byte byte) { return byte >= std::byte{9} && byte < std::byte{128}; };
  for (int round = 0; round < 200; ++round) {
    const ByteVector bytes = made_of_runs(random);
    find_landmarks(bytes, bytes.size(), got);
    for (const Range& text : runs_by_definition(bytes, kMinTextBytes, printable))
      EXPECT_TRUE(std::ranges::any_of(got.text, [&](const Range& part) {
        return part.begin <= text.begin && part.end >= text.end;
      })) << text.begin;
    for (std::size_t i = 0; i < got.text.size(); ++i) {
      EXPECT_LE(got.text[i].end, bytes.size());
      EXPECT_LT(i == 0 ? 0 : got.text[i - 1].end, got.text[i].begin + (i == 0 ? 1 : 0));
    }
  }
  find_landmarks(ByteVector(100'000, std::byte{0x81}), 100'000, got);
  EXPECT_TRUE(got.text.empty());
}

TEST(Landmarks, TellOfEveryWideRun) {
  for (std::size_t at = 0; at < 200; ++at) {
    ByteVector bytes(400, std::byte{0xFF});
    for (std::size_t i = 0; i < 8; ++i) {
      bytes[at + 2 * i] = std::byte{'x'};
      bytes[at + 2 * i + 1] = std::byte{0};
    }
    Landmarks got;
    find_landmarks(bytes, bytes.size(), got);
    std::vector<std::size_t> wides;
    got.wide.for_each([&](std::size_t position) { wides.push_back(position); });
    ASSERT_FALSE(wides.empty()) << at;
    const Range run = wide_run(bytes, wides[0]);
    EXPECT_EQ(run.begin, at);
    EXPECT_EQ(run.end, at + 15);
  }
}

// What begins before the end is told whole; memory of an earlier call does not show.
TEST(Landmarks, GoOnToTheEndOfWhatBeginsBeforeTheEnd) {
  ByteVector bytes(20'000, std::byte{0x80});
  std::fill(bytes.begin() + 4000, bytes.begin() + 15'000, std::byte{'a'});
  Landmarks got;
  bytes[100] = std::byte{0x1F};
  bytes[101] = std::byte{0x8B};
  find_landmarks(bytes, 4096, got);
  std::vector<std::size_t> specials;
  got.special.for_each([&](std::size_t place) { specials.push_back(place); });
  EXPECT_EQ(specials, std::vector<std::size_t>{100});
  EXPECT_EQ(got.runs, (std::vector<Range>{{4000, 15'000}}));
  find_landmarks(ByteVector(100, std::byte{0x80}), 100, got);
  EXPECT_TRUE(got.runs.empty() && got.text.empty());
  got.special.for_each([](std::size_t place) { ADD_FAILURE() << place; });
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
