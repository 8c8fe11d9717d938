// An io_manager for libext2fs that reads through the isolation channel. Lives in the isolated child only; one
// at a time. Private to scan.
#pragma once

#include <ext2fs/ext2fs.h>

#include "vacant/base/extent.h"
#include "vacant/base/isolate.h"

namespace vacant::scan {

// Largest read that the child may ask for in one upcall.
inline constexpr std::uint64_t kMaxUpcallBytes = 1 << 20;

// Makes `channel` and `volume_bytes` the source of every image that is opened with the returned manager from
// now on.
io_manager channel_io_manager(IsolateChannel& channel, std::uint64_t volume_bytes);

// The request's bytes and back (offset, length).
ByteVector encode_read(const Extent& extent);
Result<Extent> decode_read(ByteSpan bytes);

}  // namespace vacant::scan
