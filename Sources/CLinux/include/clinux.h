#ifndef PODCASTFS_CLINUX_H
#define PODCASTFS_CLINUX_H

// The one place for the Linux calls that Glibc's Swift module hides behind _GNU_SOURCE or that need C: see their manual
// pages. What is ours has a prefix; it returns what the call returns and leaves the reason in errno.

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/xattr.h>

#pragma clang assume_nonnull begin

#ifndef _GNU_SOURCE
int accept4(int listener, void *_Nullable address, void *_Nullable size, int flags);
pid_t gettid(void);
int memfd_create(const char *name, unsigned flags);
int pipe2(int ends[_Nonnull 2], int flags);
int pthread_setname_np(unsigned long thread, const char *name);
int renameat2(int folder, const char *path, int newFolder, const char *newPath, unsigned flags);
#endif

_Static_assert(sizeof(off_t) == 8, "off_t must have 64 bits");

/// epoll(7): an instance, close-on-exec; what to wait for on a descriptor (readable: 1, writable: 4 as in poll(2),
/// 0 for no more), under a number that comes back with its events; which are ready, at most `count`: how many, or -1
/// with errno.
struct podcastfs_ready {
  int32_t descriptor;
  uint32_t generation, events;
};
int podcastfs_epoll(void);
int podcastfs_epoll_set(int epoll, int descriptor, uint32_t generation, uint32_t events, int isNew);
int podcastfs_epoll_wait(int epoll, struct podcastfs_ready *ready, int count, int timeout);
/// pidfd_open(2), close-on-exec.
int podcastfs_process_descriptor(pid_t process);
/// CRC-32C (RFC 3720, B.4) of `count` bytes behind those that `sum` is of (0 at first).
uint32_t podcastfs_crc32c(uint32_t sum, const uint8_t *bytes, size_t count);
/// A non-blocking netlink socket for changes of addresses and routes (rtnetlink(7)); -1 with errno.
int podcastfs_network_events(void);
/// The same for the kernel's events of power supplies (netlink(7), NETLINK_KOBJECT_UEVENT).
int podcastfs_power_events(void);
/// Lets a socket receive only messages that have `power_supply` in their first bytes (socket(7), SO_ATTACH_FILTER); 0, or
/// -1 with errno. Mounts, networks and other devices make events all day, and each would wake the process up.
int podcastfs_pass_power_events(int socket);
/// Starts a program, found in PATH where its name has no slash, with `descriptors` as its numbers 0 to `count` - 1
/// (-1: /dev/null) and no other of ours, and with no signal blocked or ignored; 0 or an errno value. Without an
/// environment of its own it gets ours. A detached one has a session of its own and begins in the root directory.
int podcastfs_spawn(const char *program, char *_Nullable const arguments[_Nonnull],
                    char *_Nullable const *_Nullable environment, const int *descriptors, int count, int is_detached,
                    pid_t *process);
/// Gives the calling thread a table of descriptors of its own with `kept` only (-1: with none); 0, or -1 with errno.
int podcastfs_leave_descriptors(int kept);
/// From here on a fault of this program's own (SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT) leaves its number in
/// `word` before it ends the program.
///
/// While a thread waits in the kernel for something that this program itself may have to answer, there is no core dump. The
/// dump would wait for that thread, the thread for an answer, and the next process for the end of this one. See
/// `podcastfs_count_waiting`.
void podcastfs_note_faults(uint64_t *word);
/// A thread begins (1) or ends (-1) to wait in the kernel for what this program itself may have to answer.
void podcastfs_count_waiting(int change);
/// The number of the kernel's request that the calling thread serves.
extern _Thread_local uint64_t podcastfs_served_request;
static inline uint64_t podcastfs_request(void) { return podcastfs_served_request; }
static inline void podcastfs_set_request(uint64_t number) { podcastfs_served_request = number; }

/// "ENOENT"; null for a number that has no name.
const char *_Nullable podcastfs_errno_name(int number);

// Atomics on memory that two processes share.
static inline uint64_t podcastfs_load_acquire(const uint64_t *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline void podcastfs_store_release(uint64_t *at, uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

/// wcwidth(3) in a locale that knows all characters.
int podcastfs_columns(uint32_t character);

/// What `podcastfs_enter_sandbox` could put in force: no new privileges (prctl(2)), Landlock, a filter of system calls.
enum { PODCASTFS_SANDBOX_PRIVILEGES = 1, PODCASTFS_SANDBOX_FILES = 2, PODCASTFS_SANDBOX_CALLS = 4 };
/// From here on this process can use its memory and the descriptors below `descriptors`; it can open no file and no
/// socket and start no process. Returns what is in force, as the kernel has it.
int podcastfs_enter_sandbox(int descriptors);

#pragma clang assume_nonnull end

#endif
