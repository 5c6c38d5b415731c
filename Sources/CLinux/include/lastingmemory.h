#ifndef PODCASTFS_LASTINGMEMORY_H
#define PODCASTFS_LASTINGMEMORY_H

// The words of a mount's lasting memory (HandoverMemory.swift) that programs of other versions read too: the keeper, and
// the next process. Changed only together with PODCASTFS_MEMORY_LAYOUT.

/// "podcast" and the layout's number in the lowest byte.
#define PODCASTFS_MEMORY_LAYOUT 0x706f646361737402u
/// 64-bit words, by their index: the layout; 1 where this process has got a request; the signal that a fault of its own
/// ended it with, or the number below where it gave up by itself.
#define PODCASTFS_WORD_LAYOUT 0
#define PODCASTFS_WORD_SERVED 1
#define PODCASTFS_WORD_FAULT 2
#define PODCASTFS_FAULT_EXIT 255
/// In bytes: what the keeper looks at.
#define PODCASTFS_MEMORY_HEADER 4096

#endif
