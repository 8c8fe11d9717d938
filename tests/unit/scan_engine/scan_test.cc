#include "vacant/scan/engine.h"

#include <gtest/gtest.h>

#include "fixtures.h"
#include "run.h"
#include "vacant/base/file.h"

namespace vacant::scan {
namespace {

using props::FaultDevice;
using props::MemDevice;

Report must_scan(BlockDevice& device, const ScanOptions& options) {
  auto report = scan(device, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  const auto sound = check_arithmetic(*report);
  EXPECT_TRUE(sound) << (sound ? "" : sound.error().message);
  return std::move(*report);
}

TEST(Scan, AnEmptyDiskIsVacantAndOneByteMakesItResidue) {
  MemDevice device(10 * kMiB + 512);
  EXPECT_EQ(must_scan(device, inventory()).verdict, Verdict::kVacant);
  for (const std::uint64_t at : {std::uint64_t{0}, 4 * kMiB - 1, 4 * kMiB, 10 * kMiB, 10 * kMiB + 511}) {
    device.bytes()[at] = std::byte{1};
    const Report report = must_scan(device, inventory());
    EXPECT_EQ(report.verdict, Verdict::kResidue) << at;
    EXPECT_EQ(class_bytes(report, Class::kUnexplained), 512U) << at;
    device.bytes()[at] = std::byte{0};
  }
}

TEST(Scan, ASourceOfNoBytesProvesNothing) {
  MemDevice device(std::uint64_t{0});
  EXPECT_EQ(must_scan(device, inventory()).verdict, Verdict::kNotProven);
}

TEST(Scan, SizesThatAreNoSectorMultipleAreCoveredToTheLastByte) {
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{511}, std::uint64_t{513}, kMiB + 7}) {
    MemDevice device(size);
    EXPECT_EQ(must_scan(device, inventory()).verdict, Verdict::kVacant) << size;
    device.bytes().back() = std::byte{7};
    EXPECT_EQ(must_scan(device, inventory()).verdict, Verdict::kResidue) << size;
  }
}

TEST(Scan, BaseExplainsOnlyTheSameBytesAtTheSameOffset) {
  MemDevice base(8 * kMiB);
  put(base, 1 * kMiB, random_bytes(2 * kMiB, 1));
  MemDevice clone(base.bytes());
  ScanOptions options = inventory();
  options.base_image = &base;
  Report report = must_scan(clone, options);
  EXPECT_EQ(report.verdict, Verdict::kVacant);
  EXPECT_EQ(class_bytes(report, Class::kBase), 2 * kMiB);
  EXPECT_EQ(report.base_root.size(), 64U);
  clone.bytes()[2 * kMiB + 100] ^= std::byte{1};
  report = must_scan(clone, options);
  EXPECT_EQ(report.verdict, Verdict::kResidue);
  EXPECT_EQ(class_bytes(report, Class::kUnexplained), 512U) << "one sector differs, and only that";
  MemDevice shifted(8 * kMiB);
  put(shifted, 1 * kMiB + 512, ByteSpan(base.bytes()).subspan(kMiB, 2 * kMiB));
  EXPECT_EQ(must_scan(shifted, options).verdict, Verdict::kResidue)
      << "base content elsewhere is not explained";
}

TEST(Scan, AHashTreeExplainsWholeBlocksOnly) {
  MemDevice base(4 * kMiB);
  put(base, 0, random_bytes(kMiB, 2));
  const CancelToken never;
  const auto tree = verify::HashTree::build(base, {}, never);
  ASSERT_TRUE(tree);
  MemDevice clone(base.bytes());
  ScanOptions options = inventory();
  options.base_tree = &*tree;
  EXPECT_EQ(must_scan(clone, options).verdict, Verdict::kVacant);
  clone.bytes()[5000] ^= std::byte{1};
  const Report report = must_scan(clone, options);
  EXPECT_EQ(report.verdict, Verdict::kResidue);
  EXPECT_EQ(class_bytes(report, Class::kUnexplained), 4096U);
}

TEST(Scan, FourKiBOfOwnWritingDoNotExplainTheOtherSixty) {
  MemDevice device(4 * kMiB);
  put(device, 64 * kKiB, random_bytes(64 * kKiB, 3));
  ScanOptions options = inventory(Policy::kInUse);
  options.write_map = WriteMap({{64 * kKiB, 4 * kKiB}}, "extents");
  Report report = must_scan(device, options);
  EXPECT_EQ(report.verdict, Verdict::kResidue);
  EXPECT_EQ(class_bytes(report, Class::kOwn), 4 * kKiB);
  EXPECT_EQ(class_bytes(report, Class::kUnexplained), 60 * kKiB);
  options.write_map = WriteMap({{64 * kKiB, 64 * kKiB}}, "extents");
  EXPECT_EQ(must_scan(device, options).verdict, Verdict::kVacant);
  options.policy = Policy::kHandover;
  EXPECT_EQ(must_scan(device, options).verdict, Verdict::kResidue)
      << "before the hand-over nothing is the guest's own";
}

TEST(Scan, InUseWithoutAWriteMapIsRefused) {
  MemDevice device(kMiB);
  const auto report = scan(device, inventory(Policy::kInUse));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kInvalidArgument);
}

