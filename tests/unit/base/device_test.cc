#include "vacant/base/device.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "run.h"
#include "vacant/base/fd.h"
#include "vacant/base/file.h"

namespace vacant {
namespace {

using testing::TempDir;

class DeviceTest : public ::testing::Test {
 protected:
  std::string make_sparse(std::uint64_t size_bytes, std::uint64_t data_at, std::size_t data_bytes) {
    const std::string path = (dir_.path() / "image").string();
    std::ofstream(path).close();
    std::filesystem::resize_file(path, size_bytes);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(data_at));
    file << std::string(data_bytes, 'x');
    return path;
  }
  TempDir dir_;
};

TEST_F(DeviceTest, AllocationIsGaplessAndNamesHoles) {
  const std::string path = make_sparse(8 * kMiB, 4 * kMiB, 4096);
  const auto device = open_device(path, {});
  ASSERT_TRUE(device);
  const auto map = (*device)->allocation({kMiB, 6 * kMiB});
  ASSERT_TRUE(map);
  std::uint64_t at = kMiB;
  bool hole = false;
  for (const Allocation& part : *map) {
    EXPECT_EQ(part.extent.offset_bytes, at);
    at = part.extent.end_bytes();
    if (part.hole) {
      hole = true;
      EXPECT_FALSE(part.extent.overlaps({4 * kMiB, 4096})) << "data called a hole";
    }
  }
  EXPECT_EQ(at, 7 * kMiB);
  EXPECT_TRUE(hole);
}

TEST_F(DeviceTest, UntrustedHolesAreData) {
  const std::string path = make_sparse(8 * kMiB, 4 * kMiB, 4096);
  OpenOptions options;
  options.trust_holes = false;
  const auto device = open_device(path, options);
  ASSERT_TRUE(device);
  const auto map = (*device)->allocation({0, 8 * kMiB});
  ASSERT_TRUE(map);
  EXPECT_EQ(*map, (std::vector{Allocation{{0, 8 * kMiB}, false}}));
}

TEST_F(DeviceTest, DirectReadsGiveTheSameBytesAtAnyAlignment) {
  const std::string path = (dir_.path() / "image").string();
  std::string bytes(128 * 1024 + 77, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 8));
  ASSERT_TRUE(write_file_atomic(path, as_bytes(bytes), 0600));
  OpenOptions options;
  options.direct = true;
  const auto direct = open_device(path, options);
  if (!direct) GTEST_SKIP() << "this file system has no O_DIRECT";
  for (const auto& [offset, size] :
       {std::pair{0, 4096}, {1, 511}, {4095, 2}, {128 * 1024, 77}, {511, 70000}}) {
    ByteVector out(static_cast<std::size_t>(size));
    ASSERT_TRUE((*direct)->read(static_cast<std::uint64_t>(offset), out)) << offset;
    EXPECT_EQ(as_text(out), bytes.substr(static_cast<std::size_t>(offset), out.size())) << offset;
  }
}

TEST_F(DeviceTest, ReadsPastTheEndFailAndAShrunkFileFails) {
  const std::string path = make_sparse(kMiB, 0, 16);
  const auto device = open_device(path, {});
  ASSERT_TRUE(device);
  ByteVector out(4096);
  EXPECT_TRUE((*device)->read(kMiB - 4096, out));
  EXPECT_FALSE((*device)->read(kMiB - 4095, out));
  std::filesystem::resize_file(path, 4096);
  EXPECT_FALSE((*device)->read(kMiB - 4096, out)) << "the file shrank: no zeros may be made up";
  EXPECT_EQ(*(*device)->current_size_bytes(), 4096U);
}

TEST_F(DeviceTest, EveryOtherKindOfFileIsRefusedByName) {
  const std::string fifo = (dir_.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string socket_path = (dir_.path() / "socket").string();
  const UniqueFd socket_fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::vector<std::pair<std::string, std::string>> cases = {{dir_.path().string(), "directory"},
                                                                  {fifo, "FIFO"},
                                                                  {socket_path, "socket"},
                                                                  {"/dev/zero", "character"}};
  for (const auto& [path, word] : cases) {
    const auto device = open_device(path, {});
    ASSERT_FALSE(device) << path;
    EXPECT_EQ(device.error().code, Code::kUnsupported) << path;
    EXPECT_NE(device.error().message.find(word), std::string::npos) << device.error().message;
  }
  const auto missing = open_device((dir_.path() / "none").string(), {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
}

TEST_F(DeviceTest, TheChangeStampChangesWithTheContent) {
  const std::string path = make_sparse(kMiB, 0, 16);
  const auto before = open_device(path, {});
  const auto again = open_device(path, {});
  ASSERT_TRUE(before && again);
  EXPECT_EQ((*before)->info().change_stamp, (*again)->info().change_stamp);
  std::fstream(path, std::ios::in | std::ios::out).write("changed", 7);
  const auto after = open_device(path, {});
  ASSERT_TRUE(after);
  EXPECT_NE((*before)->info().change_stamp, (*after)->info().change_stamp);
}

TEST_F(DeviceTest, AWindowStaysInItsBounds) {
  const std::string path = make_sparse(kMiB, 4096, 4096);
  const auto device = open_device(path, {});
  ASSERT_TRUE(device);
  const auto window = make_window(**device, {4096, 8192});
  ASSERT_TRUE(window);
  ByteVector out(4096);
  ASSERT_TRUE((*window)->read(0, out));
  EXPECT_EQ(out.front(), std::byte{'x'});
  EXPECT_FALSE((*window)->read(4097, out));
  EXPECT_FALSE((*window)->write(0, out)) << "read-only";
  EXPECT_FALSE(make_window(**device, {kMiB - 512, 1024}));
}

}  // namespace
}  // namespace vacant
