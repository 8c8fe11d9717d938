#include "sys/sandbox.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <vector>

namespace vacant::sys {

namespace {

void close_others(std::span<const int> keep_fds) {
  std::vector<unsigned> keep(keep_fds.begin(), keep_fds.end());
  std::ranges::sort(keep);
  unsigned from = 0;
  for (const unsigned fd : keep) {
    if (fd > from) ::syscall(SYS_close_range, from, fd - 1, 0U);
    from = fd + 1;
  }
  ::syscall(SYS_close_range, from, ~0U, 0U);
}

std::uint64_t mapped_bytes() {
  // statm's first field: size of the address space in pages.
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  unsigned long long pages = 0;
  if (file == nullptr) return 0;
  const int got = std::fscanf(file, "%llu", &pages);
  std::fclose(file);
  return got == 1 ? pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

Result<void> limit(__rlimit_resource resource, std::uint64_t value) {
  const rlimit both{value, value};
  if (::setrlimit(resource, &both) != 0) return fail_errno("setting a limit", errno);
  return {};
}

Result<void> set_limits(const SandboxLimits& limits, std::uint64_t mapped) {
  VACANT_TRY(limit(RLIMIT_CORE, 0));
  VACANT_TRY(limit(RLIMIT_FSIZE, 0));
  if (limits.cpu_seconds > 0) VACANT_TRY(limit(RLIMIT_CPU, limits.cpu_seconds));
#ifndef VACANT_SANITIZED  // sanitizers map terabytes of shadow memory
  if (limits.memory_bytes > 0 && mapped > 0) VACANT_TRY(limit(RLIMIT_AS, mapped + limits.memory_bytes));
#else
  static_cast<void>(mapped);
#endif
  return {};
}

// A domain that handles every right on files and grants none. Kernels without Landlock rely on the seccomp
// filter, which has no open at all.
void enter_landlock() {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs =
      (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;  // the rights of the first Landlock version
  const long ruleset = ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U);
  if (ruleset < 0) return;
  ::syscall(SYS_landlock_restrict_self, static_cast<int>(ruleset), 0U);
  ::close(static_cast<int>(ruleset));
}

constexpr int kAllowed[] = {SCMP_SYS(read),
                            SCMP_SYS(write),
                            SCMP_SYS(readv),
                            SCMP_SYS(writev),
                            SCMP_SYS(pread64),
                            SCMP_SYS(recvfrom),
                            SCMP_SYS(sendto),
                            SCMP_SYS(recvmsg),
                            SCMP_SYS(sendmsg),
                            SCMP_SYS(close),
                            SCMP_SYS(fstat),
                            SCMP_SYS(lseek),
                            SCMP_SYS(poll),
                            SCMP_SYS(ppoll),
                            SCMP_SYS(mmap),
                            SCMP_SYS(munmap),
                            SCMP_SYS(mremap),
                            SCMP_SYS(mprotect),
                            SCMP_SYS(madvise),
                            SCMP_SYS(brk),
                            SCMP_SYS(futex),
                            SCMP_SYS(rt_sigaction),
                            SCMP_SYS(rt_sigprocmask),
                            SCMP_SYS(rt_sigreturn),
                            SCMP_SYS(sigaltstack),
                            SCMP_SYS(exit),
                            SCMP_SYS(exit_group),
                            SCMP_SYS(clock_gettime),
                            SCMP_SYS(gettimeofday),
                            SCMP_SYS(time),
                            SCMP_SYS(getpid),
                            SCMP_SYS(gettid),
                            SCMP_SYS(tgkill),
                            SCMP_SYS(getrandom),
                            SCMP_SYS(sched_yield),
                            SCMP_SYS(restart_syscall),
                            SCMP_SYS(clock_nanosleep),
                            SCMP_SYS(nanosleep),
                            SCMP_SYS(sched_getaffinity),
                            SCMP_SYS(rseq),
                            SCMP_SYS(membarrier)};

Result<void> enter_seccomp() {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (filter == nullptr) return fail(Code::kInternal, "cannot make a seccomp filter");
  int problem = 0;
  for (const int call : kAllowed)
    if (problem == 0) problem = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
#ifdef VACANT_SANITIZED  // the undefined-behaviour sanitizer probes memory by writing it to a pipe
  if (problem == 0) problem = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pipe2), 0);
#endif
  // Looked for and refused without a kill: libraries ask for these and go on without them.
  for (const int call : {SCMP_SYS(openat), SCMP_SYS(open), SCMP_SYS(newfstatat), SCMP_SYS(readlink),
                         SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(sysinfo), SCMP_SYS(prlimit64),
                         SCMP_SYS(ioctl), SCMP_SYS(fcntl), SCMP_SYS(uname)})
    if (problem == 0) problem = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), call, 0);
  if (problem == 0) problem = seccomp_load(filter);
  seccomp_release(filter);
  if (problem != 0) return fail_errno("loading the seccomp filter", -problem);
  return {};
}

}  // namespace

Result<void> enter_sandbox(std::span<const int> keep_fds, const SandboxLimits& limits) {
  const std::uint64_t mapped = mapped_bytes();
  close_others(keep_fds);
  ::prctl(PR_SET_DUMPABLE, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_errno("giving up new privileges", errno);
  VACANT_TRY(set_limits(limits, mapped));
  enter_landlock();
  return enter_seccomp();
}

}  // namespace vacant::sys
