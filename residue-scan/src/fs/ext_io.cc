#include "fs/ext_io.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "vacant/base/extent.h"

namespace vacant::scan::fs {

namespace {

constexpr std::uint64_t kLineBytes = 64 * 1024;
constexpr std::uint64_t kSuperblockOffset = 1024;
constexpr std::size_t kLineCount = 256;  // 16 MiB

struct Line {
  std::uint64_t index = UINT64_MAX;
  ByteVector bytes;
};

// The child is single-threaded and serves one volume: its state is one object.
struct State {
  IsolateChannel* channel = nullptr;
  std::uint64_t volume_bytes = 0;
  std::array<Line, kLineCount> lines;
  ByteVector overlay;
};
State& state() {
  static State the_state;
  return the_state;
}

// The cached line; a bad sector spoils only the reads that touch its line.
const Line* load_line(std::uint64_t index) {
  Line& line = state().lines[index % kLineCount];
  if (line.index == index) return &line;
  const std::uint64_t begin = index * kLineBytes;
  const std::uint64_t length = std::min(kLineBytes, state().volume_bytes - begin);
  auto answer = state().channel->upcall(encode_read(begin, static_cast<std::uint32_t>(length)));
  if (!answer || answer->size() != length) return nullptr;
  line.index = index;
  line.bytes = std::move(*answer);
  return &line;
}

errcode_t io_open(const char* /*name*/, int flags, io_channel* out) {
  if ((flags & IO_FLAG_RW) != 0) return EXT2_ET_RO_FILSYS;
  // libext2fs frees the channel through our own close, so plain calloc and free pair up.
  auto* channel = static_cast<io_channel>(std::calloc(1, sizeof(struct_io_channel)));
  if (channel == nullptr) return EXT2_ET_NO_MEMORY;
  channel->magic = EXT2_ET_MAGIC_IO_CHANNEL;
  channel->manager = upcall_io_manager();
  channel->block_size = 1024;
  channel->refcount = 1;
  channel->name = static_cast<char*>(std::calloc(1, 8));
  if (channel->name == nullptr) {
    std::free(channel);
    return EXT2_ET_NO_MEMORY;
  }
  std::memcpy(channel->name, "volume", 7);
  *out = channel;
  return 0;
}

errcode_t io_close(io_channel channel) {
  if (--channel->refcount > 0) return 0;
  std::free(channel->name);
  std::free(channel);
  return 0;
}

errcode_t io_set_block_size(io_channel channel, int block_bytes) {
  channel->block_size = block_bytes;
  return 0;
}

// A negative count means bytes, as everywhere in libext2fs.
errcode_t io_read64(io_channel channel, unsigned long long block, int count, void* data) {
  const std::uint64_t block_bytes = static_cast<std::uint64_t>(channel->block_size);
  const std::uint64_t length =
      count < 0 ? static_cast<std::uint64_t>(-static_cast<long long>(count)) : count * block_bytes;
  if (block > UINT64_MAX / block_bytes) return EXT2_ET_SHORT_READ;
  const MutableByteSpan out(static_cast<std::byte*>(data), static_cast<std::size_t>(length));
  return read_volume(block * block_bytes, out) ? 0 : EXT2_ET_SHORT_READ;
}

errcode_t io_read(io_channel channel, unsigned long block, int count, void* data) {
  return io_read64(channel, block, count, data);
}

errcode_t io_write(io_channel, unsigned long, int, const void*) { return EXT2_ET_RO_FILSYS; }
errcode_t io_write64(io_channel, unsigned long long, int, const void*) { return EXT2_ET_RO_FILSYS; }
errcode_t io_write_byte(io_channel, unsigned long, int, const void*) { return EXT2_ET_RO_FILSYS; }
errcode_t io_flush(io_channel) { return 0; }

}  // namespace

ByteVector encode_read(std::uint64_t offset_bytes, std::uint32_t length_bytes) {
  ByteVector out(12);
  store_le(out, 0, offset_bytes);
  store_le(out, 8, length_bytes);
  return out;
}

void use_channel(IsolateChannel& channel, std::uint64_t volume_bytes) {
  state().channel = &channel;
  state().volume_bytes = volume_bytes;
}

void overlay_superblock(ByteVector super) { state().overlay = std::move(super); }

namespace {

void apply_overlay(std::uint64_t offset_bytes, MutableByteSpan out) {
  const Extent read{offset_bytes, out.size()};
  const Extent part = read.intersect({kSuperblockOffset, state().overlay.size()});
  if (part.empty()) return;
  std::memcpy(out.data() + (part.offset_bytes - offset_bytes),
              state().overlay.data() + (part.offset_bytes - kSuperblockOffset), part.length_bytes);
}

bool read_plain(std::uint64_t offset_bytes, MutableByteSpan out) {
  if (offset_bytes > state().volume_bytes || out.size() > state().volume_bytes - offset_bytes) return false;
  while (!out.empty()) {
    const Line* line = load_line(offset_bytes / kLineBytes);
    if (line == nullptr) return false;
    const auto inside = static_cast<std::size_t>(offset_bytes % kLineBytes);
    const std::size_t take = std::min(out.size(), line->bytes.size() - inside);
    std::memcpy(out.data(), line->bytes.data() + inside, take);
    out = out.subspan(take);
    offset_bytes += take;
  }
  return true;
}

}  // namespace

bool read_volume(std::uint64_t offset_bytes, MutableByteSpan out) {
  if (!read_plain(offset_bytes, out)) return false;
  apply_overlay(offset_bytes, out);
  return true;
}

io_manager upcall_io_manager() {
  static struct_io_manager manager = [] {
    struct_io_manager made{};
    made.magic = EXT2_ET_MAGIC_IO_MANAGER;
    made.name = "upcall";
    made.open = io_open;
    made.close = io_close;
    made.set_blksize = io_set_block_size;
    made.read_blk = io_read;
    made.read_blk64 = io_read64;
    made.write_blk = io_write;
    made.write_blk64 = io_write64;
    made.write_byte = io_write_byte;
    made.flush = io_flush;
    return made;
  }();
  return &manager;
}

}  // namespace vacant::scan::fs
