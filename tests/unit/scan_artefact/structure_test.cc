// What is proven by structure and checksums, each with its near misses; and what hostile input may cost.
#include <array>
#include <chrono>
#include <random>

#include "artefact/digest.h"
#include "support.h"
#include "vacant/props/artefacts.h"

namespace vacant::scan {
namespace {

std::string overwritten(std::string bytes, std::size_t at, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = at; i < at + count && i < bytes.size(); ++i) bytes[i] = static_cast<char>(random());
  return bytes;
}

std::size_t rule_count(const Report& report, std::string_view rule) {
  return static_cast<std::size_t>(std::ranges::count(report.findings, rule, &Finding::rule));
}

TEST(MadeArtefacts, EachIsFoundUnderItsName) {
  std::mt19937_64 random(41);
  for (const props::MadeFile& file : props::make_artefacts(random)) {
    const Finding* finding = nullptr;
    const Report report = scan_with(file.bytes);
    finding = find_rule(report, file.rule);
    ASSERT_NE(finding, nullptr) << file.rule;
    EXPECT_GE(finding->extent.offset_bytes, kPlace) << file.rule;
    EXPECT_LE(finding->extent.end_bytes(), kPlace + round_up(file.bytes.size(), kSectorBytes)) << file.rule;
    expect_missing(scan_with(std::string(file.bytes.size(), 'x')), file.rule);
  }
}

TEST(SqlitePages, OfEverySizeInOneRunAndNoneInsideAWholeDatabase) {
  std::mt19937_64 random(1);
  for (const int page : {512, 1024, 2048, 4096, 8192, 16384, 32768}) {
    const std::string bytes = props::make_sqlite(random, page, 2000);
    const auto size = static_cast<std::size_t>(page);
    // Larger pages hold 4 KiB of zeros, where the engine cuts runs of data; behind the cut pages are told
    // again.
    if (page <= 4096) expect_missing(scan_with(bytes), "sqlite-page");
    const Report report = scan_with(std::string_view(bytes).substr(size));
    const Finding* finding = find_rule(report, "sqlite-page");
    ASSERT_NE(finding, nullptr) << page;
    EXPECT_EQ(finding->confidence, Confidence::kLikely) << page;
    EXPECT_EQ(finding->extent.length_bytes % size, 0U) << page << ": " << finding->detail;
    EXPECT_LE(rule_count(report, "sqlite-page"), bytes.size() / size / 8 + 1) << "runs, not pages";
  }
}

TEST(SqlitePages, AreFilledToTheByteOrAreNone) {
  std::mt19937_64 random(2);
  const std::string page = props::make_sqlite(random, 4096, 400).substr(2 * 4096, 4096);
  expect_found(scan_with(page), "sqlite-page", Confidence::kLikely);  // the control
  for (const std::size_t field : {0, 1, 3, 4, 5, 6, 7, 8}) {
    std::string broken = page;
    broken[field] = static_cast<char>(broken[field] ^ 0x41);
    expect_missing(scan_with(broken), "sqlite-page");
  }
}

// What a recycled thin-pool block looks like: its new user wrote the first 4 KiB of each 64 KiB.
TEST(Sqlite, FourOfEach64KibibytesOverwrittenIsNoWholeDatabase) {
  std::mt19937_64 random(3);
  const std::string bytes = props::make_sqlite(random, 4096, 6000);
  ASSERT_GT(bytes.size(), 8 * 65536U);
  expect_found(scan_with(bytes), "sqlite-database", Confidence::kProven);  // the control
  for (const std::size_t shift : {0U, 4096U, 32768U}) {
    std::string damaged = bytes;
    for (std::size_t at = shift; at < bytes.size(); at += 65536)
      damaged = overwritten(std::move(damaged), at, 4096, at + 7);
    const Report report = scan_with(damaged);
    EXPECT_EQ(report.summary.sqlite_databases, 0U) << shift;
    EXPECT_NE(find_rule(report, "sqlite-page"), nullptr) << shift << ": its other pages are still told";
    if (shift > 0) expect_found(report, "sqlite-header", Confidence::kLikely);
  }
}

TEST(Sqlite, CutOffOrStaleIsAHeader) {
  std::mt19937_64 random(4);
  const std::string bytes = props::make_sqlite(random, 4096, 3000);
  expect_found(scan_with(bytes.substr(0, bytes.size() / 2)), "sqlite-header", Confidence::kLikely);
  std::string stale = bytes;
  stale[95] = static_cast<char>(stale[95] ^ 1);  // version-valid-for no longer equals the change counter
  expect_found(scan_with(stale), "sqlite-header", Confidence::kLikely);
  expect_missing(scan_with(stale), "sqlite-database");
}

TEST(LevelDb, ATableIsToldByItsFooter) {
  std::mt19937_64 random(5);
  const std::string table = props::make_leveldb_table(random);
  const Report report = scan_with(table);
  const Finding* finding = find_rule(report, "leveldb-table");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->confidence, Confidence::kProven);
  EXPECT_EQ(finding->extent, (Extent{kPlace, table.size()})) << "from its first byte to its last";
  std::string broken = table;
  broken[table.size() - 48] = '\x7f';  // the metaindex handle
  expect_missing(scan_with(broken), "leveldb-table");
  broken = table;
  broken[table.size() - 60] = static_cast<char>(broken[table.size() - 60] ^ 1);  // in the index block
  const Report damaged = scan_with(broken);
  ASSERT_NE(find_rule(damaged, "leveldb-table"), nullptr);
  EXPECT_EQ(find_rule(damaged, "leveldb-table")->confidence, Confidence::kLikely);
}

