#ifndef PODCASTFS_CDEMOMEDIA_H
#define PODCASTFS_CDEMOMEDIA_H

// The demonstration's audio and covers, in the program itself: it needs no files beside it.
// `compose` made them.

#include <stddef.h>

#pragma clang assume_nonnull begin

typedef struct {
  const char *name;
  const unsigned char *bytes;
  size_t size;
} podcastfs_demo_file;

/// All files; how many they are goes to `count`.
const podcastfs_demo_file *podcastfs_demo_files(size_t *count);

#pragma clang assume_nonnull end

#endif
