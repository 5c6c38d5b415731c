// podcastfs-keep: keeps a mount's connection to the kernel while the process that serves it is replaced.
//
// podcastfs starts it with the connection (/dev/fuse) as descriptor 3, the mount's memory as 4, and its end of a socket to
// the process that serves as 5. When that socket hangs up, the process is gone with everything that it held. The keeper
// then starts the program again with the same three descriptors.
//
// Messages of the process that serves, a letter and then strings that each end with a NUL:
// "N": what to start: the umask in octal digits, the program's path, its arguments from the name on.
// "B": the process serves from now on. One that does not say so within half a minute is killed.
// "C": the process is about to go; from now on the program is the one at this path.
// "E": the mount has ended.
//
// The keeper uses no processor time while nothing happens: it does not poll the connection.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "handovermemory.h"

enum { CONNECTION = 3, MEMORY = 4, SOCKET = 5 };
// The keeper gives the mount up when this many processes in a row ended within a minute by a fault of their own, or before
// they served a request.
enum { FAILURES = 10, MINUTE = 60 };
// Milliseconds that a program which is being replaced may be missing; milliseconds that a process has to come up in.
enum { PATIENCE = 5000, STEP = 20, BEGINNING = 30000 };
enum { LIMIT = 256 * 1024 };

static volatile uint64_t *words;
static char *program;
static char **arguments;
// When the last process was started.
static int64_t begun;
// The process that has been started and does not serve yet; 0 for none.
static pid_t beginner;

static int64_t seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec;
}

// Takes what to start from a message of `length` bytes that ends with a NUL.
static void take_call(const char *message, size_t length) {
  char *text = malloc(length);
  char **list = calloc(length + 1, sizeof *list);
  if (text == NULL || list == NULL) exit(1);
  memcpy(text, message, length);
  size_t count = 0;
  for (size_t at = 0; at < length; at += strlen(text + at) + 1) list[count++] = text + at;
  if (count < 4) exit(1);
  umask((mode_t)strtoul(list[0], NULL, 8) & 0777);
  program = list[1];
  arguments = list + 2;
}

// Whether the program is there, or comes within the time that the installation of another version takes.
static int is_there(void) {
  struct timespec step = {0, STEP * 1000000L};
  for (int waited = 0; waited < PATIENCE; waited += STEP) {
    if (access(program, X_OK) == 0) return 1;
    nanosleep(&step, NULL);
  }
  return 0;
}

// Becomes the program, in the child. Signals that end the mount wait until the program takes them.
static void run(int socket) {
  dup2(socket, SOCKET);
  fcntl(CONNECTION, F_SETFD, 0);
  fcntl(MEMORY, F_SETFD, 0);
  setsid();
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGHUP);
  sigprocmask(SIG_BLOCK, &ending, NULL);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  execv(program, arguments);
  _exit(127);
}

// Starts the next process; its socket takes the place of the last one's.
static int start(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  words[PODCASTFS_WORD_SERVED] = 0;
  begun = seconds();
  beginner = fork();
  if (beginner == 0) run(ends[1]);
  close(ends[1]);
  dup3(ends[0], SOCKET, O_CLOEXEC);
  close(ends[0]);
  return beginner > 0;
}

// Whether processes have failed too often. One that was killed from outside after it had served is not at fault.
static int is_hopeless(void) {
  static int failures = 0;
  int has_failed = !words[PODCASTFS_WORD_SERVED] || words[PODCASTFS_WORD_FAULT] != 0;
  failures = !has_failed ? 0 : seconds() - begun > MINUTE ? 1 : failures + 1;
  return failures >= FAILURES;
}

// Takes the mount away: the last argument is its path.
static int give_up(void) {
  const char *mount_point = arguments[0];
  for (char **next = arguments; *next != NULL; next++) mount_point = *next;
  syslog(LOG_USER | LOG_ERR, "podcastfs: unmounted %s: %s ended too often", mount_point, program);
  signal(SIGCHLD, SIG_DFL);
  if (umount2(mount_point, MNT_DETACH) != 0)
    execlp("fusermount3", "fusermount3", "-u", "-z", "--", mount_point, (char *)NULL);
  return 1;
}

int main(void) {
  static char message[LIMIT];
  void *memory = mmap(NULL, PODCASTFS_MEMORY_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
  if (memory == MAP_FAILED || (words = memory)[PODCASTFS_WORD_LAYOUT] != PODCASTFS_MEMORY_LAYOUT) {
    fputs("podcastfs-keep: podcastfs starts it\n", stderr);
    return 64;
  }
  for (int number = CONNECTION; number <= SOCKET; number++) fcntl(number, F_SETFD, FD_CLOEXEC);
  // The process that serves says when the mount ends; what ends a session may reach this one first. With SIGCHLD ignored
  // no process stays as a zombie.
  const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ, SIGCHLD};
  for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++) signal(ignored[index], SIG_IGN);

  int is_handing_over = 0;
  for (;;) {
    struct pollfd socket = {.fd = SOCKET, .events = POLLIN};
    if (poll(&socket, 1, beginner > 0 ? BEGINNING : -1) == 0) {
      kill(beginner, SIGKILL);
      beginner = 0;
      continue;
    }
    ssize_t length = recv(SOCKET, message, LIMIT - 1, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length > 0) {
      message[length] = 0;
      if (message[0] == 'N') take_call(message + 1, (size_t)length - 1);
      if (message[0] == 'B') beginner = 0;
      if (message[0] == 'E') return 0;
      if (message[0] == 'C') {
        program = strdup(message + 1);
        is_handing_over = 1;
      }
      continue;
    }
    // The process has gone.
    if (program == NULL) return 1;
    if (!is_handing_over && is_hopeless()) return give_up();
    is_handing_over = 0;
    if (!is_there() || !start()) return give_up();
  }
}
