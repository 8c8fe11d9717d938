// Credential files, archives and repositories.
#include <filesystem>
#include <random>

#include "encoders.h"
#include "support.h"
#include "vacant/scan/artefact.h"

namespace vacant::scan {
namespace {

std::string value(std::size_t size, std::uint64_t seed) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::mt19937_64 random(seed);
  std::string out = "a1B";
  while (out.size() < size) out += kAlphabet[random() % kAlphabet.size()];
  return out;
}

TEST(CredentialFiles, EachIsFoundAtABlocksStart) {
  using vacant::testing::base64;
  const std::vector<std::pair<std::string, std::string>> files = {
      {"env-file", "# service\nPORT=8080\nexport API_TOKEN=" + value(32, 1) + "\nNAME=fake\n"},
      {"env-file", "DATABASE_URL=postgres://fake:" + value(16, 2) + "@db.invalid/app\nDEBUG=1\n"},
      {"aws-credentials-file", "[default]\naws_access_key_id = AK" + value(16, 3) +
                                   "\naws_secret_access_key = " + value(40, 4) + "\n"},
      {"netrc", "machine git.invalid login fake password " + value(20, 5) + "\n"},
      {"git-credentials", "https://fake:" + value(20, 6) + "@git.invalid\n"},
      {"npmrc", "//registry.invalid/:_authToken=" + value(36, 7) + "\n"},
      {"pgpass", "db.invalid:5432:app:fake:" + value(16, 8) + "\n"},
      {"docker-config",
       "{\n  \"auths\": {\"registry.invalid\": {\"auth\": \"" + base64("fake:" + value(12, 9)) + "\"}}\n}\n"},
      {"kubeconfig",
       "apiVersion: v1\nkind: Config\nclusters: []\nusers:\n- name: fake\n  user:\n    token: " +
           value(40, 10) + "\n"},
      {"gcp-user-credentials", "{\n  \"client_id\": \"fake\",\n  \"client_secret\": \"" + value(24, 11) +
                                   "\",\n  \"refresh_token\": \"" + value(60, 12) +
                                   "\",\n  \"type\": \"authorized_user\"\n}\n"},
      {"env-file", "port=8080\napi_token='" + value(32, 13) + "' # made up\n"},
      {"env-file", "PORT=1\nTLS_SECRET=\"" + value(40, 14) + "\n" + value(40, 15) + "\"\nNAME=fake\n"},
      {"azure-token-cache", "{\n \"AccessToken\": {\"a\": {\"home_account_id\": \"fake\", \"secret\": \"" +
                                value(80, 16) + "\"}},\n \"RefreshToken\": {}\n}\n"},
      {"azure-token-cache", "[\n {\"tokenType\": \"Bearer\", \"accessToken\": \"" + value(60, 17) +
                                "\", \"refreshToken\": \"" + value(60, 18) + "\"}\n]\n"}};
  for (const auto& [rule, text] : files) {
    const Report report = scan_with(text);
    ASSERT_NE(find_rule(report, rule), nullptr) << rule;
    EXPECT_EQ(find_rule(report, rule)->origin.device_offset_bytes, kPlace) << rule;
    EXPECT_GE(report.summary.credential_files, 1U) << rule;
  }
}

// All of the first sectors may be text without one ASCII word.
TEST(CredentialFiles, BehindALongCommentInAnotherScript) {
  std::string comment = "#";
  while (comment.size() < 4000) comment += " \u043f\u0430\u0440\u043e\u043b\u044c";
  expect_found(scan_with(comment + "\nPORT=8080\nAPI_TOKEN=" + value(32, 1) + "\n"), "env-file",
               Confidence::kLikely);
  expect_missing(scan_with(comment + "\nPORT=8080\nAPI_HOST=fake.invalid\n"), "env-file");
}

TEST(CredentialFiles, TheSameShapesWithoutASecretAreNone) {
  const std::vector<std::string> texts = {
      "# service\nPORT=8080\nNAME=fake\nAPI_TOKEN=$API_TOKEN\n",
      "port=8080\napi_token=none\nsecret_file=/run/secrets/x1\n",
      "PORT=1\nTLS_SECRET=\"plain words\nand more of them\"\nNAME=fake\n",
      "{\"AccessToken\": {}, \"RefreshToken\": {}, \"home_account_id\": \"\", \"secret\": \"short\"}\n",
      "API_TOKEN=\nSECRET_FILE=/run/secrets/x\nPATH=/usr/bin\n",
      "#!/bin/sh\nset -e\nTOKEN=$(cat file)\n",
      "[default]\nregion = eu-west-1\n",
      "machine readable output\n",
      "https://example.invalid/a\nhttps://example.invalid/b\n",
      "//registry.invalid/:_authToken=${NPM_TOKEN}\n",
      "std::vector<std::string> names;\n",
      "e-m:32:64-p270:32-p271:32-i64-f80\n",
      "PASSWORD_LABEL=\\u30D1\\u30B9\\u30EF\\u30FC\\u30C9\nOTHER=text\n",
      "{\n  \"auths\": {}\n}\n",
      "apiVersion: v1\nkind: Config\nclusters: []\nusers: []\n",
      "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"};
  for (const std::string& text : texts) EXPECT_EQ(scan_with(text).summary.credential_files, 0U) << text;
}

TEST(CredentialFiles, InsideAnArchiveToo) {
  const std::string text = "PORT=8080\nAPI_TOKEN=" + value(32, 20) + "\n";
  const Report report = scan_with(vacant::testing::gzip(text));
  const Finding* finding = find_rule(report, "env-file");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(to_string(finding->origin), std::to_string(kPlace) + "-GZIP-0");
}

TEST(Archives, AreToldByTheirHeaders) {
  using namespace vacant::testing;
  const std::string text(5000, 'a');
  expect_found(scan_with(gzip(text)), "gzip", Confidence::kProven);
  expect_found(scan_with(zstd(text)), "zstd", Confidence::kLikely);
  expect_found(scan_with(zip(text)), "zip", Confidence::kProven);
  std::string broken = gzip(text);
  broken[3] = '\xff';
  expect_missing(scan_with(broken), "gzip");
  broken = zip(text);
  broken[8] = '\x63';
  broken[9] = '\x63';
  expect_missing(scan_with(broken), "zip");
}

TEST(Git, ObjectsPacksAndIndexes) {
  const testing::TempDir dir;
  const std::string repository = dir.file("repository");
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"git", "-C", repository, "-c", "user.name=fake", "-c", "user.email=fake@invalid"});
    return output_of(words);
  };
  std::filesystem::create_directory(repository);
  git({"init", "-q"});
  testing::write_text(repository + "/file", std::string(3000, 'x') + "\n");
  git({"add", "."});
  git({"commit", "-q", "-m", "first"});
  std::size_t objects = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(repository + "/.git/objects")) {
    if (!entry.is_regular_file()) continue;
    ++objects;
    expect_found(scan_with(testing::read_text(entry.path().string())), "git-object", Confidence::kProven);
  }
  EXPECT_EQ(objects, 3U);
  git({"gc", "-q"});
  for (const auto& entry : std::filesystem::directory_iterator(repository + "/.git/objects/pack")) {
    const std::string bytes = testing::read_text(entry.path().string());
    if (entry.path().extension() == ".pack") expect_found(scan_with(bytes), "git-pack", Confidence::kProven);
    if (entry.path().extension() == ".idx")
      expect_found(scan_with(bytes), "git-pack-index", Confidence::kProven);
  }
  expect_missing(scan_with(vacant::testing::deflate_with(std::string(3000, 'x'), 15)), "git-object");
}

