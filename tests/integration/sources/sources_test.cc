// Real sources: a loop device, a qcow2 through qemu-nbd with its dirty bitmap, partition tables.
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli_support.h"

namespace vacant::testing {
namespace {

// A loop device over a file, detached at the end of the scope.
class Loop {
 public:
  explicit Loop(const std::string& file) {
    RunOutcome outcome = run({"losetup", "--find", "--show", file});
    if (outcome.ok()) path_ = outcome.out.substr(0, outcome.out.find('\n'));
  }
  ~Loop() {
    if (!path_.empty()) run({"losetup", "-d", path_});
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Sources, ALoopDeviceIsReadInFull) {
  const TempDir dir;
  make_sparse(dir.file("disk"), 8 << 20);
  const Loop clean(dir.file("disk"));
  if (clean.path().empty() && !must_run()) GTEST_SKIP() << "no loop devices here";
  ASSERT_FALSE(clean.path().empty());
  auto report = scan_json(clean.path(), {}, 0);
  EXPECT_EQ(report["source"]["kind"], "block-device");
  EXPECT_EQ(report["class_bytes"]["zero"], 8 << 20) << "holes of a block device are read, not believed";
  write_at(dir.file("disk"), 4'000'000, "residue");
  EXPECT_EQ(scan_json(clean.path(), {"--direct"}, 1)["verdict"], "residue");
}

// qemu-nbd on a unix socket until the end of the scope.
class Nbd {
 public:
  Nbd(const TempDir& dir, const std::string& image, std::vector<std::string> more)
      : socket_(dir.file("nbd.sock")) {
    std::filesystem::remove(socket_);
    std::vector<std::string> words{"qemu-nbd",          "--fork",     "--persistent",
                                   "--read-only",       "--shared=8", "--pid-file",
                                   dir.file("nbd.pid"), "--socket",   socket_};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(image);
    started_ = run(words).ok();
    if (started_) pid_ = std::stoi(read_text(dir.file("nbd.pid")));
  }
  ~Nbd() {
    if (pid_ > 0) ::kill(pid_, SIGTERM);
  }
  Nbd(const Nbd&) = delete;
  Nbd& operator=(const Nbd&) = delete;
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] std::string uri() const { return "nbd+unix:///?socket=" + socket_; }

