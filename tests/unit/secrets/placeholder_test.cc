#include "vacant/secrets/placeholder.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace vacant::secrets {
namespace {

constexpr std::size_t kKindCount = 19;

std::vector<TokenKind> kinds() {
  std::vector<TokenKind> out;
  for (std::size_t i = 0; i < kKindCount; ++i) out.push_back(static_cast<TokenKind>(i));
  return out;
}

SecretBytes key_of(std::uint8_t fill) {
  SecretBytes key(32);
  for (std::byte& byte : key.expose_mutable()) byte = std::byte{fill++};
  return key;
}

std::string make(const SecretBytes& key, TokenKind kind, std::uint32_t generation = 1) {
  return make_placeholder(key, kind, {"workspace-1", "credential-1", generation}).value();
}

TEST(Placeholder, VerifiesWithItsKeyAndWithNoOther) {
  const SecretBytes key = key_of(1), other = key_of(2);
  for (const TokenKind kind : kinds()) {
    const std::string text = make(key, kind);
    EXPECT_TRUE(verify_placeholder(key, text)) << name(kind);
    EXPECT_FALSE(verify_placeholder(other, text)) << name(kind);
    EXPECT_NE(text, make(other, kind));
  }
}

TEST(Placeholder, AnyChangeOfACharacterBreaksIt) {
  const SecretBytes key = key_of(1);
  for (const TokenKind kind : kinds()) {
    const std::string text = make(key, kind);
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (const char c : {'A', 'B', '7', 'a', 'f', '-', '_', '\0', ' '}) {
        std::string changed = text;
        changed[i] = c;
        EXPECT_EQ(verify_placeholder(key, changed), changed == text) << name(kind) << " at " << i;
      }
    }
    EXPECT_FALSE(verify_placeholder(key, text + "A"));
    EXPECT_FALSE(verify_placeholder(key, std::string_view(text).substr(1)));
    EXPECT_FALSE(verify_placeholder(key, std::string_view(text).substr(0, text.size() - 1)));
  }
  EXPECT_FALSE(verify_placeholder(key, ""));
}

TEST(Placeholder, IsDeterministicAndDiffersByEveryPartOfItsId) {
  const SecretBytes key = key_of(9);
  for (const TokenKind kind : kinds()) {
    const auto with = [&](const PlaceholderId& id) { return make_placeholder(key, kind, id).value(); };
    const std::string text = with({"w", "c", 1});
    EXPECT_EQ(text, with({"w", "c", 1}));
    for (const PlaceholderId& id :
         {PlaceholderId{"w2", "c", 1}, {"w", "c2", 1}, {"w", "c", 2}, {"wc", "c", 1}})
      EXPECT_NE(text, with(id)) << name(kind);
  }
}

TEST(Placeholder, HasTheShapeOfItsKind) {
  const SecretBytes key = key_of(3);
  EXPECT_TRUE(make(key, TokenKind::kAwsAccessKeyId).starts_with("AKIA"));
  EXPECT_EQ(make(key, TokenKind::kAwsAccessKeyId).size(), 20U);
  EXPECT_EQ(make(key, TokenKind::kAwsSecretKey).size(), 40U);
  EXPECT_EQ(make(key, TokenKind::kAnthropic).size(), 108U);
  EXPECT_EQ(make(key, TokenKind::kOpenAi).size(), 164U);
  EXPECT_EQ(make(key, TokenKind::kGithubClassic).size(), 40U);
  EXPECT_EQ(make(key, TokenKind::kGithubFineGrained).size(), 93U);
  EXPECT_EQ(make(key, TokenKind::kGitlab).size(), 26U);
  EXPECT_EQ(make(key, TokenKind::kNpm).size(), 40U);
  EXPECT_EQ(make(key, TokenKind::kHuggingFace).size(), 37U);
  EXPECT_EQ(make(key, TokenKind::kGoogleApi).size(), 39U);
  EXPECT_EQ(make(key, TokenKind::kOpenRouter).size(), 73U);
}

