#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

extern char **environ;

static void podcastfs_do_nothing(int signal) { (void)signal; }

int podcastfs_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int podcastfs_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int podcastfs_epoll_set(int epoll, int descriptor, uint32_t generation, uint32_t events, int isNew) {
  struct epoll_event event = {.events = events, .data.u64 = (uint64_t)generation << 32 | (uint32_t)descriptor};
  if (events == 0) return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
  int result = epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
  // A number that was closed and given again while nobody looked.
  if (result != 0 && isNew && errno == EEXIST) result = epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
  if (result != 0 && !isNew && errno == ENOENT) result = epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
  return result;
}

int podcastfs_epoll_wait(int epoll, struct podcastfs_ready *ready, int count, int timeout) {
  struct epoll_event events[64];
  int found = epoll_wait(epoll, events, count < 64 ? count : 64, timeout);
  for (int i = 0; i < found; i++) {
    ready[i] = (struct podcastfs_ready){
        .descriptor = (int32_t)events[i].data.u64, .generation = events[i].data.u64 >> 32, .events = events[i].events};
  }
  return found;
}

int podcastfs_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int podcastfs_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int podcastfs_peer_credentials(int socket, pid_t *pid, uid_t *uid) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
  *pid = credentials.pid;
  *uid = credentials.uid;
  return 0;
}

ssize_t podcastfs_listxattr(const char *path, char *names, size_t size) { return listxattr(path, names, size); }
ssize_t podcastfs_getxattr(const char *path, const char *name, void *value, size_t size) {
  return getxattr(path, name, value, size);
}
int podcastfs_setxattr(const char *path, const char *name, const void *value, size_t size) {
  return setxattr(path, name, value, size, 0);
}

int podcastfs_terminal_size(int descriptor, int *columns, int *rows) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

void podcastfs_save_memory(void) {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 512 * 1024);
}

void podcastfs_share_heaps(void) { mallopt(M_ARENA_MAX, 2); }

void podcastfs_trim_memory(void) { malloc_trim(0); }

pid_t podcastfs_gettid(void) { return (pid_t)syscall(SYS_gettid); }

void podcastfs_set_thread_name(const char *name) {
  char kept[16];
  snprintf(kept, sizeof kept, "%s", name);
  pthread_setname_np(pthread_self(), kept);
}

struct podcastfs_start {
  void *(*function)(void *);
  void *argument;
};

// A stack of its own for the handler of faults: also one that comes of a stack's end is noted.
static void *podcastfs_run_thread(void *argument) {
  struct podcastfs_start start = *(struct podcastfs_start *)argument;
  free(argument);
  char space[16384];
  stack_t faults = {.ss_sp = space, .ss_size = sizeof space}, none = {.ss_flags = SS_DISABLE}, old;
  int is_ours = sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE && sigaltstack(&faults, NULL) == 0;
  void *result = start.function(start.argument);
  if (is_ours) sigaltstack(&none, NULL);
  return result;
}

int podcastfs_start_detached(void *(*function)(void *), void *argument, size_t stack) {
  struct podcastfs_start *start = malloc(sizeof *start);
  if (start == NULL) return ENOMEM;
  *start = (struct podcastfs_start){function, argument};
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) {
    free(start);
    return error;
  }
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack > 0) pthread_attr_setstacksize(&attributes, stack);
  pthread_t thread;
  error = pthread_create(&thread, &attributes, podcastfs_run_thread, start);
  pthread_attr_destroy(&attributes);
  if (error != 0) free(start);
  return error;
}

int podcastfs_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }
int podcastfs_rename_to_new(const char *path, const char *new_path) {
  return renameat2(AT_FDCWD, path, AT_FDCWD, new_path, RENAME_NOREPLACE);
}
int podcastfs_set_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

