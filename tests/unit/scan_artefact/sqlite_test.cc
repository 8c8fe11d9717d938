#include <sqlite3.h>

#include <random>

#include "support.h"

namespace vacant::scan {
namespace {

// A database file's bytes, by the library.
std::string make_database(int page_bytes, int rows,
                          const std::string& schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)") {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  const auto run = [&](const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  };
  run("PRAGMA page_size=" + std::to_string(page_bytes));
  run(schema);
  for (int i = 0; i < rows; ++i)
    run("INSERT INTO t (text) VALUES ('row " + std::to_string(i) + " of some length')");
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
  std::string out(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(db);
  return out;
}

TEST(Sqlite, EveryPageSizeIsFoundWholeAndCheckedByTheLibrary) {
  for (const int page : {512, 1024, 4096, 16384, 65536}) {
    const std::string bytes = make_database(page, 300);
    const Report report = scan_with(bytes);
    expect_found(report, "sqlite-database", Confidence::kProven);
    const Finding* finding = find_rule(report, "sqlite-database");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->length_bytes, bytes.size()) << page;
    EXPECT_EQ(report.summary.sqlite_databases, 1U);
  }
}

TEST(Sqlite, ADatabaseAcrossSegmentsIsReadOn) {
  const std::string bytes = make_database(4096, 60'000);
  ASSERT_GT(bytes.size(), 1 * kMiB);
  const Report report = scan_with(bytes, 4 * kMiB - 8192);
  const Finding* finding = find_rule(report, "sqlite-database");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->length_bytes, bytes.size());
}

// 4 KiB of a 64 KiB block overwritten by its next user: what is left is no whole database any more.
TEST(Sqlite, PartlyOverwrittenIsNotStructurallyComplete) {
  std::string bytes = make_database(4096, 3000);
  ASSERT_GT(bytes.size(), 66'000U);
  std::mt19937_64 random(3);
  for (std::size_t i = 65536; i < 65536 + 4096 && i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(random());
  const Report report = scan_with(bytes);
  EXPECT_EQ(report.summary.sqlite_databases, 0U);
  expect_found(report, "sqlite-header", Confidence::kLikely);
}

TEST(Sqlite, WithoutItsHeaderOnlyItsPagesAreFound) {
  const std::string bytes = make_database(4096, 2000);
  const Report report = scan_with(std::string_view(bytes).substr(4096));
  EXPECT_EQ(report.summary.sqlite_databases, 0U);
  EXPECT_NE(find_rule(report, "sqlite-page"), nullptr);
}

TEST(Sqlite, AMagicAloneIsNothing) {
  std::string bytes = make_database(4096, 10);
  for (const std::size_t field : {16, 18, 21, 22, 23, 44, 56, 75}) {
    std::string broken = bytes;
    broken[field] = '\x7f';
    const Report report = scan_with(broken);
    expect_missing(report, "sqlite-database");
    expect_missing(report, "sqlite-header");
  }
  expect_found(scan_with(bytes), "sqlite-database", Confidence::kProven);  // the control
}

TEST(Sqlite, ABrowsersDatabasesAreToldByTheirTables) {
  const std::string logins = make_database(4096, 0,
                                           "CREATE TABLE t (text TEXT); CREATE TABLE meta (k TEXT); CREATE "
                                           "TABLE logins (origin_url TEXT, password_value BLOB)");
  const Report report = scan_with(logins);
  expect_found(report, "chromium-logins", Confidence::kProven);
  EXPECT_EQ(report.summary.credential_files, 1U);
  expect_missing(scan_with(make_database(4096, 5)), "chromium-logins");
}

TEST(Sqlite, AWriteAheadLogIsFound) {
  const testing::TempDir dir;
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(dir.file("db").c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)", nullptr, nullptr,
               nullptr);
  const std::string wal = testing::read_text(dir.file("db-wal"));
  sqlite3_close(db);
  expect_found(scan_with(wal), "sqlite-wal", Confidence::kProven);
}

// Headers that each claim much use up what a run of data may cost: the rest is told as not looked at, never
// left out in silence.
TEST(Sqlite, EffortThatRunsOutIsToldAndForbidsVacant) {
  std::string header = make_database(4096, 10).substr(0, 4096);
  for (std::size_t i = 28; i < 32; ++i) header[i] = i == 30 ? '\x10' : '\0';  // 4096 pages: 16 MiB
  std::copy_n(header.begin() + 24, 4, header.begin() + 92);                   // the size counts as current
  props::MemDevice device(64 * kMiB);
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(device.write(i * 4096, as_bytes(header)));
  ScanOptions options;
  options.policy = Policy::kInUse;
  options.write_map = WriteMap({{0, 64 * kMiB}}, "extents");
  const auto report = scan(device, options);
  ASSERT_TRUE(report);
  EXPECT_GT(report->skipped_count, 0U);
  EXPECT_EQ(report->verdict, Verdict::kNotProven);
}

}  // namespace
}  // namespace vacant::scan