TEST(Scan, AnUnreadableSectorIsNeverClean) {
  MemDevice memory(9 * kMiB);
  for (const std::uint64_t at : {std::uint64_t{0}, 4 * kMiB - 512, 4 * kMiB, 9 * kMiB - 512}) {
    FaultDevice device(memory);
    device.fail_reads({at, 512});
    const Report report = must_scan(device, inventory());
    EXPECT_EQ(report.verdict, Verdict::kNotProven) << at;
    EXPECT_EQ(class_bytes(report, Class::kUnreadable), 512U) << "narrowed down to the sector";
    ASSERT_EQ(report.skipped.size(), 1U);
    EXPECT_EQ(report.skipped[0].extent, (Extent{at, 512}));
  }
}

TEST(Scan, TheReportDoesNotDependOnTheThreads) {
  MemDevice device(21 * kMiB + 1024);
  for (std::uint64_t i = 0; i < 40; ++i)
    put(device, i * 531 * 1024 % (20 * kMiB), random_bytes(1000 + i * 77, i));
  ScanOptions options = inventory();
  options.threads = 1;
  const std::string one = to_json(must_scan(device, options));
  for (const unsigned threads : {2U, 3U, 8U}) {
    options.threads = threads;
    EXPECT_EQ(to_json(must_scan(device, options)), one) << threads;
  }
}

class ResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = dir_.file("disk");
    ByteVector bytes(24 * kMiB);
    std::ranges::copy(random_bytes(64 * kKiB, 9), bytes.begin() + 9'000'000);
    ASSERT_TRUE(write_file_atomic(path_, bytes, 0600));
  }
  Result<Report> scan_with(const CancelToken* cancel, const std::function<void(const Progress&)>& progress) {
    auto device = open_device(path_, {});
    if (!device) return fail(device.error());
    ScanOptions options = inventory();
    options.threads = 1;
    options.resume_path = dir_.file("journal");
    options.cancel = cancel;
    options.progress = progress;
    return scan(**device, options);
  }
  testing::TempDir dir_;
  std::string path_;
};

TEST_F(ResumeTest, AStoppedScanGoesOnAndGivesTheSameReport) {
  for (std::uint64_t stop_after = 1; stop_after < 6; ++stop_after) {
    std::filesystem::remove(dir_.file("journal"));
    CancelToken cancel;
    const auto stopped = scan_with(&cancel, [&](const Progress& p) {
      if (p.done_bytes >= stop_after * kSegmentBytes) cancel.cancel();
    });
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, Code::kCancelled);
    std::uint64_t first = 0;
    const auto resumed = scan_with(nullptr, [&](const Progress& p) {
      if (first == 0) first = p.done_bytes;
    });
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(first, (stop_after + 1) * kSegmentBytes) << "what was done is not done again";
    std::filesystem::remove(dir_.file("journal"));
    const auto whole = scan_with(nullptr, {});
    ASSERT_TRUE(whole);
    EXPECT_EQ(to_json(*resumed), to_json(*whole));
    EXPECT_EQ(resumed->verdict, Verdict::kResidue);
  }
}

TEST_F(ResumeTest, AChangedDiskIsNotMixedIn) {
  CancelToken cancel;
  ASSERT_FALSE(scan_with(&cancel, [&](const Progress&) { cancel.cancel(); }));
  std::fstream(path_, std::ios::in | std::ios::out).write("x", 1);
  const auto resumed = scan_with(nullptr, {});
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().code, Code::kMismatch);
}

TEST_F(ResumeTest, ADamagedJournalIsCutNotBelieved) {
  CancelToken cancel;
  ASSERT_FALSE(scan_with(&cancel, [&](const Progress& p) {
    if (p.done_bytes >= 3 * kSegmentBytes) cancel.cancel();
  }));
  const std::string journal = dir_.file("journal");
  auto bytes = read_file(journal, kGiB);
  ASSERT_TRUE(bytes);
  (*bytes)[bytes->size() - 40] ^= std::byte{0xff};
  ASSERT_TRUE(write_file_atomic(journal, *bytes, 0600));
  const auto resumed = scan_with(nullptr, {});
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->verdict, Verdict::kResidue);
}

}  // namespace
}  // namespace vacant::scan
