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

// The options are a list with commas, or null.
static inline struct fuse_session *podcastfs_fuse_session(const char *options,
                                                          const struct fuse_lowlevel_ops *operations, void *data) {
  char *words[] = {(char *)"podcastfs", (char *)"-o", (char *)options, NULL};
  struct fuse_args arguments = FUSE_ARGS_INIT(options ? 3 : 1, words);
  struct fuse_session *session = fuse_session_new(&arguments, operations, sizeof *operations, data);
  fuse_opt_free_args(&arguments);
  return session;
}

// Later versions have no flags here.
static inline int podcastfs_fuse_expire_entry(struct fuse_session *session, fuse_ino_t parent, const char *name,
                                              size_t length) {
#if FUSE_VERSION > FUSE_MAKE_VERSION(3, 14)
  return fuse_lowlevel_notify_expire_entry(session, parent, name, length);
#else
  return fuse_lowlevel_notify_expire_entry(session, parent, name, length, FUSE_LL_EXPIRE_ONLY);
#endif
}

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
