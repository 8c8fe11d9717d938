#include "vacant/base/directory.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace vacant {

Result<void> ensure_private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return fail_errno(fmt::format("making {}", path), errno);
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return fail_errno(fmt::format("looking at {}", path), errno);
  if (!S_ISDIR(status.st_mode)) return fail(Code::kPermission, fmt::format("{} is no folder", path));
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return fail(
        Code::kPermission,
        fmt::format("{} must be yours and closed to others (chmod 700): what is saved there is sensitive",
                    path));
  return {};
}

}  // namespace vacant
