#include "fs/ext_io.h"

#include <ext2fs/ext2fs.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace vacant::scan {

namespace {

constexpr std::uint64_t kLineBytes = 64 * 1024;
constexpr std::size_t kLineCount = 256;  // 16 MiB of cache in the child

// Read-only cache of the volume in lines. A line that cannot be read as a whole is not cached: the exact
// range is asked for.
class Source {
 public:
  Source(IsolateChannel& channel, std::uint64_t volume_bytes)
      : channel_(channel), size_bytes_(volume_bytes), lines_(kLineCount) {}

  errcode_t read(std::uint64_t offset, std::size_t size, char* out) {
    if (offset > size_bytes_ || size > size_bytes_ - offset) return EXT2_ET_SHORT_READ;
    while (size > 0) {
      const std::uint64_t line = offset / kLineBytes;
      const std::size_t within = static_cast<std::size_t>(offset % kLineBytes);
      const std::size_t count = std::min(size, static_cast<std::size_t>(kLineBytes) - within);
      if (const ByteVector* bytes = cached(line); bytes != nullptr && within + count <= bytes->size()) {
        std::memcpy(out, bytes->data() + within, count);
      } else {
        const auto exact = channel_.upcall(encode_read({offset, count}));
        if (!exact || exact->size() != count) return EXT2_ET_SHORT_READ;
        std::memcpy(out, exact->data(), count);
      }
      offset += count;
      out += count;
      size -= count;
    }
    return 0;
  }

 private:
  struct Line {
    std::uint64_t index = UINT64_MAX;
    ByteVector bytes;
  };
  const ByteVector* cached(std::uint64_t index) {
    Line& line = lines_[static_cast<std::size_t>(index % kLineCount)];
    if (line.index == index) return &line.bytes;
    const std::uint64_t begin = index * kLineBytes;
    const std::uint64_t count = std::min(kLineBytes, size_bytes_ - begin);
    auto bytes = channel_.upcall(encode_read({begin, count}));
    if (!bytes || bytes->size() != count) return nullptr;
    line = {index, std::move(*bytes)};
    return &line.bytes;
  }
  IsolateChannel& channel_;
  std::uint64_t size_bytes_;
  std::vector<Line> lines_;
};

// libext2fs opens a manager by name only: this is how the child tells it what to read.
Source* g_source = nullptr;
struct_io_manager g_manager;

// SAFETY: libext2fs hands back the channel that open() below made, with the magic number that it checks
// itself.
errcode_t open_channel(const char* /*name*/, int /*flags*/, io_channel* out) {
  auto* channel = static_cast<io_channel>(std::calloc(1, sizeof(struct struct_io_channel)));
  if (channel == nullptr) return EXT2_ET_NO_MEMORY;
  channel->magic = EXT2_ET_MAGIC_IO_CHANNEL;
  channel->manager = &g_manager;
  channel->name = static_cast<char*>(std::calloc(1, 8));
  channel->block_size = 1024;
  channel->refcount = 1;
  *out = channel;
  return 0;
}

errcode_t close_channel(io_channel channel) {
  if (--channel->refcount > 0) return 0;
  std::free(channel->name);
  std::free(channel);
  return 0;
}

errcode_t set_block_size(io_channel channel, int block_bytes) {
  channel->block_size = block_bytes;
  return 0;
}

errcode_t read_blocks64(io_channel channel, unsigned long long block, int count, void* data) {
  // A negative count is a number of bytes.
  const std::size_t size =
      count < 0 ? static_cast<std::size_t>(-static_cast<long long>(count))
                : static_cast<std::size_t>(count) * static_cast<std::size_t>(channel->block_size);
  std::uint64_t offset = 0;
  if (__builtin_mul_overflow(block, static_cast<std::uint64_t>(channel->block_size), &offset))
    return EXT2_ET_SHORT_READ;
  return g_source->read(offset, size, static_cast<char*>(data));
}

errcode_t read_blocks(io_channel channel, unsigned long block, int count, void* data) {
  return read_blocks64(channel, block, count, data);
}
errcode_t refuse_write64(io_channel, unsigned long long, int, const void*) { return EXT2_ET_RO_FILSYS; }
errcode_t refuse_write(io_channel, unsigned long, int, const void*) { return EXT2_ET_RO_FILSYS; }
errcode_t flush(io_channel) { return 0; }

}  // namespace

io_manager channel_io_manager(IsolateChannel& channel, std::uint64_t volume_bytes) {
  delete g_source;
  g_source = new Source(channel, volume_bytes);
  std::memset(&g_manager, 0, sizeof g_manager);
  g_manager.magic = EXT2_ET_MAGIC_IO_MANAGER;
  g_manager.name = "isolated volume";
  g_manager.open = open_channel;
  g_manager.close = close_channel;
  g_manager.set_blksize = set_block_size;
  g_manager.read_blk = read_blocks;
  g_manager.write_blk = refuse_write;
  g_manager.flush = flush;
  g_manager.read_blk64 = read_blocks64;
  g_manager.write_blk64 = refuse_write64;
  return &g_manager;
}

ByteVector encode_read(const Extent& extent) {
  ByteVector out(16);
  store_le(out, 0, extent.offset_bytes);
  store_le(out, 8, extent.length_bytes);
  return out;
}

Result<Extent> decode_read(ByteSpan bytes) {
  if (bytes.size() != 16) return fail(Code::kCorrupt, "the parser asks for nothing sensible");
  return make_extent(load_le<std::uint64_t>(bytes, 0), load_le<std::uint64_t>(bytes, 8));
}

}  // namespace vacant::scan