// A record of LevelDB's log: masked CRC, length, type, payload.
std::string leveldb_record(const std::string& payload) {
  std::string body = std::string(1, '\x01') + payload;
  const std::uint32_t crc = ~crc32c_raw(~0U, as_bytes(body));
  const std::uint32_t masked = ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
  std::string out(6, '\0');
  for (std::size_t i = 0; i < 4; ++i) out[i] = static_cast<char>(masked >> (8 * i));
  out[4] = static_cast<char>(payload.size());
  out[5] = static_cast<char>(payload.size() >> 8U);
  return out + body;
}

TEST(LevelDb, ByItsRecordChecksum) {
  expect_found(scan_with(leveldb_record(std::string(200, 'p'))), "leveldb-log", Confidence::kProven);
  expect_found(scan_with(leveldb_record("xxleveldb.BytewiseComparatoryy")), "leveldb-manifest",
               Confidence::kProven);
  std::string broken = leveldb_record(std::string(200, 'p'));
  broken[50] ^= 1;
  expect_missing(scan_with(broken), "leveldb-log");
}

TEST(Carve, SavesWhatWasFoundForItsOwnerOnly) {
  const testing::TempDir dir;
  const std::string text = "PORT=8080\nAPI_TOKEN=" + value(32, 30) + "\n";
  props::MemDevice device(2 * kMiB);
  ASSERT_TRUE(device.write(kMiB, as_bytes(text)));
  const auto report = scan(device, {});
  ASSERT_TRUE(report);
  const auto files = carve(device, report->findings, dir.file("out"));
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(testing::read_text(dir.file("out/" + files->front())), text);
  EXPECT_EQ(std::filesystem::status(dir.file("out")).permissions(), std::filesystem::perms(0700));
  EXPECT_EQ(std::filesystem::status(dir.file("out/" + files->front())).permissions(),
            std::filesystem::perms(0600));
  std::filesystem::create_directory(dir.file("open"));
  std::filesystem::permissions(dir.file("open"), std::filesystem::perms(0755));
  const auto refused = carve(device, report->findings, dir.file("open"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kPermission);
}

}  // namespace
}  // namespace vacant::scan
