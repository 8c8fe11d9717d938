// Keys by the programs that people make them with.
#include "support.h"

namespace vacant::scan {
namespace {

class Keys : public ::testing::Test {
 protected:
  std::string openssl(std::vector<std::string> words) {
    words.insert(words.begin(), "openssl");
    return output_of(words);
  }
  std::string ssh_key(const std::string& type, const std::string& password) {
    const std::string path = dir_.file("key-" + type + std::to_string(++count_));
    output_of({"ssh-keygen", "-q", "-t", type, "-N", password, "-f", path});
    return testing::read_text(path);
  }
  testing::TempDir dir_;
  int count_ = 0;
};

std::string with_crlf(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

TEST_F(Keys, PemOfEveryKind) {
  const std::vector<std::string> keys = {
      openssl({"genpkey", "-algorithm", "ed25519"}),
      openssl({"genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"}),
      openssl({"ecparam", "-name", "prime256v1", "-genkey", "-noout"}),
      openssl({"genrsa", "-traditional", "2048"})};
  for (const std::string& key : keys) {
    expect_found(scan_with(key), "pem-private-key", Confidence::kProven);
    expect_found(scan_with(with_crlf(key)), "pem-private-key", Confidence::kProven);
    std::string broken = key;
    broken[broken.find('\n') + 1] = '*';  // no base64 any more
    expect_missing(scan_with(broken), "pem-private-key");
  }
  const Report inside_text = scan_with("config:\n  key: |\n    x\n" + keys[0] + "more text\n", kPlace + 777);
  EXPECT_EQ(inside_text.summary.private_keys, 1U) << "found anywhere, not at block starts only";
}

TEST_F(Keys, EncryptedOnesAreToldToBe) {
  const std::string pkcs8 = openssl({"genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:fake"});
  const Report report = scan_with(pkcs8);
  expect_found(report, "pem-private-key", Confidence::kProven);
  EXPECT_NE(find_rule(report, "pem-private-key")->detail.find("encrypted"), std::string::npos);
  expect_found(scan_with(openssl({"genrsa", "-traditional", "-aes128", "-passout", "pass:fake", "2048"})),
               "pem-private-key", Confidence::kLikely);
}

TEST_F(Keys, OpenSshByItsCheckNumbers) {
  expect_found(scan_with(ssh_key("ed25519", "")), "openssh-private-key", Confidence::kProven);
  expect_found(scan_with(ssh_key("ecdsa", "")), "openssh-private-key", Confidence::kProven);
  expect_found(scan_with(ssh_key("ed25519", "fake password")), "openssh-private-key", Confidence::kLikely);
}

TEST_F(Keys, PuttyByItsFieldsAndCountedLines) {
  if (testing::left_out("puttygen")) GTEST_SKIP() << "no puttygen here";
  testing::write_text(dir_.file("none"), "");
  output_of(
      {"puttygen", "-q", "-t", "ed25519", "--new-passphrase", dir_.file("none"), "-o", dir_.file("ppk")});
  const std::string key = testing::read_text(dir_.file("ppk"));
  expect_found(scan_with(key), "putty-private-key", Confidence::kLikely);
  const std::size_t private_part = key.find("Private-Lines");
  ASSERT_NE(private_part, std::string::npos);
  expect_missing(scan_with(key.substr(0, private_part)), "putty-private-key");
}

TEST_F(Keys, PublicKeysAndCertificatesAreNone) {
  testing::write_text(dir_.file("key"), openssl({"genpkey", "-algorithm", "ed25519"}));
  const std::string certificate =
      openssl({"req", "-x509", "-key", dir_.file("key"), "-subj", "/CN=fake", "-days", "1"});
  for (const std::string& text : {openssl({"pkey", "-in", dir_.file("key"), "-pubout"}), certificate}) {
    EXPECT_EQ(scan_with(text).summary.private_keys, 0U);
    EXPECT_EQ(scan_with(text).verdict, Verdict::kResidue)
        << "the control: its bytes are unexplained all the same";
  }
}

TEST_F(Keys, AKeyThatIsCutOffIsStillAFinding) {
  const std::string key = openssl({"genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"});
  EXPECT_NE(find_rule(scan_with(key.substr(0, 900)), "private-key-cut-off"), nullptr);
  EXPECT_EQ(scan_with("-----BEGIN PRIVATE KEY-----\nsoon\n").summary.private_keys, 0U)
      << "a heading in a manual";
}

TEST_F(Keys, PgpByItsArmourChecksum) {
  if (testing::left_out("gpg")) GTEST_SKIP() << "no gpg here";
  testing::RunOptions options;
  options.environment = {"GNUPGHOME=" + dir_.path().string()};
  output_of({"gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "",
             "--quick-gen-key", "fake@invalid", "ed25519", "sign", "never"},
            options);
  const std::string key = output_of({"gpg", "--batch", "--armor", "--export-secret-keys"}, options);
  expect_found(scan_with(key), "pgp-private-key", Confidence::kProven);
  const std::string public_key = output_of({"gpg", "--batch", "--armor", "--export"}, options);
  EXPECT_EQ(scan_with(public_key).summary.private_keys, 0U);
}

// Thousands of headings in one segment must not cost quadratic time: the test's own time-out is the bound.
TEST_F(Keys, HeadingsWithoutEndAreBounded) {
  std::string text;
  while (text.size() < 3 * kMiB) text += "-----BEGIN PRIVATE KEY-----\n";
  EXPECT_EQ(scan_with(text).verdict, Verdict::kResidue);
}

}  // namespace
}  // namespace vacant::scan
