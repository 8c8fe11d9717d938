#include "vacant/scan/known.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

#include "known/index.h"

namespace vacant::scan {
namespace {

std::string fake_secret(std::size_t size, std::uint64_t seed) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/&\"<";
  std::mt19937_64 random(seed);
  std::string out;
  while (out.size() < size) out += kAlphabet[random() % kAlphabet.size()];
  return out;
}

ByteVector noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ByteVector out(size);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

struct Collected final : FindingSink {
  std::vector<Finding> findings;
  std::vector<std::string> matched;
  std::vector<Extent> skips;
  void found(Finding finding, ByteSpan bytes) override {
    findings.push_back(std::move(finding));
    matched.emplace_back(as_text(bytes));
  }
  void skipped(const Extent& extent, std::string_view) override { skips.push_back(extent); }
  void nested(const Buffer&) override { FAIL() << "the known-answer detector decodes nothing"; }
};

std::unique_ptr<Detector> detector(const std::vector<std::pair<std::string, std::string>>& secrets) {
  std::vector<secrets::NamedSecret> list;
  for (const auto& [label, value] : secrets) list.push_back({label, SecretBytes::copy_of(as_bytes(value))});
  const auto file = secrets::make_fingerprints(list).value();
  // Through the file's text, as a user's scan does.
  const auto parsed = secrets::parse_fingerprints(as_bytes(secrets::serialise(file))).value();
  return make_known_answer_factory(parsed).value()->make().value();
}

// Scans with the owned part cut at `cut`, each half with all of the rest as context.
Collected scan_cut(Detector& det, ByteSpan bytes, std::size_t cut) {
  Collected out;
  for (const auto& [begin, end] : {std::pair{std::size_t{0}, cut}, std::pair{cut, bytes.size()}}) {
    Buffer buffer;
    buffer.bytes = bytes;
    buffer.owned_begin = begin;
    buffer.owned_end = end;
    buffer.origin.device_offset_bytes = 1 << 20;
    det.scan(buffer, out);
  }
  return out;
}

void plant(ByteVector& bytes, std::size_t at, ByteSpan what) {
  std::ranges::copy(what, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

class EveryForm : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryForm, IsFoundOnceAtEveryOffset) {
  const std::string value = fake_secret(GetParam(), GetParam());
  const auto det = detector({{"mine", value}});
  const auto other = detector({{"other", fake_secret(GetParam(), 999)}});
  for (const auto& form : secrets::encoded_forms(as_bytes(value))) {
    const ByteSpan bytes = form.bytes.expose();
    for (std::size_t offset = 0; offset < 64; ++offset) {
      ByteVector data = noise(64 + bytes.size() + 40, offset);
      plant(data, offset, bytes);
      const Collected out = scan_cut(*det, data, data.size());
      ASSERT_EQ(out.findings.size(), 1U) << form.name << " at " << offset;
      EXPECT_EQ(out.findings[0].extent, (Extent{(1 << 20) + offset, bytes.size()}));
      EXPECT_EQ(out.findings[0].detail, "secret mine, form " + form.name);
      EXPECT_EQ(out.matched[0], as_text(bytes));
      EXPECT_TRUE(scan_cut(*other, data, data.size()).findings.empty());  // control: not what was asked for
    }
  }
}

TEST_P(EveryForm, IsFoundOnceAcrossEveryCut) {
  const std::string value = fake_secret(GetParam(), GetParam() + 7);
  const auto det = detector({{"mine", value}});
  for (const auto& form : secrets::encoded_forms(as_bytes(value))) {
    ByteVector data = noise(form.bytes.size() + 20, 5);
    plant(data, 9, form.bytes.expose());
    for (std::size_t cut = 0; cut <= data.size(); ++cut) {
      const Collected out = scan_cut(*det, data, cut);
      ASSERT_EQ(out.findings.size(), 1U) << form.name << " cut at " << cut;
      EXPECT_EQ(out.findings[0].extent.offset_bytes, (1U << 20) + 9);
    }
  }
}

// At both ends of the buffer, and not at all when a byte is missing or changed.
TEST_P(EveryForm, MustBeWholeAndRight) {
  const std::string value = fake_secret(GetParam(), GetParam() + 8);
  const auto det = detector({{"mine", value}});
  for (const auto& form : secrets::encoded_forms(as_bytes(value))) {
    ByteVector data(form.bytes.expose().begin(), form.bytes.expose().end());
    EXPECT_EQ(scan_cut(*det, data, data.size()).findings.size(), 1U) << form.name;
    EXPECT_TRUE(scan_cut(*det, ByteSpan(data).first(data.size() - 1), data.size() - 1).findings.empty());
    EXPECT_TRUE(scan_cut(*det, ByteSpan(data).subspan(1), data.size() - 1).findings.empty());
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] ^= std::byte{1};
      EXPECT_TRUE(scan_cut(*det, data, data.size()).findings.empty()) << form.name << " " << i;
      data[i] ^= std::byte{1};
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, EveryForm, testing::Values(8, 10, 14, 20, 22, 38, 40, 108));

TEST(Known, ManySecretsOfManyLengthsAreAllFound) {
  std::vector<std::pair<std::string, std::string>> list;
  for (std::size_t i = 0; i < 300; ++i)
    list.emplace_back(
        "s" + std::to_string(i),
        std::string(i % 2 == 0 ? "ghp_" : "eyJhbGciOiJIUzI1NiIsInR5cCI6") + fake_secret(20 + i % 50, i));
  const auto det = detector(list);
  ByteVector data = noise(1 << 20, 3);
  for (std::size_t i = 0; i < list.size(); ++i) plant(data, 100 + i * 3001, as_bytes(list[i].second));
  const Collected out = scan_cut(*det, data, 500'000);
  ASSERT_EQ(out.findings.size(), list.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    EXPECT_EQ(out.findings[i].detail, "secret s" + std::to_string(i) + ", form raw");
}

TEST(Known, ContextIsNotOwned) {
  const std::string value = fake_secret(40, 1);
  const auto det = detector({{"mine", value}});
  ByteVector data = noise(400, 1);
  plant(data, 10, as_bytes(value));
  plant(data, 100, as_bytes(value));
  plant(data, 300, as_bytes(value));
  Buffer buffer;
  buffer.bytes = data;
  buffer.owned_begin = 50;
  buffer.owned_end = 300;
  Collected out;
  det->scan(buffer, out);
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_EQ(out.findings[0].extent.offset_bytes, 100U);
}

TEST(Known, AFormThatBeginsAnotherIsReportedOnce) {
  const auto det = detector({{"mine", "password7&"}});
  const std::string html = "xxxxpassword7&amp;yyyy";
  const Collected out = scan_cut(*det, as_bytes(html), html.size());
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_EQ(out.findings[0].detail, "secret mine, form html");
}

TEST(Known, AFormInsideAnotherIsReportedOnceAcrossAnyCut) {
  const auto det = detector({{"mine", "/password7"}});
  const std::string json = "xxxxxxxxxxxxxxxxxxxxxx\\/password7yyyy";
  for (std::size_t cut = 0; cut <= json.size(); ++cut) {
    const Collected out = scan_cut(*det, as_bytes(json), cut);
    ASSERT_EQ(out.findings.size(), 1U) << cut;
    EXPECT_EQ(out.findings[0].detail, "secret mine, form json-slash");
  }
  const std::string twice = "xx/password7/password7";  // control: two of them
  EXPECT_EQ(scan_cut(*det, as_bytes(twice), 5).findings.size(), 2U);
}

TEST(Known, Utf16IsFoundOnceInBothOrders) {
  const std::string value = fake_secret(24, 2);
  const auto det = detector({{"mine", value}});
  for (const bool big_endian : {false, true}) {
    std::string wide;
    for (const char c : "x=" + value + ";") wide += big_endian ? std::string{'\0', c} : std::string{c, '\0'};
    EXPECT_EQ(scan_cut(*det, as_bytes(wide), wide.size()).findings.size(), 1U);
  }
}

TEST(Known, NothingListedFindsNothing) {
  const auto det = detector({});
  const ByteVector data = noise(5000, 1);
  EXPECT_TRUE(scan_cut(*det, data, 100).findings.empty());
  EXPECT_TRUE(scan_cut(*det, {}, 0).findings.empty());
}

TEST(Known, DamagedFilterIsRefused) {
  std::vector<secrets::NamedSecret> list;
  list.push_back({"a", SecretBytes::copy_of(as_bytes(fake_secret(40, 1)))});
  auto file = secrets::make_fingerprints(list).value();
  EXPECT_TRUE(make_known_answer_factory(file).has_value());
  file.secrets[0].forms[0].grams[3] ^= 1;
  EXPECT_FALSE(make_known_answer_factory(file).has_value());
}

// Data full of a secret's first half must cost no more than the budget, and must never pass in silence.
TEST(Known, NearMissesAreBoundedAndReported) {
  const std::string value = fake_secret(secrets::kMaxSecretBytes, 1);
  const auto det = detector({{"mine", value}});
  std::string data;
  while (data.size() < (1U << 20)) data += value.substr(0, 19);
  data += std::string(secrets::kMaxSecretBytes, 'x');
  Collected out = scan_cut(*det, as_bytes(data), data.size());
  EXPECT_TRUE(out.findings.empty());
  EXPECT_EQ(out.skips.size(), 1U);
  out = scan_cut(*det, as_bytes(std::string_view(data).substr(1 << 20)),
                 100);  // control: nothing to complain about
  EXPECT_TRUE(out.skips.empty());
}

}  // namespace
}  // namespace vacant::scan
