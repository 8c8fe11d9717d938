// AppendLog: a file of checksummed records that only grows. After a crash the whole records in front of the
// first torn one are good; the rest is cut off on open. Format: per record a 4-byte little-endian length, 8
// bytes XXH3-64 of the payload seeded with the record's index, the payload. One writer (an exclusive lock is
// held); not thread-safe.
#pragma once

#include <functional>
#include <string>

#include "vacant/base/bytes.h"
#include "vacant/base/fd.h"
#include "vacant/base/result.h"

namespace vacant {

class AppendLog {
 public:
  static constexpr std::uint64_t kMaxRecordBytes = 256ULL << 20;

  // Opens (mode 0600 if made) and calls `replay` for each whole record; an error of `replay` is returned and
  // leaves the file as it was. kPermission if another process holds the lock.
  static Result<AppendLog> open(const std::string& path, const std::function<Result<void>(ByteSpan)>& replay);
  // Appends and syncs at least once a second. A failed append leaves a tail that the next open cuts off.
  Result<void> append(ByteSpan payload);
  Result<void> sync();
  [[nodiscard]] std::uint64_t record_count() const { return record_count_; }

 private:
  AppendLog() = default;
  UniqueFd fd_;
  std::string path_;
  std::uint64_t record_count_ = 0;
  std::int64_t last_sync_ms_ = 0;
};

}  // namespace vacant
