// Where the files of an image come from: a folder of the host, or a tar archive.
#pragma once

#include <optional>
#include <string>

#include "vacant/base/cancel.h"
#include "vacant/base/progress.h"
#include "vacant/base/result.h"
#include "vacant/img/ext4.h"

namespace vacant::img {

struct SourceOptions {
  struct Owner {
    std::uint32_t uid = 0, gid = 0;
  };
  std::optional<Owner> owner;                // of everything, in place of what the source says
  std::optional<std::int64_t> latest_mtime;  // later times become this one
  bool one_file_system = false;              // a folder: stay out of what is mounted in it
  const CancelToken* cancel = nullptr;
  ProgressFn progress;  // content read; the total is not known beforehand and told as 0
};

// Adds all that is in the folder, in the order of its names' bytes, itself as the root. Attributes that name
// the host and not the file are left out: of the extended ones those of "user.", "security.capability" and
// the access lists of POSIX are taken. kIo if a file changes while it is read; kPermission for what the
// caller may not read.
Result<void> add_tree(Ext4Builder& builder, const std::string& folder, const SourceOptions& options);

}  // namespace vacant::img
