#ifndef PODCASTFS_CFUSE3_SHIM_H
#define PODCASTFS_CFUSE3_SHIM_H

// The low-level interface of libfuse 3.14, with the calls that Swift cannot make (macros, variadic
// functions, bit fields) as inline functions.

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <fuse_opt.h>

_Static_assert(sizeof(off_t) == 8, "off_t must have 64 bits without _FILE_OFFSET_BITS");

#endif
