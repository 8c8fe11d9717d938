#include "vacant/img/zero.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace vacant::img {

namespace {

constexpr std::uint64_t kChunkBytes = kMiB;
constexpr std::uint64_t kDiscardBytes = kGiB;  // a request; a whole large disk in one may time out
constexpr std::uint64_t kMapBytes = 256 * kMiB;

bool discard_all(BlockDevice& device) {
  bool all = true;
  for (std::uint64_t at = 0; at < device.size_bytes(); at += kDiscardBytes)
    all = device.discard({at, std::min(kDiscardBytes, device.size_bytes() - at)}).has_value() && all;
  return all;
}

class Clearing {
 public:
  Clearing(BlockDevice& device, const ZeroOptions& options)
      : device_(device), options_(options), buffer_(kChunkBytes) {}

  // Reads everything, and overwrites what is not zero.
  Result<void> clear() {
    for (std::uint64_t at = 0; at < device_.size_bytes(); at += kMapBytes) {
      const Extent range{at, std::min(kMapBytes, device_.size_bytes() - at)};
      for (const Allocation& part : VACANT_TRY(device_.allocation(range)))
        if (!part.hole || options_.every_byte) VACANT_TRY(clear_around(part.extent));
      if (options_.progress) options_.progress({range.end_bytes(), device_.size_bytes()});
    }
    return {};
  }

  // Reads again what was overwritten. A device whose zero request lies gets written zeros, and one more look.
  Result<void> verify() {
    VACANT_TRY(device_.flush());
    for (const Extent& chunk : overwritten_) {
      if (VACANT_TRY(reads_zero(chunk))) continue;
      const ByteVector zeros(static_cast<std::size_t>(chunk.length_bytes));
      VACANT_TRY(device_.write(chunk.offset_bytes, zeros));
      VACANT_TRY(device_.flush());
      if (!VACANT_TRY(reads_zero(chunk)))
        return fail(Code::kIo, fmt::format("{} does not stay zero at {}: the device is faulty, or lies",
                                           device_.info().name, chunk.offset_bytes));
    }
    return {};
  }
  [[nodiscard]] std::uint64_t overwritten_bytes() const { return overwritten_bytes_; }

 private:
  // Clears the part but for what is to be kept. Parts come in order, so the kept extents are passed once.
  Result<void> clear_around(const Extent& part) {
    std::uint64_t at = part.offset_bytes;
    while (at < part.end_bytes()) {
      while (next_keep_ < options_.keep.size() && options_.keep[next_keep_].end_bytes() <= at) ++next_keep_;
      const Extent kept =
          next_keep_ < options_.keep.size() ? options_.keep[next_keep_] : Extent{UINT64_MAX, 0};
      const std::uint64_t stop = std::clamp(kept.offset_bytes, at, part.end_bytes());
      VACANT_TRY(clear_part({at, stop - at}));
      at = stop < part.end_bytes() ? kept.end_bytes() : stop;
    }
    return {};
  }
  Result<void> clear_part(const Extent& part) {
    for (std::uint64_t at = part.offset_bytes; at < part.end_bytes(); at += kChunkBytes) {
      if (options_.cancel != nullptr && options_.cancel->cancelled())
        return fail(Code::kCancelled, "stopped");
      const Extent chunk{at, std::min(kChunkBytes, part.end_bytes() - at)};
      if (VACANT_TRY(reads_zero(chunk)) && !options_.every_byte) continue;
      VACANT_TRY(overwrite(chunk));
      overwritten_bytes_ += chunk.length_bytes;
      overwritten_.push_back(chunk);
    }
    return {};
  }
  // A zero request may be answered by unmapping, which leaves the next write of a thin pool to somebody
  // else's block: where every byte is asked for, zeros are written as data.
  Result<void> overwrite(const Extent& chunk) {
    if (!options_.every_byte) return device_.zero(chunk);
    return device_.write(chunk.offset_bytes, ByteVector(static_cast<std::size_t>(chunk.length_bytes)));
  }
  Result<bool> reads_zero(const Extent& chunk) {
    const MutableByteSpan bytes =
        MutableByteSpan(buffer_).first(static_cast<std::size_t>(chunk.length_bytes));
    VACANT_TRY(device_.read(chunk.offset_bytes, bytes));
    return is_zero(bytes);
  }

  BlockDevice& device_;
  const ZeroOptions& options_;
  ByteVector buffer_;
  std::vector<Extent> overwritten_;
  std::uint64_t overwritten_bytes_ = 0;
  std::size_t next_keep_ = 0;
};

}  // namespace

Result<ZeroStats> zero_device(BlockDevice& device, const ZeroOptions& options) {
  ZeroStats stats;
  stats.discard_accepted = options.discard && options.keep.empty() && discard_all(device);
  if (stats.discard_accepted) VACANT_TRY(device.flush());
  Clearing clearing(device, options);
  VACANT_TRY(clearing.clear());
  VACANT_TRY(clearing.verify());
  stats.overwritten_bytes = clearing.overwritten_bytes();
  stats.verified_bytes = device.size_bytes();
  for (const Extent& kept : options.keep) stats.verified_bytes -= kept.length_bytes;
  return stats;
}

}  // namespace vacant::img
