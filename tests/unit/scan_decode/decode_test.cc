// The decoders against encoders written down here: every codec, nested, cut at any place.
#include "vacant/scan/decode.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <string>

#include "vacant/props/devices.h"

namespace vacant::scan {
namespace {

using Text = std::string;

Text noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Text out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

// Not base64: it ends runs on both sides.
Text spaces(std::size_t size) { return Text(size, ' '); }

Text needle(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Text out = "needle:";
  for (int i = 0; i < 24; ++i) out += static_cast<char>('a' + random() % 26);
  return out;
}

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Text base64(std::string_view in, std::string_view alphabet = kStandard, std::size_t columns = 0,
            std::string_view eol = "\n") {
  Text out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < in.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8U | (i + j < in.size() ? static_cast<std::uint8_t>(in[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) {
      if (columns != 0 && column == columns) {
        out += eol;
        column = 0;
      }
      out += i + j > in.size() ? '=' : alphabet[group >> (18 - 6 * j) & 63U];
      ++column;
    }
  }
  return out;
}

Text hex(std::string_view in) { return to_hex(as_bytes(in)); }

Text percent(std::string_view in) {
  Text out;
  for (const char c : in) out += "%" + to_hex(as_bytes(std::string_view(&c, 1)));
  return out;
}

Text json_u(std::string_view in) {
  Text out;
  for (const char c : in) out += "\\u00" + to_hex(as_bytes(std::string_view(&c, 1)));
  return out;
}

Text utf16(std::string_view in, bool big_endian) {
  Text out;
  for (const char c : in) out += big_endian ? Text{'\0', c} : Text{c, '\0'};
  return out;
}

Text deflated(std::string_view in, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Text input(in), out(deflateBound(&stream, in.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}
Text gzip(std::string_view in) { return deflated(in, 15 + 16); }
Text zlib(std::string_view in) { return deflated(in, 15); }

Text zstd(std::string_view in) {
  Text out(ZSTD_compressBound(in.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3));
  return out;
}

Text zip_member(std::string_view in) {
  Text out("PK\x03\x04\x14\0\0\0\x08\0", 10);
  out += Text(16, '\0') + Text("\x05\0\0\0", 4) + "a.txt" + deflated(in, -15);
  return out;
}

// Runs the decoders over everything nested, and counts where the needle is seen first-hand.
struct Search final : FindingSink {
  explicit Search(Text wanted_text) : wanted(std::move(wanted_text)) {}
  Text wanted;
  Detector* detector = nullptr;
  std::vector<Text> origins;
  std::vector<Extent> extents;
  std::vector<Text> skips;
  std::size_t buffers = 0;
  void found(Finding, ByteSpan) override { ADD_FAILURE() << "decoders find nothing themselves"; }
  void skipped(const Extent&, std::string_view reason) override { skips.emplace_back(reason); }
  void nested(const Buffer& decoded) override {
    ++buffers;
    const std::string_view text = as_text(decoded.bytes);
    for (std::size_t at = text.find(wanted); at != Text::npos; at = text.find(wanted, at + 1)) {
      if (!decoded.owns(at)) continue;
      origins.push_back(to_string(decoded.origin_at(at)));
      extents.push_back(decoded.extent_of(at, wanted.size()));
    }
    detector->scan(decoded, *this);
  }
};

struct Segments {
  std::size_t owned = kSegmentBytes, before = kLookBehindBytes, behind = kMarginBytes;
};

Search scan(std::string_view text, const Text& wanted, const Segments& cut = {},
            BlockDevice* device = nullptr) {
  const auto detector = make_decoder_factory().value()->make().value();
  Search search(wanted);
  search.detector = detector.get();
  for (std::size_t begin = 0; begin < text.size(); begin += cut.owned) {
    const std::size_t end = std::min(text.size(), begin + cut.owned);
    const std::size_t first = begin - std::min(begin, cut.before),
                      last = std::min(text.size(), end + cut.behind);
    Buffer buffer;
    buffer.bytes = as_bytes(text.substr(first, last - first));
    buffer.owned_begin = begin - first;
    buffer.owned_end = end - first;
    buffer.origin.device_offset_bytes = first;
    buffer.device = device;
    detector->scan(buffer, search);
  }
  return search;
}

struct Case {
  const char* name;
  Text (*encode)(std::string_view);
  const char* origin;  // the codec's name in the origin
};

const Case kCases[] = {
    {"base64", [](std::string_view s) { return base64(s); }, "BASE64"},
    {"base64 with lines", [](std::string_view s) { return base64(s, kStandard, 76); }, "BASE64"},
    {"base64 with CRLF", [](std::string_view s) { return base64(s, kStandard, 64, "\r\n"); }, "BASE64"},
    {"base64 indented", [](std::string_view s) { return base64(s, kStandard, 64, "\n    "); }, "BASE64"},
    {"hex", [](std::string_view s) { return hex(s); }, "HEX"},
    {"percent", [](std::string_view s) { return percent(s); }, "PERCENT"},
    {"json", [](std::string_view s) { return json_u(s); }, "JSON"},
    {"utf16le", [](std::string_view s) { return utf16(s, false); }, "UTF16LE"},
    {"gzip", [](std::string_view s) { return gzip(s); }, "GZIP"},
    {"zlib", [](std::string_view s) { return zlib(s); }, "ZLIB"},
    {"zstd", [](std::string_view s) { return zstd(s); }, "ZSTD"},
    {"zip", [](std::string_view s) { return zip_member(s); }, "ZIP"},
};

TEST(Decode, EveryCodecIsUndone) {
  const Text wanted = needle(1), other = needle(2);
  for (const Case& c : kCases) {
    for (std::size_t before = 0; before < 70; ++before) {
      const Text text = spaces(2 * before) +
                        c.encode("some words of context, " + wanted + ", and more of them") + spaces(30);
      const Search search = scan(text, wanted);
      ASSERT_EQ(search.origins.size(), 1U) << c.name << " " << before;
      EXPECT_NE(search.origins[0].find(c.origin), Text::npos) << search.origins[0];
      EXPECT_TRUE(search.skips.empty());
      EXPECT_TRUE(scan(text, other).origins.empty());  // control
    }
  }
}

TEST(Decode, EveryPairOfCodecsIsUndone) {
  const Text wanted = needle(3);
  for (const Case& outer : kCases)
    for (const Case& inner : kCases) {
      if (Text(outer.name).starts_with("utf16") || Text(outer.name) == "json") {
        if (Text(inner.name).find("zip") != Text::npos || Text(inner.name) == "zlib" ||
            Text(inner.name) == "zstd" || Text(inner.name) == "utf16le")
          continue;  // text encodings of binary data: not text, so nothing that anybody writes
      }
      const Text text = noise(20, 1) + " " +
                        outer.encode(inner.encode("some words of context, " + wanted + ", and more")) + " ";
      // zstd leaves text this short as it is, so that the inner run is seen from outside as well.
      const std::size_t most = Text(outer.name) == "zstd" || Text(inner.name) == "zstd" ? 2 : 1;
      const std::size_t count = scan(text, wanted).origins.size();
      EXPECT_TRUE(count >= 1 && count <= most) << count << ": " << inner.name << " in " << outer.name;
    }
}

TEST(Decode, OriginsTellEveryLayer) {
  const Text wanted = needle(4);
  const Text text = spaces(100) + gzip(spaces(30) + base64("abc" + wanted)) + noise(10, 1);
  const Search search = scan(text, wanted);
  ASSERT_EQ(search.origins.size(), 1U);
  EXPECT_EQ(search.origins[0], "100-GZIP-30-BASE64-3");
  EXPECT_EQ(search.extents[0].offset_bytes, 100U);
}

TEST(Decode, AJunkPrefixDoesNotHideTheRun) {
  const Text wanted = needle(5);
  for (const char* prefix : {"a", "ab", "abc", "token-", "x/y/z", "KEY_"}) {
    EXPECT_EQ(scan(" " + Text(prefix) + base64("context " + wanted) + " ", wanted).origins.size(), 1U)
        << prefix;
    EXPECT_EQ(scan(" " + Text(prefix) + base64("context " + wanted, kUrl) + " ", wanted).origins.size(), 1U)
        << prefix;
    EXPECT_EQ(scan(" " + Text(prefix) + hex("context " + wanted) + "_z ", wanted).origins.size(), 1U)
        << prefix;
  }
}

// Exactly once for any cut between two segments.
TEST(Decode, AnyCutGivesTheSame) {
  const Text wanted = needle(6);
  for (const Case& c : kCases) {
    const Text text =
        spaces(40) + c.encode("some words of context, " + wanted + ", and more of them") + spaces(40);
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const Search search = scan(text, wanted, {cut, 4096, 65536});
      ASSERT_EQ(search.origins.size(), 1U) << c.name << " cut at " << cut;
    }
  }
}

// A run that is much longer than a segment: pieces, and no needle lost or told twice at any place.
TEST(Decode, LongRunsAreDecodedInPieces) {
  const Text wanted = needle(7);
  const auto blob = [&](std::size_t at) {
    Text plain = noise(60'000, 9);
    plain.replace(at, wanted.size(), wanted);
    return plain;
  };
  const Segments small{8192, 512, 1024};
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    const Text plain = blob(random() % (60'000 - wanted.size()));
    EXPECT_EQ(scan(" " + base64(plain), wanted, small).origins.size(), 1U);
    EXPECT_EQ(scan(base64(plain, kStandard, 76), wanted, small).origins.size(), 1U);
    EXPECT_EQ(scan("\n" + hex(plain), wanted, small).origins.size(), 1U);
    EXPECT_EQ(scan(percent(plain), wanted, small).origins.size(), 1U);
  }
}

TEST(Decode, TenMebibytesOfBase64) {
  Text plain = noise(10U << 20U, 4);
  std::vector<Text> wanted;
  for (std::size_t i = 0; i < 5; ++i) {
    wanted.push_back(needle(100 + i));
    plain.replace(i * 2'600'000 + 1, wanted[i].size(), wanted[i]);
  }
  for (const std::size_t columns : {0, 76}) {
    const Text text = "x " + base64(plain, kStandard, columns);
    for (const Text& one : wanted) EXPECT_EQ(scan(text, one).origins.size(), 1U);
  }
}

TEST(Decode, LongStreamsAreReadFromTheDevice) {
  const Text wanted = needle(8);
  const Text text = spaces(4090) + gzip(noise(3'000'000, 1) + wanted) + spaces(1000);
  props::MemDevice device(ByteVector(as_bytes(text).begin(), as_bytes(text).end()));
  const Search search = scan(text, wanted, {65536, 4096, 65536}, &device);
  ASSERT_EQ(search.origins.size(), 1U);
  EXPECT_EQ(search.origins[0], "4090-GZIP-3000000");
  EXPECT_TRUE(search.skips.empty());
}

TEST(Decode, AStreamInALongRunIsReadFromTheDevice) {
  const Text wanted = needle(9);
  const Text text = " " + base64(gzip(noise(300'000, 1) + wanted), kStandard, 64) + " ";
  props::MemDevice device(ByteVector(as_bytes(text).begin(), as_bytes(text).end()));
  EXPECT_EQ(scan(text, wanted, {65536, 4096, 65536}, &device).origins.size(), 1U);
}

// Residue is broken as a rule: what can be decoded before the break is.
TEST(Decode, DamagedStreamsAreDecodedAsFarAsTheyGo) {
  const Text wanted = needle(10);
  for (const auto encode : {gzip, zlib, zip_member}) {
    Text stream = encode(wanted + noise(200'000, 1));
    EXPECT_EQ(scan(stream.substr(0, 100'000), wanted).origins.size(), 1U);
    std::fill(stream.begin() + 100'000, stream.end(), '\0');
    EXPECT_EQ(scan(stream, wanted).origins.size(), 1U);
  }
}

TEST(Decode, LimitsAreNeverSilent) {
  const Text wanted = needle(11);
  const Search bomb = scan(gzip(Text(40U << 20U, 'a')), wanted);
  EXPECT_FALSE(bomb.skips.empty());
  Text deep = wanted + " some words of context";
  for (int depth = 0; depth < kMaxDecodeDepth; ++depth) deep = base64(deep);
  EXPECT_EQ(scan(deep, wanted).origins.size(), 1U);  // control
  EXPECT_TRUE(scan(deep, wanted).skips.empty());
  const Search deeper = scan(base64(deep), wanted);
  EXPECT_TRUE(deeper.origins.empty());
  EXPECT_FALSE(deeper.skips.empty());
}

TEST(Decode, HostileNestingIsBounded) {
  Text inner = gzip(Text(10U << 20U, 'a'));
  Text many;
  for (int i = 0; i < 40; ++i) many += inner;
  const Search search = scan(gzip(many), needle(12));
  EXPECT_LE(search.buffers, 64U);
  EXPECT_FALSE(search.skips.empty());
}

TEST(Decode, VeryManyStreamsAreBounded) {
  const Text one = gzip("x");
  Text many;
  for (int i = 0; i < 20'000; ++i) many += one;
  const Search search = scan(many, needle(13));
  EXPECT_EQ(search.skips.size(), 1U);
  Text encoded;
  for (int i = 0; i < 20'000; ++i) encoded += base64(one) + " ";
  EXPECT_EQ(scan(encoded, needle(13)).skips.size(), 2U);  // once for each layer, not for each run
  EXPECT_TRUE(scan(many.substr(0, 1000 * one.size()), needle(13)).skips.empty());  // control
}

TEST(Decode, OrdinaryDataIsLeftAlone) {
  const Search random = scan(noise(4U << 20U, 77), "nothing");
  EXPECT_LE(random.buffers, 8U);
  EXPECT_TRUE(random.skips.empty());
  Text words;
  while (words.size() < 100'000) words += "the quick brown fox, sha256 and /usr/share/doc/packages/readme ";
  EXPECT_EQ(scan(words, "nothing").buffers, 0U);
}

TEST(Decode, EmptyAndTinyBuffers) {
  EXPECT_EQ(scan("", "x").buffers, 0U);
  for (const char* tiny : {"P", "PK", "\x1f\x8b", "%", "%4", "\\", "\\u", "\\u00", "x\x9c"})
    EXPECT_EQ(scan(tiny, "x").buffers, 0U);
}

}  // namespace
}  // namespace vacant::scan
