#ifndef PODCASTFS_CFUSE3_SHIM_H
#define PODCASTFS_CFUSE3_SHIM_H

// The low-level interface of libfuse 3.14, with the calls that Swift cannot make (macros, variadic
// functions, bit fields) as inline functions.

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <fuse_opt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(off_t) == 8, "off_t must have 64 bits without _FILE_OFFSET_BITS");

// libfuse's words about a mount that failed, kept for our own one line in place of its own on stderr. A mount
// is made by one thread at the start, so plain memory does.
static inline char *podcastfs_fuse_message(void) {
  static char message[256];
  return message;
}
static inline void podcastfs_fuse_keep_message(enum fuse_log_level level, const char *format, va_list arguments) {
  if (level > FUSE_LOG_ERR) return;
  vsnprintf(podcastfs_fuse_message(), 256, format, arguments);
  podcastfs_fuse_message()[strcspn(podcastfs_fuse_message(), "\n")] = 0;
}
static inline void podcastfs_fuse_collect_messages(void) { fuse_set_log_func(podcastfs_fuse_keep_message); }
static inline const char *podcastfs_fuse_last_message(void) { return podcastfs_fuse_message(); }

#endif