int podcastfs_set_close_on_exec(int descriptor) { return fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

int podcastfs_try_lock(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int podcastfs_try_lock_shared(int descriptor) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int podcastfs_unlock(int descriptor) {
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int podcastfs_is_locked(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

int podcastfs_lock_byte(int descriptor, off_t place) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

off_t podcastfs_find_locked(int descriptor, off_t first, off_t count) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count};
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return -1;
  return lock.l_start > first ? lock.l_start : first;
}

int podcastfs_unmount(const char *path) { return umount2(path, 0); }
int podcastfs_unmount_lazily(const char *path) { return umount2(path, MNT_DETACH); }

int podcastfs_punch_hole(int descriptor, off_t offset, off_t length) {
  return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int podcastfs_inotify(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }
int podcastfs_inotify_watch(int descriptor, const char *path, uint32_t mask) {
  return inotify_add_watch(descriptor, path, mask);
}

int podcastfs_spawn(const char *program, char *const arguments[], char *const *environment, const int *descriptors,
                    int count, int is_detached, pid_t *process) {
  int held[8];
  int error = count > 8 ? EINVAL : 0;
  for (int index = 0; index < count && error == 0; index++) {
    held[index] = -1;
    // Out of the way of the numbers that they are to have.
    if (descriptors[index] >= 0 && (held[index] = fcntl(descriptors[index], F_DUPFD_CLOEXEC, 16)) < 0) {
      error = errno;
      count = index;
    }
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (int index = 0; index < count && error == 0; index++) {
    error = held[index] < 0 ? posix_spawn_file_actions_addopen(&actions, index, "/dev/null", O_RDWR, 0)
                            : posix_spawn_file_actions_adddup2(&actions, held[index], index);
  }
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, count);
  // A thread may have signals blocked, which the program would inherit.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  int signals = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  posix_spawnattr_setflags(&attributes, is_detached ? signals | POSIX_SPAWN_SETSID : signals);
  if (error == 0 && is_detached) error = posix_spawn_file_actions_addchdir_np(&actions, "/");
  if (error == 0)
    error = posix_spawnp(process, program, &actions, &attributes, arguments, environment ? environment : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (int index = 0; index < count; index++) {
    if (held[index] >= 0) close(held[index]);
  }
  return error;
}

int podcastfs_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

int podcastfs_leave_descriptors(int kept) {
  if (unshare(CLONE_FILES) != 0) return -1;
  if (kept < 0) return close_range(0, ~0u, 0);
  if (kept > 0 && close_range(0, (unsigned)kept - 1, 0) != 0) return -1;
  return close_range((unsigned)kept + 1, ~0u, 0);
}

static uint64_t *podcastfs_fault_word;
static int podcastfs_waiting;

void podcastfs_count_waiting(int change) { __atomic_add_fetch(&podcastfs_waiting, change, __ATOMIC_RELEASE); }

static void podcastfs_note_fault(int signal) {
  // SA_RESETHAND: what raised it does so again, or abort(3) does, and that ends the program.
  __atomic_store_n(podcastfs_fault_word, (uint64_t)signal, __ATOMIC_RELEASE);
  if (__atomic_load_n(&podcastfs_waiting, __ATOMIC_ACQUIRE) > 0) kill(getpid(), SIGKILL);
  raise(signal);
}

void podcastfs_note_faults(uint64_t *word) {
  podcastfs_fault_word = word;
  struct sigaction action = {.sa_handler = podcastfs_note_fault, .sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
  const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigaction(faults[index], &action, NULL);
}

_Thread_local uint64_t podcastfs_served_request;

int podcastfs_interrupt_with(int signal) {
  struct sigaction action = {.sa_handler = podcastfs_do_nothing};
  return sigaction(signal, &action, NULL);
}

int podcastfs_send_datagram(const char *path, const char *text, size_t length) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t size = strlen(path);
  if (size >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, size);
  // An abstract name is written with an @ for its NUL.
  if (path[0] == '@') address.sun_path[0] = 0;
  int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (sender < 0) return -1;
  ssize_t sent = sendto(sender, text, length, MSG_NOSIGNAL, (struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
  close(sender);
  return sent < 0 ? -1 : 0;
}

int podcastfs_network_events(void) {
  int events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (events < 0) return -1;
  struct sockaddr_nl address = {
      .nl_family = AF_NETLINK,
      .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
  if (bind(events, (struct sockaddr *)&address, sizeof address) != 0) {
    int reason = errno;
    close(events);
    errno = reason;
    return -1;
  }
  return events;
}

int podcastfs_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int podcastfs_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int podcastfs_wake_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int podcastfs_set_wake_timer(int timer, double seconds) {
  struct itimerspec time = {.it_value = {.tv_sec = (time_t)seconds}};
  time.it_value.tv_nsec = (long)((seconds - (double)time.it_value.tv_sec) * 1e9);
  return timerfd_settime(timer, 0, &time, NULL);
}
