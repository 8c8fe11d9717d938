#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "cli_support.h"

namespace vacant::testing {
namespace {

class ScanCli : public ::testing::Test {
 protected:
  std::string sparse(const std::string& name, std::uint64_t size_bytes) {
    make_sparse(dir_.file(name), size_bytes);
    return dir_.file(name);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(dir_.path()), {}));
  }
  TempDir dir_;
};

TEST_F(ScanCli, VacantIsZeroAndResidueIsOne) {
  const std::string disk = sparse("disk", 16 << 20);
  EXPECT_EQ(scan_json(disk, {}, 0)["verdict"], "vacant");
  write_at(disk, 5'000'000, "left by somebody");
  EXPECT_EQ(scan_json(disk, {}, 1)["verdict"], "residue");
}

TEST_F(ScanCli, EveryFormatOfOneScanComesWhole) {
  const std::string disk = sparse("disk", 4 << 20);
  write_at(disk, 4096, noise(4096, 1));
  const RunOutcome outcome =
      vacant({"scan", disk, "--quiet", "--format", "sarif", "-o", dir_.file("r.sarif"), "--also",
              "json=" + dir_.file("r.json"), "--also", "html=" + dir_.file("r.html"), "--also",
              "junit=" + dir_.file("r.xml"), "--also", "text=" + dir_.file("r.txt")});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.describe();
  EXPECT_TRUE(outcome.out.empty());
  EXPECT_NE(read_text(dir_.file("r.sarif")).find("\"2.1.0\""), std::string::npos);
  EXPECT_NE(read_text(dir_.file("r.html")).find("</html>"), std::string::npos);
  EXPECT_NE(read_text(dir_.file("r.xml")).find("</testsuite"), std::string::npos);
  EXPECT_NE(read_text(dir_.file("r.txt")).find("residue"), std::string::npos);
}

TEST_F(ScanCli, UsageErrorsAreTwo) {
  const std::string disk = sparse("disk", 1 << 20);
  const std::vector<std::vector<std::string>> bad = {{"scan"},
                                                     {"scan", disk, "--policy", "none"},
                                                     {"scan", disk, "--format", "yaml"},
                                                     {"scan", disk, "--nope"},
                                                     {"scan", disk, "--policy", "in-use"},
                                                     {"scan", disk, "--base", disk, "--base-tree", disk},
                                                     {"frobnicate"},
                                                     {"scan", disk, "--reveal", "--json"},
                                                     {"scan", disk, "--profile", "known-answer"},
                                                     {"scan", disk, "--baseline-out", dir_.file("b")},
                                                     {"scan", disk, "-o", dir_.path().string()}};
  for (const auto& words : bad) {
    const RunOutcome outcome = vacant(words);
    EXPECT_EQ(outcome.exit_code, 2) << words.back() << ": " << outcome.describe();
    EXPECT_FALSE(outcome.err.empty());
  }
  EXPECT_EQ(vacant({"--help"}).exit_code, 0);
  EXPECT_EQ(vacant({"--version"}).exit_code, 0);
}

TEST_F(ScanCli, WhatIsNoDiskIsRefusedWithAReason) {
  ::mkfifo(dir_.file("fifo").c_str(), 0600);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {dir_.path().string(), "directory"},
      {dir_.file("fifo"), "FIFO"},
      {"/dev/null", "character device"},
      {dir_.file("missing"), "No such file"},
      {"nbd+unix:///?socket=" + dir_.file("no"), "connecting"}};
  for (const auto& [path, word] : bad) {
    const RunOutcome outcome = vacant({"scan", path});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.describe();
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
  }
}

TEST_F(ScanCli, AnEmptyFileProvesNothingAndOneByteIsLookedAt) {
  const std::string disk = sparse("disk", 0);
  EXPECT_EQ(scan_json(disk, {}, 3)["verdict"], "not-proven");
  write_text(disk, std::string(1, '\0'));
  EXPECT_EQ(scan_json(disk, {}, 0)["verdict"], "vacant");
  write_text(disk, "x");
  EXPECT_EQ(scan_json(disk, {}, 1)["verdict"], "residue");
}

