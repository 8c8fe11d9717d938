// ThinPoolSim. A volume maps virtual blocks to pool blocks on first write. Free blocks are a stack: the block
// that was freed last is handed out first, which is what makes one tenant's data arrive at the next.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "range.h"
#include "vacant/props/devices.h"

namespace vacant::props {

struct ThinPoolSim::Pool {
  explicit Pool(const Options& with) : options(with), bytes(with.block_bytes * with.block_count) {
    for (std::uint64_t block = with.block_count; block > 0; --block) free.push_back(block - 1);
  }
  MutableByteSpan block(std::uint64_t index) {
    return MutableByteSpan(bytes).subspan(index * options.block_bytes, options.block_bytes);
  }
  void give_back(std::uint64_t index) {
    if (options.discard_passdown) std::ranges::fill(block(index), std::byte{0});
    free.push_back(index);
  }

  Options options;
  std::mutex mutex;  // guards everything below and the maps of all volumes
  ByteVector bytes;
  std::vector<std::uint64_t> free;  // a stack
};

class ThinPoolSim::Volume final : public BlockDevice {
 public:
  Volume(std::shared_ptr<Pool> pool, std::uint64_t size_bytes) : pool_(std::move(pool)) {
    info_ = memory_info("thin volume", size_bytes);
  }
  ~Volume() override {
    const std::scoped_lock lock(pool_->mutex);
    for (const auto& [virtual_block, pool_block] : blocks_) pool_->give_back(pool_block);
  }
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override;
  Result<void> write(std::uint64_t offset_bytes, ByteSpan bytes) override;
  Result<void> zero(const Extent& extent) override;
  Result<void> discard(const Extent& extent) override;
  Result<void> flush() override { return {}; }
  // A thin volume's own map is not evidence: the pool is what we distrust.
  Result<std::vector<Allocation>> allocation(const Extent& range) override {
    VACANT_TRY(check_range(info_, range.offset_bytes, range.length_bytes));
    if (range.empty()) return std::vector<Allocation>{};
    return std::vector<Allocation>{{range, false}};
  }
  [[nodiscard]] std::vector<Extent> written() const {
    const std::scoped_lock lock(pool_->mutex);
    std::vector<Extent> extents;
    for (const auto& [begin, end] : written_) extents.push_back({begin, end - begin});
    return extents;
  }

 private:
  // Calls visit(virtual block, offset in the block, offset in the request, length) for each block of a range.
  template <class Visit>
  Result<void> for_each_block(std::uint64_t offset_bytes, std::uint64_t length_bytes, Visit visit) {
    const std::uint64_t block_bytes = pool_->options.block_bytes;
    for (std::uint64_t done = 0; done < length_bytes;) {
      const std::uint64_t at = offset_bytes + done;
      const std::uint64_t part = std::min(length_bytes - done, block_bytes - at % block_bytes);
      VACANT_TRY(visit(at / block_bytes, at % block_bytes, done, part));
      done += part;
    }
    return {};
  }
  Result<std::uint64_t> map_for_write(std::uint64_t virtual_block, bool covers_all);
  void add_written(std::uint64_t begin, std::uint64_t end);
  void remove_written(std::uint64_t begin, std::uint64_t end);