TEST(LevelDb, ARunOfRecordsIsOneFinding) {
  std::string log;
  for (int i = 0; i < 40; ++i)
    log += props::make_leveldb_record(std::string(505, static_cast<char>('a' + i % 26)));
  const Report report = scan_with(log);
  EXPECT_EQ(rule_count(report, "leveldb-log"), 1U);
  ASSERT_NE(find_rule(report, "leveldb-log"), nullptr);
  EXPECT_EQ(find_rule(report, "leveldb-log")->length_bytes, log.size());
}

TEST(Git, AnObjectWithAWrongChecksumIsNotProven) {
  std::mt19937_64 random(8);
  std::string content;
  while (content.size() < 3000) content += static_cast<char>(random());
  std::string blob = props::make_git_blob(content);
  expect_found(scan_with(blob), "git-object", Confidence::kProven);
  blob.back() = static_cast<char>(blob.back() ^ 1);
  const Report report = scan_with(blob);
  const Finding* finding = find_rule(report, "git-object");
  ASSERT_NE(finding, nullptr) << "its beginning is still one";
  EXPECT_EQ(finding->confidence, Confidence::kLikely);
}

TEST(Containers, AKeyStoreOfCertificatesAloneIsPublic) {
  const auto keystore = [](char tag) {
    std::string out("\xfe\xed\xfe\xed\0\0\0\2\0\0\0\1", 12);
    out += std::string("\0\0\0", 3) + tag + std::string("\0\4name", 6) + std::string(8, '\1');
    out += std::string("\0\5X.509\0\0\0\4", 11) + "cert";
    return out + std::string(400, '\2');
  };
  expect_found(scan_with(keystore('\1')), "java-keystore", Confidence::kLikely);
  expect_missing(scan_with(keystore('\2')), "java-keystore");
}

// Made by the real tool; no device is needed for that.
TEST(Containers, LuksOfBothVersions) {
  if (testing::left_out("cryptsetup")) GTEST_SKIP() << "no cryptsetup here";
  const testing::TempDir dir;
  for (const std::string version : {"luks1", "luks2"}) {
    const std::string path = dir.file(version);
    testing::make_sparse(path, 4 << 20);
    testing::RunOptions password;
    password.input = "made-up password";
    std::vector<std::string> words{"cryptsetup",   "luksFormat", "-q",
                                   "--key-file=-", "--type",     version,
                                   "--pbkdf",      "pbkdf2",     "--pbkdf-force-iterations",
                                   "1000"};
    if (version == "luks2")
      words.insert(words.end(), {"--luks2-metadata-size=16k", "--luks2-keyslots-size=512k"});
    words.push_back(path);
    output_of(words, password);
    std::string header = testing::read_text(path);
    const auto confidence = version == "luks1" ? Confidence::kLikely : Confidence::kProven;
    expect_found(scan_with(header), "luks-header", confidence);
    header[version == "luks1" ? 211 : 4200] ^= 1;  // a slot's state; a byte of the JSON
    expect_missing(scan_with(header.substr(0, 16 << 10)), "luks-header");
  }
}

TEST(Containers, KeepassByItsFieldsAndTheirHash) {
  std::string kdbx("\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5\x00\x00\x04\x00", 12);
  kdbx += std::string("\x02\x10\0\0\0", 5) + std::string(16, 'c');  // cipher
  kdbx += std::string("\x04\x20\0\0\0", 5) + std::string(32, 's');  // seed
  kdbx += std::string("\x00\x04\0\0\0\r\n\r\n", 9);
  const ByteVector hash = sha256(as_bytes(kdbx));
  const std::string whole = kdbx + std::string(as_text(hash)) + overwritten(std::string(600, 0), 0, 600, 3);
  expect_found(scan_with(whole), "keepass-database", Confidence::kProven);
  std::string broken = whole;
  broken[20] ^= 1;
  expect_missing(scan_with(broken), "keepass-database");
}

TEST(CredentialFiles, ALongFileIsOneFinding) {
  std::mt19937_64 random(9);
  std::string text;
  for (int i = 0; i < 300; ++i) text += "NAME_" + std::to_string(i) + "=plain\n";
  text += props::make_env_file(random);
  const Report report = scan_with(text);
  EXPECT_EQ(rule_count(report, "env-file"), 1U);
  EXPECT_EQ(find_rule(report, "env-file")->length_bytes, text.size());
}

// A header in every sector, each claiming as much as is ever read as a whole: bounded effort, and no crash.
TEST(Hostile, HeadersThatClaimMuchCostLittle) {
  std::mt19937_64 random(6);
  std::string header = props::make_sqlite(random, 512, 0).substr(0, 512);
  header[28] = header[29] = '\0';
  header[30] = '\x1f';  // pages of 512 bytes: 4 MiB
  std::string pack("PACK\0\0\0\2\x7f\xff\xff\xff\x35", 13);
  pack.resize(512, 'q');
  std::string text;
  while (text.size() < 3 * kMiB) text += header + pack;
  const auto begin = std::chrono::steady_clock::now();
  const Report report = scan_with(text);
  EXPECT_EQ(report.summary.sqlite_databases, 0U);
  EXPECT_NE(find_rule(report, "sqlite-header"), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
}

}  // namespace
}  // namespace vacant::scan