 private:
  std::string socket_;
  bool started_ = false;
  pid_t pid_ = -1;
};

TEST(Sources, AQcow2OverlayThroughNbdIsHeldAgainstItsBaseAndMap) {
  if (left_out("qemu-nbd")) GTEST_SKIP() << "no qemu-nbd here";
  const TempDir dir;
  make_sparse(dir.file("base.img"), 16 << 20);
  write_at(dir.file("base.img"), 1 << 20, noise(300'000, 1));
  ASSERT_TRUE(run({"qemu-img", "create", "-q", "-f", "qcow2", "-b", dir.file("base.img"), "-F", "raw",
                   dir.file("disk.qcow2")})
                  .ok());
  ASSERT_TRUE(run({"qemu-io", "-c", "write -P 0x5a 8M 64k", dir.file("disk.qcow2")}).ok());
  const RunOutcome map = run({"qemu-img", "map", "--output=json", dir.file("disk.qcow2")});
  ASSERT_TRUE(map.ok()) << map.describe();
  write_text(dir.file("map.json"), map.out);
  const Nbd server(dir, dir.file("disk.qcow2"), {"--format=qcow2"});
  ASSERT_TRUE(server.started());
  auto report =
      scan_json(server.uri(),
                {"--base", dir.file("base.img"), "--policy", "in-use", "--written", dir.file("map.json")}, 0);
  EXPECT_EQ(report["verdict"], "vacant");
  EXPECT_EQ(report["class_bytes"]["own"], 64 << 10);
  EXPECT_EQ(scan_json(server.uri(), {"--base", dir.file("base.img")}, 1)["verdict"], "residue")
      << "without the map nobody explains the write";
  EXPECT_EQ(scan_json(server.uri(),
                      {"--base", dir.file("base.img"), "--policy", "in-use", "--written",
                       dir.file("map.json"), "--trust-holes", "remote"},
                      0)["verdict"],
            "vacant");
}

TEST(Sources, ADirtyBitmapOverNbdIsAWriteMap) {
  if (left_out("qemu-nbd")) GTEST_SKIP() << "no qemu-nbd here";
  const TempDir dir;
  const std::string disk = dir.file("disk.qcow2");
  ASSERT_TRUE(run({"qemu-img", "create", "-q", "-f", "qcow2", disk, "16M"}).ok());
  ASSERT_TRUE(
      run({"qemu-io", "-c", "write -P 0x11 1M 64k", disk}).ok());  // before the bitmap: not the guest's
  ASSERT_TRUE(run({"qemu-img", "bitmap", "--add", disk, "guest"}).ok());
  ASSERT_TRUE(run({"qemu-io", "-c", "write -P 0x22 4M 64k", disk}).ok());
  {
    const Nbd server(dir, disk, {"--format=qcow2", "-B", "guest"});
    ASSERT_TRUE(server.started());
    const auto report = scan_json(server.uri(), {"--policy", "in-use", "--written", "dirty-bitmap:guest"}, 1);
    EXPECT_EQ(report["class_bytes"]["own"], 64 << 10);
    EXPECT_EQ(report["class_bytes"]["unexplained"], 64 << 10);
    EXPECT_EQ(
        vacant({"scan", server.uri(), "--policy", "in-use", "--written", "dirty-bitmap:other"}).exit_code, 3);
  }
}

TEST(Sources, PartitionsAndTheGapsBetweenThemAreAllLookedAt) {
  const TempDir dir;
  const std::string disk = dir.file("disk");
  make_sparse(disk, 64 << 20);
  RunOptions table;
  table.input = "label: gpt\nstart=2048, size=40960\nstart=49152, size=40960\n";
  if (left_out("sfdisk")) GTEST_SKIP() << "no sfdisk here";
  ASSERT_TRUE(run({"sfdisk", "-q", disk}, table).ok());
  ASSERT_TRUE(run({"mke2fs", "-q", "-t", "ext4", "-E", "offset=1048576", disk, "20M"}).ok());
  auto report = scan_json(disk, {"--policy", "inside", "--profile", "inventory"}, 1);
  ASSERT_GE(report["volumes"].size(), 1U);
  EXPECT_EQ(report["volumes"][0]["partition"], "gpt 1");
  EXPECT_EQ(report["volumes"][0]["type"], "ext4");
  const auto before = report["class_bytes"]["unexplained"].get<std::uint64_t>();
  write_at(disk, 45200ULL * 512, noise(512, 2));  // in the gap between the two partitions
  report = scan_json(disk, {"--policy", "inside", "--profile", "inventory"}, 1);
  EXPECT_EQ(report["class_bytes"]["unexplained"].get<std::uint64_t>(), before + 512);
}

// Old partition tables begin their first partition at sector 63.
TEST(Sources, AForeignFileSystemAtAnOddSectorIsProven) {
  const TempDir dir;
  make_sparse(dir.file("disk"), 64 << 20);
  const auto before = scan_json(dir.file("disk"), {"--profile", "inventory"}, 0);
  EXPECT_EQ(before["summary"]["foreign_file_systems"], 0);
  make_sparse(dir.file("tenant"), 32 << 20);
  ASSERT_TRUE(run({"mke2fs", "-q", "-t", "ext4", "-d", VACANT_SOURCE_DIR "/docs", dir.file("tenant")}).ok());
  ASSERT_TRUE(run({"dd", "if=" + dir.file("tenant"), "of=" + dir.file("disk"), "bs=512", "seek=63",
                   "conv=notrunc,sparse", "status=none"})
                  .ok());
  const auto report = scan_json(dir.file("disk"), {"--profile", "inventory"}, 1);
  EXPECT_EQ(report["summary"]["foreign_file_systems"], 1);
  EXPECT_GE(report["summary"]["foreign_directory_inodes"], 2) << "the root and folders of the tree";
  EXPECT_GT(report["class_bytes"]["foreign"], 0);
}

// The CI snippets, as far as they run without their hosts.
TEST(CiSnippets, TheGithubStepFailsOnResidueAndNamesTheVerdict) {
  const TempDir dir;
  make_sparse(dir.file("disk"), 4 << 20);
  RunOptions options;
  options.environment = {"VACANT=" VACANT_EXE, "DISK=" + dir.file("disk"), "POLICY=handover",
                         "REPORT=" + dir.file("out"), "GITHUB_OUTPUT=" + dir.file("outputs")};
  const std::string step = VACANT_SOURCE_DIR "/docs/ci/github-scan.sh";
  EXPECT_EQ(run({step}, options).exit_code, 0);
  EXPECT_NE(read_text(dir.file("outputs")).find("verdict=vacant"), std::string::npos);
  write_at(dir.file("disk"), 100, "dirty");
  const RunOutcome dirty = run({step}, options);
  EXPECT_EQ(dirty.exit_code, 1) << dirty.describe();
  EXPECT_NE(read_text(dir.file("outputs")).find("verdict=residue"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(dir.file("out/vacant.sarif")));
}

// The lines of a YAML job's script, as GitLab hands them to the shell: one after the other.
std::string script_of(const std::string& yaml) {
  std::istringstream lines(read_text(yaml));
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (inside && !line.starts_with("    - ")) break;
    if (inside) {
      std::string command = line.substr(6);
      if (command.starts_with('\'') && command.ends_with('\''))
        command = command.substr(1, command.size() - 2);
      out += command + "\n";
    }
    if (line == "  script:") inside = true;
  }
  return out;
}

TEST(CiSnippets, TheGitlabJobFailsOnResidueAndWritesItsArtifacts) {
  const TempDir dir;
  make_sparse(dir.file("disk"), 4 << 20);
  make_sparse(dir.file("base"), 4 << 20);
  write_at(dir.file("base"), 8192, noise(4096, 1));
  write_at(dir.file("disk"), 8192, noise(4096, 1));
  RunOptions options;
  options.environment = {"VACANT=" VACANT_EXE, "DISK=disk", "BASE=base", "POLICY=handover"};
  options.input =
      "set -e\ncd '" + dir.path().string() + "'\n" + script_of(VACANT_SOURCE_DIR "/docs/ci/gitlab.yml");
  ASSERT_NE(options.input.find("\"$VACANT\" scan"), std::string::npos) << options.input;
  const RunOutcome clean = run({"sh"}, options);
  EXPECT_EQ(clean.exit_code, 0) << clean.describe();
  EXPECT_NE(read_text(dir.file("vacant-junit.xml")).find("</testsuite"), std::string::npos);
  write_at(dir.file("disk"), 100, "dirty");
  const RunOutcome dirty = run({"sh"}, options);
  EXPECT_EQ(dirty.exit_code, 1) << dirty.describe();
  EXPECT_NE(read_text(dir.file("vacant.json")).find("\"verdict\": \"residue\""), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(dir.file("vacant.html")));
}

}  // namespace
}  // namespace vacant::testing
