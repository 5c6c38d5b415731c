#ifndef PODCASTFS_HANDOVERMEMORY_H
#define PODCASTFS_HANDOVERMEMORY_H

// The words of a mount's memory (HandoverMemory.swift) that the keeper reads too.

/// "podcast" and the layout's number in the lowest byte: another layout is another version.
#define PODCASTFS_MEMORY_LAYOUT 0x706f646361737405u
/// 64-bit words, by their index: the layout; 1 where this process has got a request; the signal that a fault of its own
/// ended it with, or the number below where it gave up by itself.
#define PODCASTFS_WORD_LAYOUT 0
#define PODCASTFS_WORD_SERVED 1
#define PODCASTFS_WORD_FAULT 2
#define PODCASTFS_FAULT_EXIT 255
/// In bytes.
#define PODCASTFS_MEMORY_HEADER 4096

#endif