TEST_F(ScanCli, PermissionDeniedIsToldAndIsNotProven) {
  const std::string disk = sparse("disk", 1 << 20);
  std::filesystem::permissions(disk, std::filesystem::perms::none);
  std::filesystem::permissions(dir_.path(), std::filesystem::perms(0755));
  if (::geteuid() == 0) {
    const RunOutcome outcome =
        run({"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", VACANT_EXE, "scan", disk});
    if (outcome.err.find("no such program") != std::string::npos) GTEST_SKIP() << "no setpriv here";
    // The executable itself may lie in a folder that nobody else may enter.
    if (outcome.err.find("setpriv") != std::string::npos)
      GTEST_SKIP() << "the build folder is closed to other users";
    EXPECT_EQ(outcome.exit_code, 3) << outcome.describe();
    EXPECT_NE(outcome.err.find("ermission denied"), std::string::npos) << outcome.err;
    return;
  }
  EXPECT_EQ(vacant({"scan", disk}).exit_code, 3);
}

TEST_F(ScanCli, AFullReportTargetFailsAndLeavesNothing) {
  const std::string disk = sparse("disk", 1 << 20);
  const RunOutcome full = vacant({"scan", disk, "--json", "-o", "/dev/full"});
  EXPECT_EQ(full.exit_code, 3) << full.describe();
  EXPECT_NE(full.err.find("No space left"), std::string::npos) << full.err;
  const std::size_t before = entries();
  const RunOutcome missing = vacant({"scan", disk, "--json", "-o", dir_.file("none/report.json")});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(entries(), before);
}

