#include "fs/wire.h"

namespace vacant::scan {

namespace {

constexpr std::size_t kMaxTextBytes = 4096;
constexpr std::size_t kMaxPaths = 100'000;

class Writer {
 public:
  template <class T>
  void put(T value) {
    std::array<std::byte, sizeof(T)> raw{};
    store_le(raw, 0, value);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void text(std::string_view value) {
    value = value.substr(0, kMaxTextBytes);
    put(static_cast<std::uint32_t>(value.size()));
    const ByteSpan raw = as_bytes(value);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void raw(ByteSpan value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }
  ByteVector take() { return std::move(bytes_); }

 private:
  ByteVector bytes_;
};

Result<std::string> read_text(Reader& reader) {
  const auto size = VACANT_TRY(reader.le<std::uint32_t>());
  if (size > kMaxTextBytes) return fail(Code::kCorrupt, "the parser's answer has too long a text");
  return std::string(as_text(VACANT_TRY(reader.take(size))));
}

Result<std::uint64_t> read_count(Reader& reader, std::uint64_t limit) {
  const auto count = VACANT_TRY(reader.le<std::uint64_t>());
  if (count > limit) return fail(Code::kLimit, "the parser's answer is over its limit");
  return count;
}

Result<FsExtent> read_extent(Reader& reader, std::uint64_t volume_bytes) {
  const auto offset = VACANT_TRY(reader.le<std::uint64_t>());
  FsExtent out;
  out.extent = VACANT_TRY(make_extent(offset, VACANT_TRY(reader.le<std::uint64_t>())));
  const auto part = VACANT_TRY(reader.le<std::uint8_t>());
  const auto live = VACANT_TRY(reader.le<std::uint8_t>());
  out.inode = VACANT_TRY(reader.le<std::uint32_t>());
  if (part > static_cast<std::uint8_t>(FsPart::kOutside) || live > 1 || out.extent.end_bytes() > volume_bytes)
    return fail(Code::kCorrupt, "the parser's answer leaves its volume");
  out.part = static_cast<FsPart>(part);
  out.live = live != 0;
  return out;
}

}  // namespace

ByteVector encode(const ExtRequest& request) {
  Writer writer;
  writer.put<std::uint8_t>(request.paths ? 1 : 0);
  writer.put(request.volume_bytes);
  writer.put(request.max_extents);
  writer.put(request.max_inodes);
  writer.put(static_cast<std::uint64_t>(request.inodes.size()));
  for (const std::uint32_t inode : request.inodes) writer.put(inode);
  return writer.take();
}

Result<ExtRequest> decode_request(ByteSpan bytes) {
  Reader reader(bytes);
  ExtRequest out;
  out.paths = VACANT_TRY(reader.le<std::uint8_t>()) != 0;
  out.volume_bytes = VACANT_TRY(reader.le<std::uint64_t>());
  out.max_extents = VACANT_TRY(reader.le<std::uint64_t>());
  out.max_inodes = VACANT_TRY(reader.le<std::uint64_t>());
  for (std::uint64_t i = 0, n = VACANT_TRY(read_count(reader, kMaxPaths)); i < n; ++i)
    out.inodes.push_back(VACANT_TRY(reader.le<std::uint32_t>()));
  return out;
}

ByteVector encode(const ExtAnswer& answer) {
  Writer writer;
  writer.text(answer.status);
  writer.put<std::uint8_t>(answer.parsed ? 1 : 0);
  writer.raw(answer.uuid);
  writer.put(answer.block_bytes);
  writer.put(answer.checksum_seed);
  writer.put<std::uint8_t>(answer.has_checksums ? 1 : 0);
  writer.put(answer.file_count);
  writer.put(static_cast<std::uint64_t>(answer.extents.size()));
  for (const FsExtent& part : answer.extents) {
    writer.put(part.extent.offset_bytes);
    writer.put(part.extent.length_bytes);
    writer.put(static_cast<std::uint8_t>(part.part));
    writer.put<std::uint8_t>(part.live ? 1 : 0);
    writer.put(part.inode);
  }
  writer.put(static_cast<std::uint64_t>(answer.inodes.size()));
  for (const OwnInode& inode : answer.inodes) {
    writer.put(inode.inode);
    writer.put(inode.generation);
  }
  writer.put(static_cast<std::uint64_t>(answer.paths.size()));
  for (const auto& [inode, path] : answer.paths) {
    writer.put(inode);
    writer.text(path);
  }
  return writer.take();
}

Result<ExtAnswer> decode_answer(ByteSpan bytes, const ExtRequest& request) {
  Reader reader(bytes);
  ExtAnswer out;
  out.status = VACANT_TRY(read_text(reader));
  out.parsed = VACANT_TRY(reader.le<std::uint8_t>()) != 0;
  std::ranges::copy(VACANT_TRY(reader.take(out.uuid.size())), out.uuid.begin());
  out.block_bytes = VACANT_TRY(reader.le<std::uint32_t>());
  out.checksum_seed = VACANT_TRY(reader.le<std::uint32_t>());
  out.has_checksums = VACANT_TRY(reader.le<std::uint8_t>()) != 0;
  out.file_count = VACANT_TRY(reader.le<std::uint64_t>());
  for (std::uint64_t i = 0, n = VACANT_TRY(read_count(reader, request.max_extents)); i < n; ++i)
    out.extents.push_back(VACANT_TRY(read_extent(reader, request.volume_bytes)));
  for (std::uint64_t i = 0, n = VACANT_TRY(read_count(reader, request.max_inodes)); i < n; ++i) {
    const auto inode = VACANT_TRY(reader.le<std::uint32_t>());
    out.inodes.push_back({0, inode, VACANT_TRY(reader.le<std::uint32_t>())});
  }
  for (std::uint64_t i = 0, n = VACANT_TRY(read_count(reader, kMaxPaths)); i < n; ++i) {
    const auto inode = VACANT_TRY(reader.le<std::uint32_t>());
    out.paths[inode] = VACANT_TRY(read_text(reader));
  }
  if (reader.remaining() != 0) return fail(Code::kCorrupt, "the parser's answer has bytes behind its end");
  return out;
}

}  // namespace vacant::scan
