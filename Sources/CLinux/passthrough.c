#define _GNU_SOURCE
#include "clinux.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

// linux/fuse.h of Linux 6.9, as far as Debian 12's lacks it.
struct backing_map {
  int32_t file;
  uint32_t flags;
  uint64_t padding;
};
#define BACKING_OPEN _IOW(229, 1, struct backing_map)
#define BACKING_CLOSE _IOW(229, 2, uint32_t)
enum { ANSWER_HEADER = 16, OPEN_ANSWER = 16, OPENED_PASSTHROUGH = 1 << 7 };
// In an answer to the greeting (struct fuse_init_out): its flags, and with FURTHER_FLAGS the further ones, how many file
// systems may lie upon another.
enum { FLAGS_AT = 12, FURTHER_FLAGS_AT = 32, DEPTH_AT = 36, FURTHER_FLAGS = 1 << 30, PASSTHROUGH = 1 << 5 };

static _Thread_local int asks_passthrough;
static _Thread_local int32_t backing_of_answer;

void podcastfs_fuse_ask_passthrough(int asks) { asks_passthrough = asks; }
void podcastfs_fuse_set_backing(int32_t backing) { backing_of_answer = backing; }

static void add_flags(char *at, uint32_t flags) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  value |= flags;
  memcpy(at, &value, sizeof value);
}

ssize_t podcastfs_fuse_receive(int device, void *buffer, size_t size, void *unused) {
  (void)unused;
  return read(device, buffer, size);
}

ssize_t podcastfs_fuse_send(int device, struct iovec *parts, int count, void *unused) {
  (void)unused;
  if ((asks_passthrough || backing_of_answer > 0) && count == 2 && parts[0].iov_len == ANSWER_HEADER) {
    char *body = parts[1].iov_base;
    size_t size = parts[1].iov_len;
    if (asks_passthrough && size >= DEPTH_AT + 4) {
      uint32_t depth = 1;
      add_flags(body + FLAGS_AT, FURTHER_FLAGS);
      add_flags(body + FURTHER_FLAGS_AT, PASSTHROUGH);
      memcpy(body + DEPTH_AT, &depth, sizeof depth);
    } else if (!asks_passthrough && size >= OPEN_ANSWER) {
      // struct fuse_open_out is the whole answer or its end: number, flags, file.
      char *opened = body + size - OPEN_ANSWER;
      add_flags(opened + 8, OPENED_PASSTHROUGH);
      memcpy(opened + 12, &backing_of_answer, sizeof backing_of_answer);
    }
  }
  return writev(device, parts, count);
}

int32_t podcastfs_fuse_back(int device, int file) {
  struct backing_map map = {.file = file};
  return ioctl(device, BACKING_OPEN, &map);
}

void podcastfs_fuse_end_backing(int device, int32_t backing) {
  uint32_t number = (uint32_t)backing;
  ioctl(device, BACKING_CLOSE, &number);
}
