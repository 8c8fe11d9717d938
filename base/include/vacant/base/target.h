// Target: a disk image that is being made, or an existing disk that is written over.
//
// A new file has no name until commit(): a process that is killed before leaves nothing behind (on file
// systems without O_TMPFILE, a hidden file beside it), and a file that it shall replace stays as it was. A
// block device, and a file written in place, cannot be replaced as a whole: they are locked while they are
// written, and what they hold in between is the caller's business.
//
// Movable, owned once. The device may be used by several threads; commit() by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "vacant/base/device.h"
#include "vacant/base/fd.h"
#include "vacant/base/result.h"

namespace vacant {

struct TargetOptions {
  std::uint64_t size_bytes = 0;  // of a new file; 0: of an existing target its own size
  unsigned mode = 0644;          // of a new file, before the umask
  bool overwrite = false;        // an existing file is replaced, an existing device written over
  bool in_place = false;         // an existing file is written over instead, and keeps its size
};

class Target {
 public:
  // kInvalidArgument if something is there and `overwrite` is not set, or if an existing target is smaller
  // than size_bytes; kPermission if the device is mounted or in use.
  static Result<Target> open(const std::string& path, const TargetOptions& options);
  Target(Target&&) = default;
  Target& operator=(Target&&) = default;
  ~Target();  // without commit(): a new file vanishes

  [[nodiscard]] BlockDevice& device() const { return *device_; }
  // True for a new file: every byte reads as zero until it is written.
  [[nodiscard]] bool is_new() const { return is_new_; }
  // Makes all of it durable; a new file gets its name, in place of a former one if `overwrite` was set.
  Result<void> commit();

 private:
  Target() = default;
  std::string path_, temporary_;  // temporary_: the hidden name, if the file has one
  std::unique_ptr<BlockDevice> device_;
  bool is_new_ = false, overwrite_ = false;
};

}  // namespace vacant
