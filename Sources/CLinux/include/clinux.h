#ifndef PODCASTFS_CLINUX_H
#define PODCASTFS_CLINUX_H

// The one place for the Linux calls that Glibc's Swift module hides behind _GNU_SOURCE or that need C:
// extended attributes, eventfd, accept4, peer credentials, locks, atomics on shared memory.
// Each returns what the call returns and leaves the reason in errno.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

_Static_assert(sizeof(off_t) == 8, "off_t must have 64 bits");

/// eventfd(2), close-on-exec and non-blocking.
int podcastfs_eventfd(void);
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
/// pipe2(2), close-on-exec: the reading end, then the writing end; 0, or -1 with errno.
int podcastfs_pipe(int ends[_Nonnull 2]);
/// accept4(2) with SOCK_CLOEXEC | SOCK_NONBLOCK.
int podcastfs_accept(int listener);
/// SO_PEERCRED of a connected Unix socket; 0, or -1 with errno.
int podcastfs_peer_credentials(int socket, pid_t *pid, uid_t *uid);
/// listxattr(2), getxattr(2), setxattr(2).
ssize_t podcastfs_listxattr(const char *path, char *_Nullable names, size_t size);
ssize_t podcastfs_getxattr(const char *path, const char *name, void *_Nullable value, size_t size);
int podcastfs_setxattr(const char *path, const char *name, const void *value, size_t size);
/// TIOCGWINSZ (ioctl_tty(2)): the terminal's columns and rows; 0, or -1 with errno.
int podcastfs_terminal_size(int descriptor, int *columns, int *rows);
/// memfd_create(2), close-on-exec, and pidfd_open(2), which is so always.
int podcastfs_memory_file(const char *name);
int podcastfs_process_descriptor(pid_t process);
/// gettid(2).
pid_t podcastfs_gettid(void);
// mallopt(3): two arenas; blocks of 128 KiB and more are mappings of their own, given back when freed.
void podcastfs_save_memory(void);
/// mallopt(3): two arenas, and nothing else.
void podcastfs_share_heaps(void);
/// malloc_trim(3).
void podcastfs_trim_memory(void);
/// pthread_setname_np(3) of the calling thread; at most 15 bytes are kept.
void podcastfs_set_thread_name(const char *name);
/// Starts `function` on a new detached thread with `stack` bytes of stack; 0 or an errno value.
int podcastfs_start_detached(void *_Nonnull (*_Nonnull function)(void *_Nonnull), void *argument, size_t stack);
/// open(2) and fcntl(2) without their variadic forms.
int podcastfs_open(const char *path, int flags, mode_t mode);
int podcastfs_set_nonblocking(int descriptor);
int podcastfs_set_close_on_exec(int descriptor);
/// Open-file-description write lock on the whole file, without waiting; 0, or -1 with errno (EAGAIN).
int podcastfs_try_lock(int descriptor);
/// The same for a lock that many may share (the file open for reading), and the end of either.
int podcastfs_try_lock_shared(int descriptor);
int podcastfs_unlock(int descriptor);
/// Whether somebody has a lock of this kind on the file (F_OFD_GETLK), without taking one; -1 with errno.
int podcastfs_is_locked(int descriptor);
/// A lock on one byte, of this open file description, that many may share; 0, or -1 with errno.
int podcastfs_lock_byte(int descriptor, off_t place);
/// The place of a byte in a range that another open file has locked, any of them; -1 where there is none.
off_t podcastfs_find_locked(int descriptor, off_t first, off_t count);
/// CRC-32C (RFC 3720, B.4) of `count` bytes behind those that `sum` is of (0 at first).
uint32_t podcastfs_crc32c(uint32_t sum, const uint8_t *bytes, size_t count);
/// umount2(2), plain and with MNT_DETACH; 0, or -1 with errno.
int podcastfs_unmount(const char *path);
int podcastfs_unmount_lazily(const char *path);
/// fallocate(2): gives the room of a range back to the disk.
int podcastfs_punch_hole(int descriptor, off_t offset, off_t length);
/// inotify_init1(2), close-on-exec and non-blocking, and inotify_add_watch(2).
int podcastfs_inotify(void);
int podcastfs_inotify_watch(int descriptor, const char *path, uint32_t mask);

/// A netlink socket, non-blocking, that hears of changed addresses and routes (rtnetlink(7)); -1 with errno.
int podcastfs_network_events(void);
/// timerfd_create(2) with CLOCK_BOOTTIME, whose time passes while the machine sleeps; and seconds from now until it
/// can be read, 0 for never.
int podcastfs_wake_timer(void);
int podcastfs_set_wake_timer(int timer, double seconds);

/// Starts a program, found in PATH where its name has no slash, with `descriptors` as its numbers 0 to `count` - 1
/// (-1: /dev/null) and no other of ours, and with no signal blocked or ignored; 0 or an errno value. Without an
/// environment of its own it gets ours. A detached one has a session of its own and begins in the root directory.
int podcastfs_spawn(const char *program, char *_Nullable const arguments[_Nonnull],
                    char *_Nullable const *_Nullable environment, const int *descriptors, int count, int is_detached,
                    pid_t *process);
/// A pair of connected sockets that keep the bounds of messages (SOCK_SEQPACKET), close-on-exec; 0, or -1 with errno.
int podcastfs_socket_pair(int ends[_Nonnull 2]);
/// Gives the calling thread a table of descriptors of its own with `kept` only (-1: with none); 0, or -1 with errno.
int podcastfs_leave_descriptors(int kept);
/// From here on a fault of this program's own (SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT) leaves its number in
/// `word` before it ends the program.
///
/// While a thread waits in the kernel for something that this program itself may have to answer, there is no core dump: that
/// waits for all threads, this one for an answer, and whoever is to answer next for the program's end. See
/// `podcastfs_count_waiting`.
void podcastfs_note_faults(uint64_t *word);
/// A thread begins (1) or ends (-1) to wait in the kernel for what this program itself may have to answer.
void podcastfs_count_waiting(int change);
/// Sends one datagram to a Unix socket, without waiting; a path that begins with @ is an abstract name. 0, or -1.
int podcastfs_send_datagram(const char *path, const char *text, size_t length);
/// From here on `signal` does nothing but interrupt the call that a thread waits in (EINTR); 0, or -1 with errno.
int podcastfs_interrupt_with(int signal);

/// The number of the kernel's request that the calling thread serves.
extern _Thread_local uint64_t podcastfs_served_request;
static inline uint64_t podcastfs_request(void) { return podcastfs_served_request; }
static inline void podcastfs_set_request(uint64_t number) { podcastfs_served_request = number; }
// Atomics on memory that two processes share.
static inline uint64_t podcastfs_load_acquire(const uint64_t *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline void podcastfs_store_release(uint64_t *at, uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

/// What `podcastfs_enter_sandbox` could put in force: no new privileges (prctl(2)), Landlock, a filter of system calls.
enum { PODCASTFS_SANDBOX_PRIVILEGES = 1, PODCASTFS_SANDBOX_FILES = 2, PODCASTFS_SANDBOX_CALLS = 4 };
/// From here on this process can use its memory and the descriptors below `descriptors`; it can open no file and no
/// socket and start no process. Returns what is in force, as the kernel has it.
int podcastfs_enter_sandbox(int descriptors);

/// renameat2(2) with RENAME_NOREPLACE.
int podcastfs_rename_to_new(const char *path, const char *new_path);

#pragma clang assume_nonnull end

#endif
