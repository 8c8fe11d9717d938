// Result and Error: how every fallible operation of vacant answers.
//
// A function that can fail returns Result<T>. Exceptions are left to memory exhaustion; assertions
// (VACANT_ASSERT, always compiled in) are for our own bugs, never for bad input.
// Result is a class of ours and not a bare std::expected, since libstdc++ 12 gives no warning for a dropped
// one. Value type, safe to move between threads.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace vacant {

// What kind of failure it is. The command line maps it to an exit code; tests ask for it by name.
enum class Code {
  kInvalidArgument,  // the caller's words are off                               -> exit 2
  kIo,               // the system or the device said no (errno is set)          -> exit 3
  kNotFound,         // no such file, key, inode                                 -> exit 3
  kPermission,       // EACCES, EPERM                                            -> exit 3
  kCorrupt,          // hostile or damaged bytes: refused                        -> exit 3
  kLimit,            // a stated bound was reached                               -> exit 3
  kUnsupported,      // valid, but not something that we can do                  -> exit 3
  kCancelled,        // Ctrl-C or a caller's stop                                -> exit 3
  kMismatch,         // a signature, digest or claim does not hold               -> exit 1
  kInternal,         // our own fault                                            -> exit 4
};

std::string_view name(Code code);

struct Error {
  Code code = Code::kInternal;
  int sys_errno = 0;    // 0 if no system call was involved
  std::string message;  // for people: what failed and what to do. Never holds content of a scanned device.

  // Puts what was being done in front: "reading the base image: ...".
  [[nodiscard]] Error in(std::string_view context) const;
};

// Builds an Error from errno: "<what>: <strerror>". EACCES and EPERM become kPermission, ENOENT kNotFound.
Error errno_error(std::string_view what, int sys_errno);

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected<Error>(Error{code, 0, std::move(message)});
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }
inline std::unexpected<Error> fail_errno(std::string_view what, int sys_errno) {
  return std::unexpected<Error>(errno_error(what, sys_errno));
}

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace vacant

// TRY(expr): the value of a Result, or return its error from the enclosing function.
// The name is made unique, so that one may stand inside another.
#define VACANT_TRY(expr) VACANT_TRY_NAMED(expr, VACANT_TRY_JOIN(vacant_try_, __COUNTER__))
#define VACANT_TRY_JOIN(left, right) VACANT_TRY_JOIN_EXPANDED(left, right)
#define VACANT_TRY_JOIN_EXPANDED(left, right) left##right
#define VACANT_TRY_NAMED(expr, name)                                                         \
  __extension__({                                                                            \
    auto&& name = (expr);                                                                    \
    if (!name.has_value()) return std::unexpected<::vacant::Error>(std::move(name).error()); \
    ::vacant::detail::take(std::move(name));                                                 \
  })

#define VACANT_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::vacant::assertion_failed(#condition, __FILE__, __LINE__))

namespace vacant::detail {
template <class T>
T take(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace vacant::detail
