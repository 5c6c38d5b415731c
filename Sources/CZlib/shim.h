#ifndef PODCASTFS_CZLIB_SHIM_H
#define PODCASTFS_CZLIB_SHIM_H

#include <zlib.h>

/// inflateInit2, which is a macro, for gzip with the largest window.
static inline int podcastfs_inflate_begin(z_stream *stream) { return inflateInit2(stream, 15 + 16); }

#endif
