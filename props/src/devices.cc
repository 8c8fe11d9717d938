#include "vacant/props/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "range.h"

namespace vacant::props {

namespace {

constexpr std::uint64_t kHoleUnit = 4 * kKiB;

Result<void> io_error(std::string_view what, std::uint64_t offset_bytes, int sys_errno) {
  return fail_errno(fmt::format("{} at {}", what, offset_bytes), sys_errno);
}

}  // namespace

MemDevice::MemDevice(std::uint64_t size_bytes, bool trust_holes)
    : trust_holes_(trust_holes),
      bytes_(size_bytes),
      written_((size_bytes + kHoleUnit - 1) / kHoleUnit, false) {
  info_ = memory_info("memory", size_bytes);
}

MemDevice::MemDevice(ByteVector bytes)
    : trust_holes_(false),
      bytes_(std::move(bytes)),
      written_((bytes_.size() + kHoleUnit - 1) / kHoleUnit, true) {
  info_ = memory_info("memory", bytes_.size());
}

Result<void> MemDevice::read(std::uint64_t offset_bytes, MutableByteSpan out) {
  const std::scoped_lock lock(mutex_);
  ++read_calls_;
  VACANT_TRY(check_range(info_, offset_bytes, out.size()));
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset_bytes, out.size());
  return {};
}

Result<void> MemDevice::write(std::uint64_t offset_bytes, ByteSpan bytes) {
  const std::scoped_lock lock(mutex_);
  VACANT_TRY(check_range(info_, offset_bytes, bytes.size()));
  if (bytes.empty()) return {};
  std::memcpy(bytes_.data() + offset_bytes, bytes.data(), bytes.size());
  const std::uint64_t last = (offset_bytes + bytes.size() - 1) / kHoleUnit;
  for (std::uint64_t unit = offset_bytes / kHoleUnit; unit <= last; ++unit) written_[unit] = true;
  return {};
}

Result<void> MemDevice::zero(const Extent& extent) {
  const std::scoped_lock lock(mutex_);
  VACANT_TRY(check_range(info_, extent.offset_bytes, extent.length_bytes));
  std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(extent.offset_bytes), extent.length_bytes,
              std::byte{0});
  return {};
}

Result<void> MemDevice::discard(const Extent& extent) { return zero(extent); }

Result<std::vector<Allocation>> MemDevice::allocation(const Extent& range) {
  const std::scoped_lock lock(mutex_);
  VACANT_TRY(check_range(info_, range.offset_bytes, range.length_bytes));
  std::vector<Allocation> map;
  std::uint64_t at = range.offset_bytes;
  while (at < range.end_bytes()) {
    const bool hole = trust_holes_ && !written_[at / kHoleUnit];
    const std::uint64_t end = std::min(range.end_bytes(), round_down(at, kHoleUnit) + kHoleUnit);
    if (!map.empty() && map.back().hole == hole)
      map.back().extent.length_bytes += end - at;
    else
      map.push_back({{at, end - at}, hole});
    at = end;
  }
  return map;
}

std::uint64_t MemDevice::read_calls() const {
  const std::scoped_lock lock(mutex_);
  return read_calls_;
}

void FaultDevice::fail_reads(const Extent& extent) {
  const std::scoped_lock lock(mutex_);
  bad_.push_back(extent);
}

void FaultDevice::fail_reads_after(std::uint64_t read_count) {
  const std::scoped_lock lock(mutex_);
  read_limit_ = read_count;
}

void FaultDevice::fail_writes_after(std::uint64_t write_count, int sys_errno) {
  const std::scoped_lock lock(mutex_);
  write_limit_ = write_count;
  write_errno_ = sys_errno;
}

void FaultDevice::tear_writes(std::uint64_t keep_bytes) {
  const std::scoped_lock lock(mutex_);
  keep_bytes_ = keep_bytes;
}

Result<void> FaultDevice::read(std::uint64_t offset_bytes, MutableByteSpan out) {
  {
    const std::scoped_lock lock(mutex_);
    if (reads_++ >= read_limit_) return io_error("reading (made to fail)", offset_bytes, EIO);
    const Extent wanted{offset_bytes, out.size()};
    if (std::ranges::any_of(bad_, [&](const Extent& bad) { return bad.overlaps(wanted); }))
      return io_error("reading a bad extent", offset_bytes, EIO);
  }
  return inner_.read(offset_bytes, out);
}

std::optional<FaultDevice::WriteFault> FaultDevice::next_write(std::uint64_t offset_bytes) {
  const std::scoped_lock lock(mutex_);
  if (writes_++ < write_limit_) return std::nullopt;
  return WriteFault{errno_error(fmt::format("writing (made to fail) at {}", offset_bytes), write_errno_),
                    keep_bytes_};
}

Result<void> FaultDevice::write(std::uint64_t offset_bytes, ByteSpan bytes) {
  const auto fault = next_write(offset_bytes);
  if (!fault) return inner_.write(offset_bytes, bytes);
  VACANT_TRY(
      inner_.write(offset_bytes, bytes.first(std::min<std::uint64_t>(fault->keep_bytes, bytes.size()))));
  return fail(fault->error);
}

Result<void> FaultDevice::zero(const Extent& extent) {
  const auto fault = next_write(extent.offset_bytes);
  if (!fault) return inner_.zero(extent);
  VACANT_TRY(inner_.zero({extent.offset_bytes, std::min(fault->keep_bytes, extent.length_bytes)}));
  return fail(fault->error);
}

Result<void> FaultDevice::discard(const Extent& extent) {
  const auto fault = next_write(extent.offset_bytes);
  if (fault) return fail(fault->error);
  return inner_.discard(extent);
}

Result<void> FaultDevice::flush() { return inner_.flush(); }

Result<std::vector<Allocation>> FaultDevice::allocation(const Extent& range) {
  return inner_.allocation(range);
}

Result<void> LyingDiscardDevice::discard(const Extent& extent) {
  switch (behaviour_) {
    case DiscardBehaviour::kWorks:
      return inner_.discard(extent);
    case DiscardBehaviour::kUnsupported:
      return fail_errno("discard", EOPNOTSUPP);
    case DiscardBehaviour::kIgnored:
      return {};
  }
  return fail(Code::kInternal, "no such discard behaviour");
}

}  // namespace vacant::props
