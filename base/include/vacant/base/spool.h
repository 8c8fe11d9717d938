// Spool: bytes that are appended once and then read from anywhere, too many to keep in memory for sure. Up to
// a limit they live in memory; beyond it in an unlinked temporary file ($TMPDIR, else /tmp) that nobody else
// can open and that goes away with the process, even a killed one. Read with pread and not mapped: mapped
// pages would count against the memory bound that this class is there to keep.
//
// Movable. append() needs the object alone; read() is const and may be called by several threads at once.
#pragma once

#include <cstdint>

#include "vacant/base/bytes.h"
#include "vacant/base/fd.h"
#include "vacant/base/result.h"

namespace vacant {

class Spool {
 public:
  static constexpr std::uint64_t kDefaultMemoryBytes = 16ULL << 20;

  explicit Spool(std::uint64_t memory_limit_bytes = kDefaultMemoryBytes)
      : memory_limit_(memory_limit_bytes) {}
  Result<void> append(ByteSpan bytes);
  // Reads exactly out.size() bytes at offset. kInvalidArgument past the end.
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) const;
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] bool spilled() const { return file_.valid(); }

 private:
  Result<void> spill();

  std::uint64_t memory_limit_;
  std::uint64_t size_bytes_ = 0;
  ByteVector memory_;  // all of it until the first spill, then only the tail that is not in the file yet
  UniqueFd file_;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace vacant
