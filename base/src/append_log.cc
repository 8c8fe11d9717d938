#include "vacant/base/append_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <chrono>

#include "vacant/base/file.h"

namespace vacant {

namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::int64_t kSyncMs = 1000;

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::uint64_t checksum(ByteSpan payload, std::uint64_t index) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), index);
}

// Fills `out` or says that the file ends before that.
Result<bool> read_exactly(int fd, MutableByteSpan out) {
  while (!out.empty()) {
    const ssize_t got = ::read(fd, out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("reading", errno);
    if (got == 0) return false;
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

// The next whole record, or false at the end or at a torn one.
Result<bool> read_record(int fd, std::uint64_t index, std::uint64_t left_bytes, ByteVector& payload) {
  std::array<std::byte, kHeaderBytes> header{};
  if (left_bytes < kHeaderBytes || !VACANT_TRY(read_exactly(fd, header))) return false;
  const std::uint64_t length = load_le<std::uint32_t>(header, 0);
  if (length > AppendLog::kMaxRecordBytes || length > left_bytes - kHeaderBytes) return false;
  payload.resize(static_cast<std::size_t>(length));
  if (!VACANT_TRY(read_exactly(fd, payload))) return false;
  return load_le<std::uint64_t>(header, 4) == checksum(payload, index);
}

}  // namespace

Result<AppendLog> AppendLog::open(const std::string& path,
                                  const std::function<Result<void>(ByteSpan)>& replay) {
  AppendLog log;
  log.path_ = path;
  log.fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log.fd_.valid()) return fail_errno(fmt::format("opening {}", path), errno);
  if (::flock(log.fd_.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(Code::kPermission, fmt::format("{} is in use by another process", path));
  struct stat status{};
  if (::fstat(log.fd_.get(), &status) != 0) return fail_errno(fmt::format("looking at {}", path), errno);
  if (!S_ISREG(status.st_mode)) return fail(Code::kUnsupported, fmt::format("{} is no regular file", path));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t good = 0;
  ByteVector payload;
  while (VACANT_TRY(read_record(log.fd_.get(), log.record_count_, size - good, payload))) {
    VACANT_TRY(replay(payload));
    ++log.record_count_;
    good += kHeaderBytes + payload.size();
  }
  // Never cut a file that was not ours to begin with.
  if (size > 0 && log.record_count_ == 0)
    return fail(Code::kCorrupt,
                fmt::format("{} exists and is no journal: name another file, or remove it", path));
  if (good < size && ::ftruncate(log.fd_.get(), static_cast<off_t>(good)) != 0)
    return fail_errno(fmt::format("cutting {}", path), errno);
  if (::lseek(log.fd_.get(), static_cast<off_t>(good), SEEK_SET) < 0)
    return fail_errno(fmt::format("seeking in {}", path), errno);
  log.last_sync_ms_ = now_ms();
  return log;
}

Result<void> AppendLog::append(ByteSpan payload) {
  if (payload.size() > kMaxRecordBytes)
    return fail(Code::kLimit, fmt::format("a record of {} bytes is too long for {}", payload.size(), path_));
  ByteVector record(kHeaderBytes + payload.size());
  store_le<std::uint32_t>(record, 0, static_cast<std::uint32_t>(payload.size()));
  store_le<std::uint64_t>(record, 4, checksum(payload, record_count_));
  std::copy(payload.begin(), payload.end(), record.begin() + kHeaderBytes);
  auto done = write_all(fd_.get(), record);
  if (!done) return fail(done.error().in(path_));
  ++record_count_;
  if (now_ms() - last_sync_ms_ < kSyncMs) return {};
  return sync();
}

Result<void> AppendLog::sync() {
  if (::fdatasync(fd_.get()) != 0) return fail_errno(fmt::format("syncing {}", path_), errno);
  last_sync_ms_ = now_ms();
  return {};
}

}  // namespace vacant
