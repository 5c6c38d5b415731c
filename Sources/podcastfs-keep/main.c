// podcastfs-keep: keeps a mount's connection to the kernel while the process that serves it is replaced.
//
// It is started by podcastfs, with the connection (/dev/fuse) as descriptor 3, the mount's lasting memory as 4, and its end
// of a socket to the process that serves as 5. When that socket hangs up, the process is gone with everything that it held
// (its locks too), and the program is started again with the same three descriptors; the kernel hands it what had not been
// answered.
//
// Messages of the process that serves, one datagram each: "B": it serves from now on; one that does not say so within half a
// minute is killed. "E": nothing is left to be kept. "N" and then strings, each
// ended by a NUL: the umask in octal digits, the program's path, its arguments from the name on, an empty one, the
// environment, where that differs from this program's: what to start. "C": the same, and the process is about to go.
//
// It uses no processor time while nothing happens: the connection itself is not polled, which would wake it at each
// request. See Documentation/Architecture.md, "The mount outlives its process".

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "lastingmemory.h"

enum { CONNECTION = 3, MEMORY = 4, SOCKET = 5 };
// So many processes in a row that ended within a minute by a fault of their own, or before they served, and the mount is
// given up.
enum { FAILURES = 10, MINUTE = 60 };
// Milliseconds that a program which is being replaced may be missing.
enum { PATIENCE = 5000, STEP = 20 };
// Milliseconds that a process has to come up in.
enum { BEGINNING = 30000 };

extern char **environ;

struct call {
  char *text;
  // All strings; the first is the program's path, the second its name.
  char **strings;
  char **environment;
};

static volatile uint64_t *words;
static struct call call;
// When the last process was started.
static int64_t begun;
// The process that has been started and does not serve yet; 0 for none.
static pid_t beginner;

static int64_t seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec;
}

static void rest(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

// Takes the call that a message holds, where it is one.
static int take_call(const char *text, size_t length) {
  if (length == 0 || text[length - 1] != 0) return 0;
  mode_t mask = (mode_t)strtoul(text, NULL, 8) & 0777;
  length -= strlen(text) + 1;
  text += strlen(text) + 1;
  size_t count = 0, split = SIZE_MAX;
  for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
    if (text[at] == 0 && split == SIZE_MAX) split = count;
    count++;
  }
  if (split == SIZE_MAX || split < 2) return 0;
  char *copy = malloc(length);
  char **list = calloc(count + 1, sizeof *list);
  if (copy == NULL || list == NULL) {
    free(copy);
    free(list);
    return 0;
  }
  memcpy(copy, text, length);
  size_t at = 0;
  for (size_t index = 0; index < count; index++) {
    list[index] = copy + at;
    at += strlen(copy + at) + 1;
  }
  list[split] = NULL;
  free(call.text);
  free(call.strings);
  call = (struct call){copy, list, count > split + 1 ? list + split + 1 : environ};
  umask(mask);
  return 1;
}

// Whether the program is there, or comes within the time that the installation of another version takes.
static int is_there(void) {
  for (int waited = 0; waited < PATIENCE; waited += STEP) {
    if (access(call.strings[0], X_OK) == 0) return 1;
    rest(STEP);
  }
  return 0;
}

// In the child. What is to end the mount is held back until the program waits for it: it would be a death else.
static void run(char *const arguments[]) {
  setsid();
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGHUP);
  sigprocmask(SIG_BLOCK, &ending, NULL);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  execve(call.strings[0], arguments, call.environment);
  words[PODCASTFS_WORD_FAULT] = PODCASTFS_FAULT_EXIT;
  _exit(127);
}

// Starts the next process; its socket takes the place of the last one's.
static int start(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  words[PODCASTFS_WORD_SERVED] = 0;
  begun = seconds();
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], SOCKET);
    fcntl(CONNECTION, F_SETFD, 0);
    fcntl(MEMORY, F_SETFD, 0);
    run(call.strings + 1);
  }
  close(ends[1]);
  dup3(ends[0], SOCKET, O_CLOEXEC);
  close(ends[0]);
  beginner = child;
  return child > 0;
}

