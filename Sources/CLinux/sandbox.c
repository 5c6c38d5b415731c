// A process that reads what strangers sent keeps its memory and the files that it has open, and nothing else.

#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/// Landlock (landlock(7)) with no rule: every access to the file system that the kernel knows is refused, and TCP.
static int restrict_files(void) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return 0;
  // Rights by the version that brought them: 13 of files, then LINK, TRUNCATE, two of TCP, IOCTL.
  struct { uint64_t files, network; } rules = {(1ull << 13) - 1, 0};
  if (version >= 2) rules.files |= 1ull << 13;
  if (version >= 3) rules.files |= 1ull << 14;
  if (version >= 5) rules.files |= 1ull << 15;
  if (version >= 4) rules.network = 3;
  size_t size = version >= 4 ? sizeof rules : sizeof rules.files;
  int descriptor = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
  if (descriptor < 0) return 0;
  int isRestricted = syscall(SYS_landlock_restrict_self, descriptor, 0) == 0;
  close(descriptor);
  return isRestricted;
}

/// The calls that work on memory, on files that are open, and on this process itself; all others fail with EPERM.
static int restrict_calls(void) {
#ifdef ARCHITECTURE
#define CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      CALL(read), CALL(write), CALL(pread64), CALL(pwrite64), CALL(readv), CALL(writev), CALL(lseek), CALL(fstat),
      CALL(newfstatat), CALL(ftruncate), CALL(close), CALL(fcntl), CALL(mmap), CALL(munmap), CALL(mremap),
      CALL(mprotect), CALL(madvise), CALL(brk), CALL(futex), CALL(sched_yield), CALL(sched_getaffinity),
      CALL(clock_gettime), CALL(clock_nanosleep), CALL(gettimeofday), CALL(getrandom), CALL(getpid), CALL(gettid),
      CALL(getrusage), CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(sigaltstack), CALL(tgkill),
      CALL(restart_syscall), CALL(exit), CALL(exit_group), CALL(ppoll),
#ifdef SYS_poll
      CALL(poll),
#endif
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
  return 0;
#endif
}

int podcastfs_enter_sandbox(int descriptors) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
  syscall(SYS_close_range, (unsigned)descriptors, ~0u, 0);
  int protections = PODCASTFS_SANDBOX_PRIVILEGES;
  if (restrict_files()) protections |= PODCASTFS_SANDBOX_FILES;
  if (restrict_calls()) protections |= PODCASTFS_SANDBOX_CALLS;
  return protections;
}
