#include "ext4/write_back.h"

#include <fmt/format.h>

#include <algorithm>

namespace vacant::img {

namespace {

constexpr std::size_t kMaxPages = 16'384;  // 64 MiB
constexpr std::size_t kMaxJoinedBytes = kMiB;

void merge(std::vector<Extent>& extents) {
  std::ranges::sort(extents);
  std::vector<Extent> merged;
  for (const Extent& extent : extents) {
    if (!merged.empty() && extent.offset_bytes <= merged.back().end_bytes()) {
      const std::uint64_t end = std::max(merged.back().end_bytes(), extent.end_bytes());
      merged.back().length_bytes = end - merged.back().offset_bytes;
    } else {
      merged.push_back(extent);
    }
  }
  extents = std::move(merged);
}

}  // namespace

WriteBack::WriteBack(BlockDevice& inner, std::uint64_t size_bytes) : inner_(inner), info_(inner.info()) {
  info_.size_bytes = size_bytes;
}

Result<ByteVector*> WriteBack::page(std::uint64_t index) {
  auto found = pages_.find(index);
  if (found == pages_.end()) {
    if (pages_.size() >= kMaxPages) VACANT_TRY(write_out(1));
    ByteVector bytes(kPageBytes);
    const std::uint64_t begin = index * kPageBytes;
    const std::uint64_t length = std::min<std::uint64_t>(kPageBytes, info_.size_bytes - begin);
    VACANT_TRY(inner_.read(begin, MutableByteSpan(bytes).first(static_cast<std::size_t>(length))));
    found = pages_.emplace(index, std::move(bytes)).first;
  }
  return &found->second;
}

Result<void> WriteBack::read(std::uint64_t offset_bytes, MutableByteSpan out) {
  if (offset_bytes > info_.size_bytes || out.size() > info_.size_bytes - offset_bytes)
    return fail(Code::kIo, fmt::format("reading past the end at {}", offset_bytes));
  VACANT_TRY(inner_.read(offset_bytes, out));
  const Extent range{offset_bytes, out.size()};
  for (auto it = pages_.lower_bound(offset_bytes / kPageBytes);
       it != pages_.end() && it->first * kPageBytes < range.end_bytes(); ++it) {
    const Extent part = range.intersect({it->first * kPageBytes, kPageBytes});
    std::copy_n(it->second.begin() + static_cast<std::ptrdiff_t>(part.offset_bytes - it->first * kPageBytes),
                part.length_bytes,
                out.begin() + static_cast<std::ptrdiff_t>(part.offset_bytes - offset_bytes));
  }
  return {};
}

Result<void> WriteBack::write(std::uint64_t offset_bytes, ByteSpan bytes) {
  if (offset_bytes > info_.size_bytes || bytes.size() > info_.size_bytes - offset_bytes)
    return fail(Code::kIo, fmt::format("writing past the end at {}", offset_bytes));
  while (!bytes.empty()) {
    ByteVector& target = *VACANT_TRY(page(offset_bytes / kPageBytes));
    const auto inside = static_cast<std::size_t>(offset_bytes % kPageBytes);
    const std::size_t take = std::min(bytes.size(), kPageBytes - inside);
    std::ranges::copy(bytes.first(take), target.begin() + static_cast<std::ptrdiff_t>(inside));
    bytes = bytes.subspan(take);
    offset_bytes += take;
  }
  return {};
}

Result<void> WriteBack::zero(const Extent& extent) {
  const ByteVector zeros(static_cast<std::size_t>(std::min(extent.length_bytes, kMiB)));
  for (std::uint64_t at = extent.offset_bytes; at < extent.end_bytes(); at += zeros.size())
    VACANT_TRY(write_through(at, ByteSpan(zeros).first(static_cast<std::size_t>(
                                     std::min<std::uint64_t>(zeros.size(), extent.end_bytes() - at)))));
  return {};
}

Result<void> WriteBack::discard(const Extent& /*extent*/) {
  return fail(Code::kUnsupported, "a file system that is being made is not discarded");
}

Result<std::vector<Allocation>> WriteBack::allocation(const Extent& range) {
  return std::vector{Allocation{range, false}};
}

Result<void> WriteBack::put(std::uint64_t offset_bytes, ByteSpan bytes) {
  const std::uint64_t room = info_.size_bytes - offset_bytes;  // the last page may reach past the end
  const ByteSpan part = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), room)));
  note_written({offset_bytes, part.size()});
  return inner_.write(offset_bytes, part);
}

Result<void> WriteBack::write_through(std::uint64_t offset_bytes, ByteSpan bytes) {
  const std::uint64_t last = (offset_bytes + bytes.size() - 1) / kPageBytes;
  const auto overlay = pages_.lower_bound(offset_bytes / kPageBytes);
  VACANT_ASSERT(overlay == pages_.end() || overlay->first > last);
  return put(offset_bytes, bytes);
}

void WriteBack::note_written(const Extent& extent) {
  if (!written_.empty() && written_.back().end_bytes() == extent.offset_bytes)
    written_.back().length_bytes += extent.length_bytes;
  else
    written_.push_back(extent);
}

Result<void> WriteBack::write_out(std::uint64_t first_page) {
  ByteVector joined;
  std::uint64_t begin = 0;
  for (auto it = pages_.lower_bound(first_page); it != pages_.end(); it = pages_.erase(it)) {
    const std::uint64_t at = it->first * kPageBytes;
    if (!joined.empty() && (at != begin + joined.size() || joined.size() >= kMaxJoinedBytes)) {
      VACANT_TRY(put(begin, joined));
      joined.clear();
    }
    if (joined.empty()) begin = at;
    joined.insert(joined.end(), it->second.begin(), it->second.end());
  }
  return joined.empty() ? Result<void>{} : put(begin, joined);
}

Result<void> WriteBack::finish() {
  VACANT_TRY(write_out(1));
  VACANT_TRY(inner_.flush());
  VACANT_TRY(write_out(0));
  return inner_.flush();
}

std::vector<Extent> WriteBack::take_written() {
  merge(written_);
  return std::move(written_);
}

}  // namespace vacant::img
