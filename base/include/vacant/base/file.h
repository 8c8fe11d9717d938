// Whole-file reading with a limit, and writing that leaves the old file or the new one, never a half.
#pragma once

#include <cstdint>
#include <string>

#include "vacant/base/bytes.h"
#include "vacant/base/fd.h"
#include "vacant/base/result.h"

namespace vacant {

// Reads a regular file of at most limit_bytes. kLimit if it is longer, kUnsupported if it is no regular file.
Result<ByteVector> read_file(const std::string& path, std::uint64_t limit_bytes);
// Reads a descriptor to its end (pipe, file, terminal), at most limit_bytes.
Result<ByteVector> read_fd(int fd, std::uint64_t limit_bytes);
// Writes to a temporary file in the same folder, fsync, rename, fsync of the folder. On failure nothing is
// left under the final name that was not there before, and no temporary file either.
Result<void> write_file_atomic(const std::string& path, ByteSpan bytes, unsigned mode);
// Makes a name that was put into the folder, or taken from it, durable.
Result<void> sync_folder(const std::string& folder);
// The folder that a path lies in; "." for a bare name.
std::string folder_of(const std::string& path);
// Writes all of it, through short writes and EINTR.
Result<void> write_all(int fd, ByteSpan bytes);

}  // namespace vacant
