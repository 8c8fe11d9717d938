#include "ext4/ext_io.h"

#include <et/com_err.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace vacant::img {

namespace {

// libext2fs opens by name only; the device is handed over here, for the open that follows.
ExtIo*& next_to_open() {
  thread_local ExtIo* next = nullptr;
  return next;
}

ExtIo& io_of(io_channel channel) { return *static_cast<ExtIo*>(channel->private_data); }

errcode_t io_open(const char* /*name*/, int /*flags*/, io_channel* out) {
  // libext2fs frees the channel through our own close, so calloc and free pair up.
  auto* channel = static_cast<io_channel>(std::calloc(1, sizeof(struct_io_channel)));
  if (channel == nullptr) return EXT2_ET_NO_MEMORY;
  channel->name = static_cast<char*>(std::calloc(1, 8));
  if (channel->name == nullptr) {
    std::free(channel);
    return EXT2_ET_NO_MEMORY;
  }
  std::memcpy(channel->name, "device", 6);
  channel->magic = EXT2_ET_MAGIC_IO_CHANNEL;
  channel->private_data = next_to_open();
  channel->manager = io_of(channel).manager();
  channel->block_size = 1024;
  channel->refcount = 1;
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
std::size_t length_of(io_channel channel, int count) {
  return count < 0 ? static_cast<std::size_t>(-static_cast<long long>(count))
                   : static_cast<std::size_t>(count) * static_cast<std::size_t>(channel->block_size);
}

errcode_t io_read64(io_channel channel, unsigned long long block, int count, void* data) {
  const MutableByteSpan out(static_cast<std::byte*>(data), length_of(channel, count));
  const auto done = io_of(channel).device().read(block * static_cast<unsigned>(channel->block_size), out);
  return done ? 0 : io_of(channel).refuse(done.error(), EXT2_ET_SHORT_READ);
}
errcode_t io_read(io_channel channel, unsigned long block, int count, void* data) {
  return io_read64(channel, block, count, data);
}

errcode_t io_write64(io_channel channel, unsigned long long block, int count, const void* data) {
  const ByteSpan bytes(static_cast<const std::byte*>(data), length_of(channel, count));
  const auto done = io_of(channel).device().write(block * static_cast<unsigned>(channel->block_size), bytes);
  return done ? 0 : io_of(channel).refuse(done.error(), EXT2_ET_SHORT_WRITE);
}
errcode_t io_write(io_channel channel, unsigned long block, int count, const void* data) {
  return io_write64(channel, block, count, data);
}

errcode_t io_write_byte(io_channel channel, unsigned long offset, int count, const void* data) {
  const ByteSpan bytes(static_cast<const std::byte*>(data), static_cast<std::size_t>(count));
  const auto done = io_of(channel).device().write(offset, bytes);
  return done ? 0 : io_of(channel).refuse(done.error(), EXT2_ET_SHORT_WRITE);
}

errcode_t io_flush(io_channel channel) {
  const auto done = io_of(channel).device().flush();
  return done ? 0 : io_of(channel).refuse(done.error(), EXT2_ET_SHORT_WRITE);
}

}  // namespace

io_manager ExtIo::manager() {
  static struct_io_manager manager = [] {
    initialize_ext2_error_table();
    struct_io_manager made{};
    made.magic = EXT2_ET_MAGIC_IO_MANAGER;
    made.name = "vacant";
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
  next_to_open() = this;
  return &manager;
}

errcode_t ExtIo::refuse(const Error& error, errcode_t code) {
  error_ = error;
  return code;
}

Result<void> ExtIo::check(errcode_t code, std::string_view what) {
  if (code == 0) return {};
  if (error_) return fail(error_->in(what));
  const bool full = code == EXT2_ET_BLOCK_ALLOC_FAIL || code == EXT2_ET_INODE_ALLOC_FAIL ||
                    code == EXT2_ET_EA_NO_SPACE || code == EXT2_ET_TOOSMALL;
  return fail(full ? Code::kLimit : Code::kInternal, fmt::format("{}: {}", what, error_message(code)));
}

}  // namespace vacant::img
