#include "source/attributes.h"

namespace vacant::img {

void adjust(Attributes& attributes, const SourceOptions& options) {
  if (options.owner) {
    attributes.uid = options.owner->uid;
    attributes.gid = options.owner->gid;
  }
  if (options.latest_mtime && attributes.mtime_seconds >= *options.latest_mtime) {
    attributes.mtime_seconds = *options.latest_mtime;
    attributes.mtime_nanoseconds = 0;
  }
}

bool is_kept_xattr(std::string_view name) {
  return name.starts_with("user.") || name == "security.capability" || name == "system.posix_acl_access" ||
         name == "system.posix_acl_default";
}

}  // namespace vacant::img
