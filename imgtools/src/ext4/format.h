// The frame of a file system: superblock, groups, journal, reserved inodes. Private to imgtools.
#pragma once

#include "ext4/ext_io.h"
#include "vacant/img/ext4.h"

namespace vacant::img {

// Lays out the groups and allocates their tables. Nothing is written yet.
Result<FsHandle> lay_out(ExtIo& io, const Ext4Options& options);
// Identity and time: must be set before anything with a checksum is written.
void set_identity(ext2_filsys fs, const Uuid& uuid, std::int64_t time_seconds);
// Journal, reserved inodes, resize inode. After the files, so that it takes what they left.
Result<void> add_internals(ExtIo& io, ext2_filsys fs, const Ext4Options& options);
// Writes all that libext2fs holds, and frees it.
Result<void> close_fs(ExtIo& io, FsHandle fs);

}  // namespace vacant::img