// Ctrl-C in the middle, then the same command again: the report is the one of an undisturbed scan.
TEST_F(ScanCli, CtrlCAndResumeLoseNothing) {
  const std::string disk = sparse("disk", 256 << 20);
  for (std::uint64_t i = 0; i < 32; ++i) write_at(disk, i * (8 << 20) + 12345, noise(200'000, i));
  const std::string expected = vacant({"scan", disk, "--json"}).out;
  int interrupted = 0;
  std::string got;
  for (int round = 0; round < 200 && got.empty(); ++round) {
    RunOptions options;
    options.timeout = std::chrono::seconds(60);
    const RunOutcome outcome = run({"timeout", "-s", "INT", "0.15", VACANT_EXE, "scan", disk, "--json",
                                    "--resume", dir_.file("journal")},
                                   options);
    if (outcome.out.empty())
      ++interrupted;
    else
      got = outcome.out;
  }
  EXPECT_EQ(got, expected) << "after " << interrupted << " interruptions";
}

TEST_F(ScanCli, ResumeNeverTouchesAFileThatIsNoJournal) {
  const std::string disk = sparse("disk", 1 << 20);
  write_text(dir_.file("precious"), "my only copy");
  EXPECT_EQ(vacant({"scan", disk, "--resume", dir_.file("precious")}).exit_code, 3);
  EXPECT_EQ(read_text(dir_.file("precious")), "my only copy");
}

TEST_F(ScanCli, ASignedReportVerifiesAndATouchedOneDoesNot) {
  const std::string disk = sparse("disk", 8 << 20);
  write_at(disk, 70'000, noise(5000, 3));
  ASSERT_EQ(vacant({"keygen", "report", "-o", dir_.file("key")}).exit_code, 0);
  ASSERT_EQ(vacant({"keygen", "report", "-o", dir_.file("other")}).exit_code, 0);
  ASSERT_EQ(
      vacant({"scan", disk, "--json", "-o", dir_.file("r.json"), "--sign-key", dir_.file("key")}).exit_code,
      1);
  EXPECT_EQ(vacant({"scan", "verify", dir_.file("r.json"), "--key", dir_.file("key.pub")}).exit_code, 0);
  EXPECT_EQ(vacant({"scan", "verify", dir_.file("r.json"), disk, "--key", dir_.file("key.pub")}).exit_code,
            0);
  EXPECT_EQ(vacant({"scan", "verify", dir_.file("r.json"), "--key", dir_.file("other.pub")}).exit_code, 1);
  std::string text = read_text(dir_.file("r.json"));
  text.replace(text.find("\"residue\""), 9, "\"vacant\"");
  write_text(dir_.file("forged.json"), text);
  EXPECT_EQ(vacant({"scan", "verify", dir_.file("forged.json"), "--key", dir_.file("key.pub")}).exit_code, 1);
  write_at(disk, 70'000, std::string(5000, '\0'));
  const RunOutcome stale = vacant({"scan", "verify", dir_.file("r.json"), disk});
  EXPECT_EQ(stale.exit_code, 1) << "the disk is another one now: " << stale.describe();
}

TEST_F(ScanCli, ABaselineAcceptsByDigestUntilItsDay) {
  const std::string disk = sparse("disk", 4 << 20);
  write_at(disk, 8192, noise(4096, 5));
  ASSERT_EQ(vacant({"scan", disk, "-q", "--baseline-out", dir_.file("b"), "--reason", "firmware blob",
                    "--expires", "2099-01-01"})
                .exit_code,
            1);
  const auto accepted = scan_json(disk, {"--baseline", dir_.file("b")}, 0);
  EXPECT_EQ(accepted["accepted"][0]["reason"], "firmware blob") << "shown in the report";
  RunOptions later;
  later.environment = {"SOURCE_DATE_EPOCH=4102444800"};  // 2100-01-01
  EXPECT_EQ(vacant({"scan", disk, "-q", "--baseline", dir_.file("b")}, later).exit_code, 1) << "past its day";
  write_at(disk, 9000, "x");
  EXPECT_EQ(vacant({"scan", disk, "-q", "--baseline", dir_.file("b")}).exit_code, 1) << "other bytes";
}

TEST_F(ScanCli, KnownSecretsAreFoundFromFingerprintsAndNeverShown) {
  const std::string secret =
      "fake-" + std::to_string(std::random_device{}()) + "-value-" + std::to_string(std::random_device{}());
  RunOptions input;
  input.input = "deploy key=" + secret + "\n";
  ASSERT_EQ(vacant({"secrets", "fingerprints", "--from-fd", "0", "-o", dir_.file("fp")}, input).exit_code, 0);
  EXPECT_EQ(std::filesystem::status(dir_.file("fp")).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(read_text(dir_.file("fp")).find(secret), std::string::npos);
  const std::string base = sparse("base", 8 << 20);
  write_at(base, 4'194'304 - 7, "prefix " + secret + " suffix");  // across a segment's edge
  const auto report = scan_json(base, {"--base", base, "--fingerprints", dir_.file("fp")}, 1);
  EXPECT_EQ(report["verdict"], "secret") << "the base vouches for the bytes, not for a real secret in them";
  EXPECT_EQ(report["summary"]["known_secrets"], 1);
  EXPECT_EQ(report.dump().find(secret), std::string::npos);
  const std::string clean = sparse("clean", 8 << 20);
  EXPECT_EQ(scan_json(clean, {"--fingerprints", dir_.file("fp")}, 0)["summary"]["known_secrets"], 0);
}

TEST_F(ScanCli, MemoryImagesAreSearchedForSecretsOnly) {
  const std::string ram = sparse("ram", 8 << 20);
  write_at(ram, 123, noise(1 << 20, 7));
  EXPECT_EQ(scan_json(ram, {"--ram", "--policy", "in-use"}, 0)["verdict"], "vacant");
  write_at(ram, 3 << 20, "-----BEGIN PRIVATE KEY-----\n");
  EXPECT_EQ(scan_json(ram, {"--ram"}, 1)["verdict"], "residue")
      << "memory handed to a new guest must be zero";
}

// A placeholder is ours by its MAC alone: with the key it is counted and no finding, without it, or changed,
// it is one.
TEST_F(ScanCli, PlaceholdersVerifyAndEverythingElseIsAFinding) {
  ASSERT_EQ(vacant({"keygen", "placeholder", "-o", dir_.file("key")}).exit_code, 0);
  ASSERT_EQ(vacant({"keygen", "placeholder", "-o", dir_.file("other")}).exit_code, 0);
  const RunOutcome made = vacant({"secrets", "placeholder", "github-classic", "--key", dir_.file("key"),
                                  "--workspace", "w", "--credential", "c"});
  ASSERT_EQ(made.exit_code, 0) << made.describe();
  const std::string placeholder = made.out.substr(0, made.out.find('\n'));
  const std::string disk = sparse("disk", 1 << 20);
  write_at(disk, 5000, "token " + placeholder + "\n");
  const std::vector<std::string> in_use = {"--policy", "in-use", "--ram", "--placeholder-key"};
  const auto with = [&](const std::string& key) {
    auto words = in_use;
    words.push_back(dir_.file(key));
    return words;
  };
  const auto ours = scan_json(disk, with("key"), 0);
  EXPECT_EQ(ours["summary"]["placeholders"], 1);
  EXPECT_EQ(ours["summary"]["tokens"], 0);
  EXPECT_EQ(scan_json(disk, with("other"), 1)["verdict"], "secret") << "another installation's placeholder";
  std::string changed = placeholder;
  changed[20] = changed[20] == 'A' ? 'B' : 'A';
  write_at(disk, 5000, "token " + changed + "\n");
  EXPECT_EQ(scan_json(disk, with("key"), 1)["summary"]["tokens"], 1);
}

TEST_F(ScanCli, ABaseIsHeldToItsSignedRoot) {
  if (!find_program("veritysetup")) {
    if (must_run()) FAIL() << "veritysetup is missing";
    GTEST_SKIP() << "left out: no veritysetup here";
  }
  const std::string base = sparse("base", 4 << 20);
  write_at(base, 1 << 20, noise(100'000, 9));
  const RunOutcome made =
      run({"veritysetup", "format", "--no-superblock", "--salt=-", base, dir_.file("tree")});
  ASSERT_TRUE(made.ok()) << made.describe();
  const std::size_t at = made.out.find("Root hash:");
  ASSERT_NE(at, std::string::npos) << made.out;
  const std::size_t begin = made.out.find_first_not_of(" \t", at + 10);
  const std::string root = made.out.substr(begin, 64);
  const std::vector<std::string> tree = {"--base-tree", dir_.file("tree"), "--base-size", "4194304",
                                         "--base-root"};
  const auto with = [&](const std::string& hex) {
    auto words = tree;
    words.push_back(hex);
    return words;
  };
  EXPECT_EQ(scan_json(base, with(root), 0)["verdict"], "vacant");
  std::string other = root;
  other[5] = other[5] == '0' ? '1' : '0';
  auto words = with(other);
  words.insert(words.begin(), {"scan", base});
  EXPECT_EQ(vacant(words).exit_code, 1) << "a tree that does not hash up to the root";
  write_at(base, (1 << 20) + 5, "changed");
  EXPECT_EQ(scan_json(base, with(root), 1)["verdict"], "residue");
}

TEST_F(ScanCli, CarvingIsOffUnlessAskedFor) {
  const std::string disk = sparse("disk", 1 << 20);
  write_at(disk, 8192, "PORT=1\nAPI_TOKEN=fake" + std::to_string(std::random_device{}()) + "value\n");
  const std::size_t before = entries();
  EXPECT_EQ(vacant({"scan", disk, "-q"}).exit_code, 1);
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(vacant({"scan", disk, "-q", "--carve", dir_.file("out")}).exit_code, 1);
  EXPECT_TRUE(std::filesystem::exists(dir_.file("out/8192-env-file.env")));
}

// A file that grows or shrinks under the scan was not looked at as it is now. The size changes all
// the time, so that a scan which begins late is caught too.
TEST_F(ScanCli, AFileThatChangesItsSizeIsNotProven) {
  const std::string disk = sparse("disk", 3ULL << 30);
  for (const std::int64_t step : {std::int64_t{1} << 20, -(std::int64_t{1} << 20)}) {
    std::int64_t size = 3LL << 30;
    std::filesystem::resize_file(disk, static_cast<std::uint64_t>(size));
    const std::jthread changer([&](const std::stop_token& stop) {
      while (!stop.stop_requested() && size > (1LL << 30)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        size += step;
        std::filesystem::resize_file(disk, static_cast<std::uint64_t>(size));
      }
    });
    EXPECT_EQ(scan_json(disk, {"--trust-holes", "never", "--threads", "1"}, 3)["verdict"], "not-proven")
        << step;
  }
}

}  // namespace
}  // namespace vacant::testing
