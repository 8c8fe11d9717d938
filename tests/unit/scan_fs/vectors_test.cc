// Damaged images of the e2fsprogs test suite: each gives a view, in bounded time, without a crash.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>

#include "run.h"
#include "vacant/props/devices.h"
#include "vacant/scan/fs_view.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxImageBytes = 512U << 20U;

ByteVector gunzip(const std::filesystem::path& path) {
  ByteVector out;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return out;
  std::vector<char> chunk(1U << 20U);
  for (int got = 0; (got = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0;) {
    const ByteSpan bytes = as_bytes({chunk.data(), static_cast<std::size_t>(got)});
    out.insert(out.end(), bytes.begin(), bytes.end());
    if (out.size() > kMaxImageBytes) break;
  }
  gzclose(file);
  return out;
}

TEST(E2fsVectors, EachGivesAView) {
  const auto folder = vacant::testing::vectors_dir("e2fs");
  if (!folder) GTEST_SKIP() << "no vectors";
  std::size_t images = 0;
  std::size_t parsed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".gz")) continue;
    SCOPED_TRACE(file);
    props::MemDevice device(gunzip(entry.path()));
    FsLimits limits;
    limits.wall = std::chrono::seconds(30);
    const auto begin = std::chrono::steady_clock::now();
    const CancelToken cancel;
    const auto view = build_fs_view(device, limits, cancel);
    ASSERT_TRUE(view.has_value()) << view.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    for (const Volume& volume : view->volumes) {
      EXPECT_FALSE(volume.status.empty());
      EXPECT_EQ(volume.status.find("crashed"), std::string::npos) << volume.status;
      EXPECT_EQ(volume.status.find("forbidden"), std::string::npos) << volume.status;
      parsed += volume.parsed ? 1 : 0;
      std::cerr << file << ": " << volume.type << ": " << volume.status << '\n';
    }
    ++images;
  }
  EXPECT_GT(images, 0U);
  EXPECT_LT(parsed, images);  // most of them are damaged
}

}  // namespace
}  // namespace vacant::scan
