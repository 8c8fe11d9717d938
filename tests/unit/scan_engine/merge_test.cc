// One secret is one finding, however many ways lead to it.
#include <gtest/gtest.h>

#include "encoders.h"
#include "fixtures.h"
#include "vacant/props/tokens.h"

namespace vacant::scan {
namespace {

Report scan_text(const std::string& text, const secrets::FingerprintFile* fingerprints) {
  props::MemDevice device(kMiB);
  EXPECT_TRUE(device.write(64 * kKiB, as_bytes(text)));
  ScanOptions options;
  options.fingerprints = fingerprints;
  auto report = scan(device, options);
  EXPECT_TRUE(report);
  return std::move(*report);
}

TEST(OneFinding, ForAListedSecretInItsEncodedForm) {
  ASSERT_TRUE(init_crypto());
  const std::string value = "fake/value+of:a=secret&with?signs";
  std::vector<secrets::NamedSecret> named;
  named.push_back({"one", SecretBytes::copy_of(as_bytes(value))});
  const auto fingerprints = secrets::make_fingerprints(named);
  ASSERT_TRUE(fingerprints);
  using namespace vacant::testing;
  for (const std::string& text : {value, base64(value), hex(value), percent(value), json_unicode(value)}) {
    const Report report = scan_text("x: " + text + " end", &*fingerprints);
    EXPECT_EQ(report.summary.known_secrets, 1U) << text.size();
  }
  const Report twice = scan_text(value + " and " + base64(value) + "\n", &*fingerprints);
  EXPECT_EQ(twice.summary.known_secrets, 2U) << "two occurrences are two";
}

TEST(OneFinding, ForATokenBesideEscapes) {
  std::mt19937_64 random(1);
  const std::string token = props::make_token("github-pat-classic", random);
  const Report one =
      scan_text(R"({"a":"\u0041\u0042\u0043","t":")" + token + R"(","b":"\u0041\u0042\u0043"})", nullptr);
  EXPECT_EQ(one.summary.tokens, 1U);
  const std::string other = props::make_token("github-pat-classic", random);
  const Report two = scan_text(token + "\n" + other + "\n", nullptr);
  EXPECT_EQ(two.summary.tokens, 2U);
}

}  // namespace
}  // namespace vacant::scan
