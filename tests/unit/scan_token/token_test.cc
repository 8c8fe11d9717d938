#include "vacant/scan/token.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "vacant/props/tokens.h"

namespace vacant::scan {
namespace {

struct Seen {
  std::string rule;
  std::uint64_t at = 0;
  std::uint64_t length = 0;
  Confidence confidence = Confidence::kPossible;
};
class Sink final : public FindingSink {
 public:
  void found(Finding finding, ByteSpan matched) override {
    EXPECT_EQ(matched.size(), finding.length_bytes);
    seen.push_back(
        {finding.rule, finding.origin.device_offset_bytes, finding.length_bytes, finding.confidence});
  }
  void skipped(const Extent&, std::string_view reason) override { ADD_FAILURE() << reason; }
  void nested(const Buffer&) override {}
  std::vector<Seen> seen;
};

Detector& detector() {
  static const auto made = make_token_factory().value()->make();
  return **made;
}

std::vector<Seen> scan_part(std::string_view text, std::size_t begin, std::size_t end) {
  Sink sink;
  Buffer buffer;
  buffer.bytes = as_bytes(text);
  buffer.owned_begin = begin;
  buffer.owned_end = end;
  detector().scan(buffer, sink);
  return sink.seen;
}
std::vector<Seen> scan(std::string_view text) { return scan_part(text, 0, text.size()); }

int count(const std::vector<Seen>& seen, std::string_view rule, std::size_t at, std::size_t length) {
  int out = 0;
  for (const Seen& one : seen) out += one.rule == rule && one.at == at && one.length == length ? 1 : 0;
  return out;
}

TEST(Token, EveryRuleIsFoundInSeveralSurroundings) {
  std::mt19937_64 random(1);
  const std::pair<std::string, std::string> surroundings[] = {{"", ""},
                                                              {"text \"", "\" text"},
                                                              {"\n", "\n"},
                                                              {std::string(5, '\0'), std::string(5, '\0')},
                                                              {"\xff\x80", "\xff"},
                                                              {"a\\n", "\\n"}};
  for (const TokenRuleInfo& rule : token_rules())
    for (int round = 0; round < 50; ++round)
      for (const auto& [before, behind] : surroundings) {
        const auto made = props::make_token_text(rule.id, random);
        ASSERT_FALSE(made.text.empty()) << rule.id;
        const auto seen = scan(before + made.text + behind);
        EXPECT_EQ(count(seen, rule.id, before.size() + made.token_at, made.token_length), 1)
            << rule.id << " behind " << before.size() << " bytes; " << seen.size() << " found";
        if (rule.checksum) {
          for (const Seen& one : seen)
            if (one.rule == rule.id) {
              EXPECT_EQ(one.confidence, Confidence::kProven) << rule.id;
            }
        }
      }
}

// Forms of one fixed length and one alphabet to the end.
TEST(Token, NearMissesAreNotFound) {
  std::mt19937_64 random(2);
  for (const std::string_view rule :
       {"github-pat-classic", "npm-access-token", "cloudflare-token", "age-secret-key", "gitlab-pat",
        "groq-key", "google-api-key", "huggingface-token", "digitalocean-token", "sendgrid-key",
        "anthropic-api-key", "aws-access-key-id", "twilio-api-key", "shopify-token", "telegram-bot-token",
        "openai-key"}) {
    const std::string token = props::make_token(rule, random);
    ASSERT_EQ(count(scan(token), rule, 0, token.size()), 1) << rule;
    EXPECT_TRUE(scan(token.substr(0, token.size() - 1)).empty()) << rule << ": one less";
    EXPECT_TRUE(scan(token + "A").empty()) << rule << ": one more";
    EXPECT_TRUE(scan("x" + token).empty()) << rule << ": glued in front";
    std::string foreign = token;
    foreign[token.size() - 5] = '!';
    EXPECT_TRUE(scan(foreign).empty()) << rule << ": foreign character";
  }
}

TEST(Token, WrongChecksumStaysAFindingOfLowerConfidence) {
  std::mt19937_64 random(3);
  for (const std::string_view rule :
       {"github-pat-classic", "npm-access-token", "cloudflare-token", "age-secret-key"}) {
    std::string token = props::make_token(rule, random);
    token[22] = token[22] == 'Q' ? 'P' : 'Q';
    const auto seen = scan(token);
    ASSERT_EQ(seen.size(), 1U) << rule;
    EXPECT_EQ(seen[0].confidence, Confidence::kPossible);
  }
}

TEST(Token, RunsOfOneCharacterAreNoToken) {
  for (const std::string_view head : {"gh"
                                      "p_",
                                      "np"
                                      "m_"}) {
    EXPECT_TRUE(scan(std::string(head) + std::string(36, 'x')).empty());
  }
  EXPECT_TRUE(scan("AK"
                   "IA" +
                   std::string(16, 'A'))
                  .empty());
}

TEST(Token, RandomBytesHoldNone) {
  std::mt19937_64 random(4);
  std::string bytes(64 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, 8);
  }
  EXPECT_TRUE(scan(bytes).empty());
  const std::string token = "\n" + props::make_token("gitlab-pat", random) + "\n";  // control
  bytes.replace(12'345'678, token.size(), token);
  EXPECT_EQ(scan(bytes).size(), 1U);
}

TEST(Token, TwoNeighboursReportEachMatchOnce) {
  std::mt19937_64 random(5);
  for (const std::string_view rule :
       {"github-pat-classic", "jwt", "aws-secret-access-key", "url-with-password", "env-secret",
        "gcp-service-account", "openai-key", "terraform-cloud-token"}) {
    const auto made = props::make_token_text(rule, random);
    const std::string text = std::string(700, ' ') + "\n" + made.text + "\n" + std::string(700, ' ');
    const std::size_t at = 701 + made.token_at;
    for (std::size_t cut = 600; cut < text.size() - 600; ++cut) {
      const int left = count(scan_part(text, 0, cut), rule, at, made.token_length);
      const int right = count(scan_part(text, cut, text.size()), rule, at, made.token_length);
      ASSERT_EQ(left, cut > at ? 1 : 0) << rule << " cut " << cut;
      ASSERT_EQ(right, cut > at ? 0 : 1) << rule << " cut " << cut;
    }
  }
}

TEST(Token, DocumentListsEveryRule) {
  std::ifstream file(std::string(VACANT_SOURCE_DIR) + "/docs/formats/rules.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::size_t rows = 0;
  for (std::size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) ++rows;
  EXPECT_EQ(rows, token_rules().size());
  for (const TokenRuleInfo& rule : token_rules()) {
    const std::string row = "| `" + rule.id + "` | " + rule.description + " | ";
    EXPECT_NE(text.find(row), std::string::npos) << rule.id;
  }
}

}  // namespace
}  // namespace vacant::scan
