#define _GNU_SOURCE
#include "clinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

extern char **environ;

int podcastfs_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int podcastfs_epoll_set(int epoll, int descriptor, uint32_t generation, uint32_t events, int isNew) {
  struct epoll_event event = {.events = events, .data.u64 = (uint64_t)generation << 32 | (uint32_t)descriptor};
  if (events == 0) return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
  int result = epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
  // The descriptor was closed and its number reused since the last call.
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
  struct sigaction action = {.sa_handler = podcastfs_note_fault, .sa_flags = SA_RESETHAND | SA_NODEFER};
  const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigaction(faults[index], &action, NULL);
}

_Thread_local uint64_t podcastfs_served_request;

const char *podcastfs_errno_name(int number) { return strerrorname_np(number); }

static int netlink_events(int family, unsigned groups) {
  int events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, family);
  if (events < 0) return -1;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
  if (bind(events, (struct sockaddr *)&address, sizeof address) != 0) {
    int reason = errno;
    close(events);
    errno = reason;
    return -1;
  }
  return events;
}

int podcastfs_network_events(void) {
  return netlink_events(NETLINK_ROUTE,
                        RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);
}

int podcastfs_pass_power_events(int socket) {
  // The kernel writes the device's path first, and the path of a power supply has this name at any place. Wherever it
  // stands, the word at some eighth byte is one of the first eight of its words. A load behind the message's end drops it.
  static const char name[] = "power_supply";
  enum { step = 8, longest_path = 512 };
  struct sock_filter program[longest_path / step * (step + 2) + 1];
  unsigned short count = 0;
  for (unsigned offset = 0; offset < longest_path; offset += step) {
    program[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
    for (int index = 0; index < step; index++) {
      uint32_t word;
      memcpy(&word, name + index, sizeof word);
      unsigned char to_pass = (unsigned char)(step - 1 - index), past_it = index == step - 1;
      program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word), to_pass, past_it);
    }
    program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
  }
  program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
  struct sock_fprog filter = {.len = count, .filter = program};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

int podcastfs_power_events(void) {
  int events = netlink_events(NETLINK_KOBJECT_UEVENT, 1);
  // Without the filter all events of devices come.
  if (events >= 0) (void)podcastfs_pass_power_events(events);
  return events;
}

int podcastfs_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int podcastfs_columns(uint32_t character) {
  // Two threads may make it at the same time: one is lost then.
  static _Atomic(locale_t) locale;
  if (locale == (locale_t)0) locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (locale != (locale_t)0) uselocale(locale);
  return wcwidth((wchar_t)character);
}
