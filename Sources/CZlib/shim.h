#ifndef PODCASTFS_CZLIB_SHIM_H
#define PODCASTFS_CZLIB_SHIM_H

#include <zlib.h>

/// inflateInit2, which is a macro.
static inline int podcastfs_inflate_begin(z_stream *stream, int windowBits) {
  return inflateInit2(stream, windowBits);
}

#endif
