#include "vacant/base/fd.h"

#include <unistd.h>

namespace vacant {

void UniqueFd::reset(int fd) {
  // The descriptor is gone after close() whatever it answers (Linux); write paths fsync before and check
  // that.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace vacant
