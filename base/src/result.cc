#include "vacant/base/result.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace vacant {

std::string_view name(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid-argument";
    case Code::kIo:
      return "io";
    case Code::kNotFound:
      return "not-found";
    case Code::kPermission:
      return "permission";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kLimit:
      return "limit";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kCancelled:
      return "cancelled";
    case Code::kMismatch:
      return "mismatch";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

Error Error::in(std::string_view context) const {
  return Error{code, sys_errno, fmt::format("{}: {}", context, message)};
}

Error errno_error(std::string_view what, int sys_errno) {
  Code code = Code::kIo;
  if (sys_errno == EACCES || sys_errno == EPERM) code = Code::kPermission;
  if (sys_errno == ENOENT) code = Code::kNotFound;
  return Error{code, sys_errno, fmt::format("{}: {}", what, std::generic_category().message(sys_errno))};
}

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "vacant: internal error: %s does not hold (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace vacant