// The checksum of GitHub and npm tokens, written down here a second time.
bool checksum_is_valid(std::string_view token) {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uint64_t value = 0;
  for (const char c : token.substr(token.size() - 6)) value = value * 62 + kAlphabet.find(c);
  return value == crc32_ieee(as_bytes(token.substr(4, 30)));
}

TEST(Placeholder, NeverHasAValidChecksum) {
  const SecretBytes key = key_of(4);
  for (std::uint32_t generation = 0; generation < 500; ++generation)
    for (const TokenKind kind : {TokenKind::kGithubClassic, TokenKind::kNpm})
      EXPECT_FALSE(checksum_is_valid(make(key, kind, generation)));
  // Control: a token with the right checksum is told apart.
  const std::string body = "abcdefghijklmnopqrstuvwxyz0123";
  std::string tail(6, '0');
  std::uint32_t crc = crc32_ieee(as_bytes(body));
  for (std::size_t i = 6; i-- > 0; crc /= 62)
    tail[i] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[crc % 62];
  EXPECT_TRUE(checksum_is_valid("ghp_" + body + tail));
}

TEST(Placeholder, NoneIsASubstringOfAnother) {
  const SecretBytes key = key_of(5);
  std::vector<std::string> all;
  for (const TokenKind kind : kinds())
    for (std::uint32_t generation = 1; generation <= 8; ++generation)
      all.push_back(make(key, kind, generation));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j)
      EXPECT_EQ(all[i].find(all[j]) != std::string::npos, i == j) << i << " " << j;
}

TEST(Placeholder, NamesRoundTrip) {
  for (const TokenKind kind : kinds()) EXPECT_EQ(token_kind_from_name(name(kind)), kind);
  EXPECT_EQ(token_kind_from_name("no-such-kind"), std::nullopt);
}

TEST(Placeholder, RefusesBadIdsAndKeys) {
  const SecretBytes key = key_of(6);
  EXPECT_TRUE(make_placeholder(key, TokenKind::kGeneric, {std::string(64, 'w'), "c", 1}).has_value());
  for (const char* bad : {"", "with space", "line\n"}) {
    EXPECT_FALSE(make_placeholder(key, TokenKind::kGeneric, {bad, "c", 1}).has_value());
    EXPECT_FALSE(make_placeholder(key, TokenKind::kGeneric, {"w", bad, 1}).has_value());
  }
  EXPECT_FALSE(make_placeholder(key, TokenKind::kGeneric, {std::string(65, 'w'), "c", 1}).has_value());
  EXPECT_FALSE(make_placeholder(SecretBytes(31), TokenKind::kGeneric, {"w", "c", 1}).has_value());
  EXPECT_FALSE(verify_placeholder(SecretBytes(), make(key, TokenKind::kGeneric)));
}

TEST(PlaceholderKey, RoundTripsAndIsStrict) {
  const SecretBytes key = key_of(7);
  const std::string text = serialise_placeholder_key(key);
  EXPECT_EQ(text.size(), 65U);
  const auto parsed = parse_placeholder_key(as_bytes(text));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(to_hex(parsed->expose()), to_hex(key.expose()));
  EXPECT_TRUE(parse_placeholder_key(as_bytes(text.substr(0, 64))).has_value());
  EXPECT_TRUE(parse_placeholder_key(as_bytes(text.substr(0, 64) + "\r\n")).has_value());
  EXPECT_FALSE(parse_placeholder_key(as_bytes(text + "\n")).has_value());
  EXPECT_FALSE(parse_placeholder_key(as_bytes(text.substr(0, 63))).has_value());
  EXPECT_FALSE(parse_placeholder_key(as_bytes("g" + text.substr(1))).has_value());
  EXPECT_FALSE(parse_placeholder_key({}).has_value());
}

}  // namespace
}  // namespace vacant::secrets