  std::shared_ptr<Pool> pool_;
  DeviceInfo info_;
  std::map<std::uint64_t, std::uint64_t> blocks_;   // virtual block -> pool block
  std::map<std::uint64_t, std::uint64_t> written_;  // begin -> end, disjoint, not touching
};

Result<void> ThinPoolSim::Volume::read(std::uint64_t offset_bytes, MutableByteSpan out) {
  const std::scoped_lock lock(pool_->mutex);
  VACANT_TRY(check_range(info_, offset_bytes, out.size()));
  return for_each_block(
      offset_bytes, out.size(), [&](auto block, auto inside, auto done, auto part) -> Result<void> {
        const auto mapped = blocks_.find(block);
        const MutableByteSpan target = out.subspan(done, part);
        if (mapped == blocks_.end())
          std::ranges::fill(target, std::byte{0});
        else
          std::ranges::copy(pool_->block(mapped->second).subspan(inside, part), target.begin());
        return {};
      });
}

Result<std::uint64_t> ThinPoolSim::Volume::map_for_write(std::uint64_t virtual_block, bool covers_all) {
  if (const auto mapped = blocks_.find(virtual_block); mapped != blocks_.end()) return mapped->second;
  if (pool_->free.empty()) return fail_errno("the pool is full", ENOSPC);
  const std::uint64_t block = pool_->free.back();
  pool_->free.pop_back();
  if (pool_->options.zeroing && !covers_all) std::ranges::fill(pool_->block(block), std::byte{0});
  blocks_.emplace(virtual_block, block);
  return block;
}

Result<void> ThinPoolSim::Volume::write(std::uint64_t offset_bytes, ByteSpan bytes) {
  const std::scoped_lock lock(pool_->mutex);
  VACANT_TRY(check_range(info_, offset_bytes, bytes.size()));
  const std::uint64_t block_bytes = pool_->options.block_bytes;
  return for_each_block(
      offset_bytes, bytes.size(), [&](auto block, auto inside, auto done, auto part) -> Result<void> {
        const std::uint64_t mapped = VACANT_TRY(map_for_write(block, part == block_bytes));
        std::ranges::copy(bytes.subspan(done, part), pool_->block(mapped).subspan(inside, part).begin());
        add_written(offset_bytes + done, offset_bytes + done + part);
        return {};
      });
}

Result<void> ThinPoolSim::Volume::zero(const Extent& extent) {
  const std::scoped_lock lock(pool_->mutex);
  VACANT_TRY(check_range(info_, extent.offset_bytes, extent.length_bytes));
  return for_each_block(extent.offset_bytes, extent.length_bytes,
                        [&](auto block, auto inside, auto /*done*/, auto part) -> Result<void> {
                          const auto mapped = blocks_.find(block);
                          if (mapped == blocks_.end()) return {};  // reads as zeros already
                          std::ranges::fill(pool_->block(mapped->second).subspan(inside, part), std::byte{0});
                          const std::uint64_t begin = block * pool_->options.block_bytes + inside;
                          add_written(begin, begin + part);
                          return {};
                        });
}

// Whole blocks go back to the pool; as with dm-thin, a part of a block stays as it is.
Result<void> ThinPoolSim::Volume::discard(const Extent& extent) {
  const std::scoped_lock lock(pool_->mutex);
  VACANT_TRY(check_range(info_, extent.offset_bytes, extent.length_bytes));
  const std::uint64_t block_bytes = pool_->options.block_bytes;
  return for_each_block(extent.offset_bytes, extent.length_bytes,
                        [&](auto block, auto /*inside*/, auto /*done*/, auto part) -> Result<void> {
                          const auto mapped = blocks_.find(block);
                          const std::uint64_t begin = block * block_bytes;
                          const bool whole = part == block_bytes || (part == info_.size_bytes - begin &&
                                                                     begin >= extent.offset_bytes);
                          if (mapped == blocks_.end() || !whole) return {};
                          pool_->give_back(mapped->second);
                          blocks_.erase(mapped);
                          remove_written(begin, begin + block_bytes);
                          return {};
                        });
}

void ThinPoolSim::Volume::add_written(std::uint64_t begin, std::uint64_t end) {
  auto next = written_.upper_bound(begin);
  if (next != written_.begin() && std::prev(next)->second >= begin) {
    --next;
    begin = next->first;
  }
  while (next != written_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = written_.erase(next);
  }
  written_.emplace(begin, end);
}

void ThinPoolSim::Volume::remove_written(std::uint64_t begin, std::uint64_t end) {
  auto next = written_.upper_bound(begin);
  if (next != written_.begin() && std::prev(next)->second > begin) --next;
  while (next != written_.end() && next->first < end) {
    const auto [old_begin, old_end] = *next;
    next = written_.erase(next);
    if (old_begin < begin) written_.emplace(old_begin, begin);
    if (old_end > end) written_.emplace(end, old_end);
  }
}

ThinPoolSim::ThinPoolSim(const Options& options) : pool_(std::make_shared<Pool>(options)) {}
ThinPoolSim::~ThinPoolSim() = default;

std::unique_ptr<BlockDevice> ThinPoolSim::create_volume(std::uint64_t size_bytes) {
  return std::make_unique<Volume>(pool_, size_bytes);
}

std::uint64_t ThinPoolSim::free_blocks() const {
  const std::scoped_lock lock(pool_->mutex);
  return pool_->free.size();
}

std::vector<Extent> ThinPoolSim::written(const BlockDevice& volume) {
  const auto* ours = dynamic_cast<const Volume*>(&volume);
  VACANT_ASSERT(ours != nullptr);
  return ours->written();
}

}  // namespace vacant::props
