#include "ext4/content.h"

#include <fmt/format.h>

#include <algorithm>

#include "vacant/base/copy.h"

namespace vacant::img {

namespace {

constexpr std::size_t kWindowBytes = kMiB;
constexpr std::size_t kPendingBytes = kMiB;
// Sharing costs a system call and an extent of the host's file system; below this a copy is the cheaper one.
constexpr std::size_t kLeastShareBytes = 128 * kKiB;
constexpr int kMaxRefusals = 8;

class MemoryContent final : public FileContent {
 public:
  explicit MemoryContent(ByteSpan bytes) : bytes_(bytes) {}
  Result<void> read(std::uint64_t offset_bytes, MutableByteSpan out) override {
    std::ranges::copy(bytes_.subspan(static_cast<std::size_t>(offset_bytes), out.size()), out.begin());
    return {};
  }

 private:
  ByteSpan bytes_;
};

}  // namespace

ContentWriter::ContentWriter(WriteBack& device, Allocator& allocator, std::uint32_t block_bytes)
    : device_(device), allocator_(allocator), block_bytes_(block_bytes), window_(kWindowBytes) {}

Result<std::vector<Run>> ContentWriter::write(std::uint64_t size_bytes, FileContent& content) {
  runs_.clear();
  size_bytes_ = size_bytes;
  for (std::uint64_t at = 0; at < size_bytes;) {
    const std::uint64_t zeros = VACANT_TRY(content.zeros_at(at));
    if (zeros >= block_bytes_ || zeros >= size_bytes - at) {
      at += zeros >= size_bytes - at ? size_bytes - at : round_down(zeros, block_bytes_);
      continue;
    }
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, size_bytes - at));
    // The rest of the last block is zero: nothing of an earlier file may stand there.
    const auto padded = static_cast<std::size_t>(round_up(want, block_bytes_));
    const MutableByteSpan bytes = MutableByteSpan(window_).first(padded);
    std::ranges::fill(bytes.subspan(want), std::byte{0});
    VACANT_TRY(content.read(at, bytes.first(want)));
    VACANT_TRY(write_window(at / block_bytes_, bytes, content));
    at += want;
  }
  return std::move(runs_);
}

Result<std::vector<Run>> ContentWriter::write(ByteSpan bytes) {
  MemoryContent content(bytes);
  return write(bytes.size(), content);
}

// Blocks of zeros become holes, whatever the source says of its own: the image shall not depend on where the
// source was kept.
Result<void> ContentWriter::write_window(std::uint64_t first_block, MutableByteSpan bytes,
                                         FileContent& content) {
  const auto zero_at = [&](std::size_t at) { return is_zero(ByteSpan(bytes).subspan(at, block_bytes_)); };
  for (std::size_t at = 0; at < bytes.size();) {
    if (zero_at(at)) {
      at += block_bytes_;
      continue;
    }
    const std::size_t begin = at;
    while (at < bytes.size() && !zero_at(at)) at += block_bytes_;
    VACANT_TRY(write_blocks(first_block + begin / block_bytes_, ByteSpan(bytes).subspan(begin, at - begin),
                            content));
  }
  return {};
}

Result<void> ContentWriter::write_blocks(std::uint64_t first_block, ByteSpan bytes, FileContent& content) {
  while (!bytes.empty()) {
    const Run run = VACANT_TRY(allocator_.take(first_block, bytes.size() / block_bytes_));
    const auto part = bytes.first(static_cast<std::size_t>(run.count * block_bytes_));
    append_run(runs_, run);
    if (!VACANT_TRY(share(run, part, content))) VACANT_TRY(append(run.physical * block_bytes_, part));
    bytes = bytes.subspan(part.size());
    first_block += run.count;
  }
  return {};
}

// Whole blocks are shared, the end of a file that fills no block is copied. False: nothing was shared.
Result<bool> ContentWriter::share(const Run& run, ByteSpan bytes, FileContent& content) {
  if (content.file_descriptor() < 0 || bytes.size() < kLeastShareBytes || share_refusals_ >= kMaxRefusals)
    return false;
  const Extent source{
      run.logical * block_bytes_,
      round_down(std::min<std::uint64_t>(bytes.size(), size_bytes_ - run.logical * block_bytes_),
                 block_bytes_)};
  const std::uint64_t target = run.physical * block_bytes_;
  const auto shared = reflink_range(content.file_descriptor(), source, device_.inner(), target);
  if (!shared && shared.error().code != Code::kUnsupported) return fail(shared.error());
  if (!shared) {
    ++share_refusals_;
    return false;
  }
  share_refusals_ = 0;
  device_.note_written({target, source.length_bytes});
  shared_bytes_ += source.length_bytes;
  const ByteSpan rest = bytes.subspan(static_cast<std::size_t>(source.length_bytes));
  if (!rest.empty()) VACANT_TRY(append(target + source.length_bytes, rest));
  return true;
}

Result<void> ContentWriter::append(std::uint64_t offset_bytes, ByteSpan bytes) {
  while (!bytes.empty()) {
    const bool goes_on = offset_bytes == pending_at_ + pending_.size() && pending_.size() < kPendingBytes;
    if (!goes_on) VACANT_TRY(flush());
    if (pending_.empty()) pending_at_ = offset_bytes;
    // A large piece needs no copy on the way.
    if (pending_.empty() && bytes.size() >= kPendingBytes) return device_.write_through(offset_bytes, bytes);
    const std::size_t take = std::min(bytes.size(), kPendingBytes - pending_.size());
    pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
    bytes = bytes.subspan(take);
    offset_bytes += take;
  }
  return {};
}

Result<void> ContentWriter::flush() {
  if (pending_.empty()) return {};
  VACANT_TRY(device_.write_through(pending_at_, pending_));
  pending_.clear();
  return {};
}

Result<void> ContentWriter::drop(const std::vector<Run>& runs) {
  VACANT_TRY(flush());
  for (const Run& run : runs) {
    VACANT_TRY(device_.zero({run.physical * block_bytes_, run.count * block_bytes_}));
    allocator_.give_back(run);
  }
  return {};
}

}  // namespace vacant::img
