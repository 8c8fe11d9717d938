// libext2fs on top of a BlockDevice. Private to imgtools.
#pragma once

#include <ext2fs/ext2fs.h>

#include <memory>
#include <optional>
#include <string>

#include "vacant/base/device.h"

namespace vacant::img {

struct FsDeleter {
  void operator()(ext2_filsys fs) const { ext2fs_free(fs); }
};
using FsHandle = std::unique_ptr<struct_ext2_filsys, FsDeleter>;

// The device under a file system, and what it last refused: libext2fs passes numbers on, not reasons. Must
// outlive the file system that was opened through it.
class ExtIo {
 public:
  explicit ExtIo(BlockDevice& device) : device_(device) {}
  // A manager whose next open() on this thread gives a channel to this device.
  io_manager manager();
  // 0 is no error. Otherwise the device's own error if it had one, or libext2fs's text.
  Result<void> check(errcode_t code, std::string_view what);

  [[nodiscard]] BlockDevice& device() const { return device_; }
  errcode_t refuse(const Error& error, errcode_t code);

 private:
  BlockDevice& device_;
  std::optional<Error> error_;
};

}  // namespace vacant::img
