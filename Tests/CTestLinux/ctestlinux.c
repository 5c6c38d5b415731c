#define _GNU_SOURCE
#include <locale.h>
#include <wchar.h>
#include "ctestlinux.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { longest = 128 };

int test_open_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int test_handle_of(const char *path, int *type, unsigned char *bytes) {
  struct file_handle *handle = malloc(sizeof *handle + longest);
  int mount = 0;
  int length = -1;
  handle->handle_bytes = longest;
  if (name_to_handle_at(AT_FDCWD, path, handle, &mount, 0) == 0) {
    length = (int)handle->handle_bytes;
    *type = handle->handle_type;
    memcpy(bytes, handle->f_handle, handle->handle_bytes);
  }
  free(handle);
  return length;
}

int test_open_by_handle(const char *mount, int type, const unsigned char *bytes, int length) {
  struct file_handle *handle = malloc(sizeof *handle + longest);
  int root = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int file = -1;
  handle->handle_bytes = (unsigned)length;
  handle->handle_type = type;
  memcpy(handle->f_handle, bytes, (size_t)length);
  if (root >= 0) {
    file = open_by_handle_at(root, handle, O_RDONLY | O_CLOEXEC);
    close(root);
  }
  free(handle);
  return file;
}

int test_shut_down(const char *path) {
  // EXT4_IOC_SHUTDOWN, as XFS_IOC_GOINGDOWN, with what does not write its log either.
  const unsigned long shutdown = _IOR('X', 125, unsigned int);
  unsigned int without_log = 2;
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  int result = ioctl(directory, shutdown, &without_log);
  close(directory);
  return result;
}

int test_columns(unsigned character) {
  locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  locale_t before = uselocale(locale);
  int columns = wcwidth((wchar_t)character);
  uselocale(before);
  freelocale(locale);
  return columns;
}