// Whether a child has done its work, in time.
static int has_succeeded(pid_t child) {
  int status = 0;
  for (int waited = 0; child > 0 && waited < 2 * PATIENCE; waited += STEP) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended != 0) return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    rest(STEP);
  }
  return 0;
}

// Tells the user, and takes the mount away, by the program itself: "--given-up" in the place of what it was called for.
// Where the program is the one that is missing or broken, the mount goes without it, and the system's log says so.
static void give_up(void) {
  size_t count = 0;
  while (call.strings[count + 1] != NULL) count++;
  char **arguments = calloc(count + 2, sizeof *arguments);
  if (arguments == NULL) return;
  arguments[0] = call.strings[1];
  arguments[1] = "--given-up";
  memcpy(arguments + 2, call.strings + 2, count * sizeof *arguments);
  const char *mount_point = call.strings[count];
  signal(SIGCHLD, SIG_DFL);
  pid_t child = fork();
  if (child == 0) {
    fcntl(MEMORY, F_SETFD, 0);
    run(arguments);
  }
  if (has_succeeded(child)) return;
  syslog(LOG_USER | LOG_ERR, "podcastfs: the mount on %s is given up: %s does not run", mount_point, call.strings[0]);
  child = fork();
  if (child == 0) {
    execlp("fusermount3", "fusermount3", "-u", "-z", "--", mount_point, NULL);
    _exit(127);
  }
  has_succeeded(child);
}

// Whether processes have failed too often. One that was killed from outside after it had served is not at fault.
static int is_hopeless(void) {
  static int failures = 0;
  int has_failed = !words[PODCASTFS_WORD_SERVED] || words[PODCASTFS_WORD_FAULT] != 0;
  failures = !has_failed ? 0 : seconds() - begun > MINUTE ? 1 : failures + 1;
  return failures >= FAILURES;
}

int main(void) {
  static char message[256 * 1024];
  if (fcntl(CONNECTION, F_GETFD) < 0 || fcntl(MEMORY, F_GETFD) < 0 || fcntl(SOCKET, F_GETFD) < 0) {
    fputs("podcastfs-keep: it is started by podcastfs\n", stderr);
    return 64;
  }
  void *memory = mmap(NULL, PODCASTFS_MEMORY_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
  if (memory == MAP_FAILED) return 1;
  words = memory;
  if (words[PODCASTFS_WORD_LAYOUT] != PODCASTFS_MEMORY_LAYOUT) return 1;
  for (int number = CONNECTION; number <= SOCKET; number++) fcntl(number, F_SETFD, FD_CLOEXEC);
  // The process that serves says when the mount ends; what ends a session may reach this one first.
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  // Nobody asks how the processes ended: none stays as a zombie, and no number is another's while its socket is there.
  signal(SIGCHLD, SIG_IGN);

  int is_handing_over = 0;
  for (;;) {
    struct pollfd socket = {.fd = SOCKET, .events = POLLIN};
    if (poll(&socket, 1, beginner > 0 ? BEGINNING : -1) == 0) {
      kill(beginner, SIGKILL);
      beginner = 0;
      continue;
    }
    ssize_t length = recv(SOCKET, message, sizeof message, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length > 0 && message[0] == 'B') {
      beginner = 0;
      continue;
    }
    if (length > 0 && message[0] == 'E') return 0;
    if (length > 0) {
      int is_call = take_call(message + 1, (size_t)length - 1);
      if (is_call && message[0] == 'C') is_handing_over = 1;
      continue;
    }
    // It has gone.
    if (call.strings == NULL) return 1;
    if (!is_handing_over && is_hopeless()) break;
    is_handing_over = 0;
    if (!is_there() || !start()) break;
  }
  give_up();
  return 1;
}
