// The libext2fs I/O manager of the isolated child: every read goes to the parent by an upcall, through a
// small cache of 64 KiB lines. Read-only: every write fails. One volume per process.
#pragma once

#include <ext2fs/ext2fs.h>

#include "vacant/base/isolate.h"

namespace vacant::scan::fs {

// What the child asks of the parent: offset and length in the volume. The answer has exactly that length.
ByteVector encode_read(std::uint64_t offset_bytes, std::uint32_t length_bytes);
inline constexpr std::uint32_t kMaxReadBytes = 1U << 20;

// Sets the channel and the size that the manager below reads through. Must outlive every use of it.
void use_channel(IsolateChannel& channel, std::uint64_t volume_bytes);
// From now on the volume reads as if these 1024 bytes were its primary superblock (empty: as it is).
void overlay_superblock(ByteVector super);
io_manager upcall_io_manager();
// Reads bytes of the volume through the same cache. False if they lie outside or cannot be read.
bool read_volume(std::uint64_t offset_bytes, MutableByteSpan out);

}  // namespace vacant::scan::fs
