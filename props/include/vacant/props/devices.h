// Simulated devices for tests: a disk in memory, one that fails, one that lies about discard, and a thin pool
// with 64 KiB blocks whose zeroing can be switched off (a fast stand-in for dm-thin). All are thread-safe as
// BlockDevice demands.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "vacant/base/device.h"

namespace vacant::props {

// A disk in memory. Holes: ranges never written, reported by allocation() if trust_holes.
class MemDevice final : public BlockDevice {
 public:
  explicit MemDevice(std::uint64_t size_bytes, bool trust_holes = false);
  explicit MemDevice(ByteVector bytes);
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset_bytes, ByteSpan bytes) override;
  Result<void> zero(const Extent& extent) override;
  Result<void> discard(const Extent& extent) override;  // zeroes
  Result<void> flush() override { return {}; }
  Result<std::vector<Allocation>> allocation(const Extent& range) override;
  [[nodiscard]] ByteVector& bytes() { return bytes_; }  // not locked: for set-up only
  std::uint64_t read_calls() const;

 private:
  DeviceInfo info_;
  bool trust_holes_;
  mutable std::mutex mutex_;
  ByteVector bytes_;
  std::vector<bool> written_;  // by 4 KiB
  std::uint64_t read_calls_ = 0;
};

// Decorates a device with faults: reads of bad extents fail with EIO; writes may be torn or lost after a
// given count.
class FaultDevice final : public BlockDevice {
 public:
  explicit FaultDevice(BlockDevice& inner) : inner_(inner) {}
  void fail_reads(const Extent& extent);            // EIO whenever a read touches it
  void fail_reads_after(std::uint64_t read_count);  // every read from then on
  void fail_writes_after(std::uint64_t write_count, int sys_errno);
  void tear_writes(std::uint64_t keep_bytes);  // a failing write still leaves its first keep_bytes behind
  [[nodiscard]] const DeviceInfo& info() const override { return inner_.info(); }
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset_bytes, ByteSpan bytes) override;
  Result<void> zero(const Extent& extent) override;
  Result<void> discard(const Extent& extent) override;
  Result<void> flush() override;
  Result<std::vector<Allocation>> allocation(const Extent& range) override;

 private:
  struct WriteFault {
    Error error;
    std::uint64_t keep_bytes;
  };
  // Counts one write; the fault that it shall meet, if any.
  std::optional<WriteFault> next_write(std::uint64_t offset_bytes);
  BlockDevice& inner_;
  std::mutex mutex_;
  std::vector<Extent> bad_;
  std::uint64_t reads_ = 0, writes_ = 0, read_limit_ = UINT64_MAX, write_limit_ = UINT64_MAX, keep_bytes_ = 0;
  int write_errno_ = 0;
};

// What a lying device does with discard and zero requests.
enum class DiscardBehaviour { kWorks, kUnsupported, kIgnored /* says ok, keeps the old bytes */ };

class LyingDiscardDevice final : public BlockDevice {
 public:
  LyingDiscardDevice(BlockDevice& inner, DiscardBehaviour behaviour) : inner_(inner), behaviour_(behaviour) {}
  [[nodiscard]] const DeviceInfo& info() const override { return inner_.info(); }
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override {
    return inner_.read(offset_bytes, out);
  }
  Result<void> write(std::uint64_t offset_bytes, ByteSpan bytes) override {
    return inner_.write(offset_bytes, bytes);
  }
  Result<void> zero(const Extent& extent) override { return inner_.zero(extent); }
  Result<void> discard(const Extent& extent) override;
  Result<void> flush() override { return inner_.flush(); }
  Result<std::vector<Allocation>> allocation(const Extent& range) override {
    return inner_.allocation(range);
  }

 private:
  BlockDevice& inner_;
  DiscardBehaviour behaviour_;
};

// A pool of blocks handed to volumes on first write. With zeroing off a block arrives as its last user left
// it, but for the bytes that the first write covers: the fault that this product was made for.
class ThinPoolSim {
 public:
  struct Options {
    std::uint64_t block_bytes = 64 * kKiB;
    std::uint64_t block_count = 1024;
    bool zeroing = true;
    bool discard_passdown = false;  // discarded blocks lose their content before they go back to the pool
  };
  explicit ThinPoolSim(const Options& options);
  ~ThinPoolSim();
  // A new thin volume. Destroying it (or discard of whole blocks) gives its blocks back to the pool, most
  // recently freed first. The pool must outlive its volumes.
  std::unique_ptr<BlockDevice> create_volume(std::uint64_t size_bytes);
  [[nodiscard]] std::uint64_t free_blocks() const;
  // The write map of a volume made by create_volume: byte ranges that it wrote itself, sorted, merged.
  static std::vector<Extent> written(const BlockDevice& volume);

 private:
  class Volume;
  struct Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace vacant::props
