// The arguments of vacant image, one struct a verb.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "context.h"
#include "vacant/base/result.h"

namespace vacant::cli {

// Of every verb that writes an image.
struct TargetArgs {
  std::string path;
  bool yes = false;       // write over what is there, without a question
  bool in_place = false;  // an existing file is cleared and written, not replaced
  bool no_discard = false;
  bool json = false, quiet = false;
};

// Of the file system that create and build make.
struct Ext4Args {
  std::string size;
  std::string uuid, label;
  std::optional<std::int64_t> time_seconds;
  std::uint32_t block_bytes = 4096;
  std::uint64_t inode_count = 0;
  std::uint32_t journal_mib = 0, reserved_percent = 5;
  bool no_journal = false, resize_inode = false;
};

struct ImageCreateArgs {
  TargetArgs target;
  Ext4Args ext4;
};
Result<int> run_image_create(const ImageCreateArgs& args, Context& context);

struct ImageBuildArgs {
  std::string source;
  TargetArgs target;
  Ext4Args ext4;
  std::string owner;  // UID:GID
  bool clamp_mtime = false, one_file_system = false;
};
Result<int> run_image_build(const ImageBuildArgs& args, Context& context);

struct ImageZeroArgs {
  TargetArgs target;
  bool every_byte = false;
};
Result<int> run_image_zero(const ImageZeroArgs& args, Context& context);

// All verbs of vacant image. Borrowed by the parser for as long as it lives.
struct ImageArgs {
  ImageCreateArgs create;
  ImageBuildArgs build;
  ImageZeroArgs zero;
};

}  // namespace vacant::cli
