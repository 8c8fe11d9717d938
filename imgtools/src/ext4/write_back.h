// Collects small writes of metadata in memory and hands them on sorted and joined; remembers what was
// written. Private to imgtools. Not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "vacant/base/device.h"

namespace vacant::img {

class WriteBack final : public BlockDevice {
 public:
  // `size_bytes`: what the file system may touch of the device.
  WriteBack(BlockDevice& inner, std::uint64_t size_bytes);
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset_bytes, ByteSpan bytes) override;
  Result<void> zero(const Extent& extent) override;
  Result<void> discard(const Extent& extent) override;
  Result<void> flush() override { return {}; }  // libext2fs asks often; write_out() and finish() do it
  Result<std::vector<Allocation>> allocation(const Extent& range) override;

  // For file content, which is never read back: goes to the device at once.
  Result<void> write_through(std::uint64_t offset_bytes, ByteSpan bytes);
  // Notes that the device's range was filled by other means (shared blocks).
  void note_written(const Extent& extent);
  [[nodiscard]] BlockDevice& inner() { return inner_; }

  // Writes all pages, flushes, writes the first page (the superblock) and flushes again: until then nothing
  // takes the device for a file system.
  Result<void> finish();
  // Sorted and merged.
  std::vector<Extent> take_written();

 private:
  static constexpr std::size_t kPageBytes = 4096;
  Result<ByteVector*> page(std::uint64_t index);
  Result<void> write_out(std::uint64_t first_page);
  Result<void> put(std::uint64_t offset_bytes, ByteSpan bytes);

  BlockDevice& inner_;
  DeviceInfo info_;
  std::map<std::uint64_t, ByteVector> pages_;
  std::vector<Extent> written_;
};

}  // namespace vacant::img
