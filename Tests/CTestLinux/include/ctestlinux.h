#ifndef PODCASTFS_TEST_LINUX_H
#define PODCASTFS_TEST_LINUX_H

// Calls of Linux that only tests make, and that glibc shows with _GNU_SOURCE alone.

/// open(2) with O_PATH; -1 where it fails.
int test_open_path(const char *path);
/// name_to_handle_at(2).
/// - Parameters: `bytes`: at least 128; filled with the handle. Returns its length, or -1.
int test_handle_of(const char *path, int *type, unsigned char *bytes);
/// open_by_handle_at(2) for reading on the mount of `mount`; -1 where it fails.
int test_open_by_handle(const char *mount, int type, const unsigned char *bytes, int length);
/// Has the ext4 or XFS of `path` fail all that comes, as after a loss of power: what is not on its disk, in files or log,
/// is lost at the next mount.
int test_shut_down(const char *path);
/// wcwidth(3) in C.UTF-8: the columns of a character, -1 for one that is not printed.
int test_columns(unsigned character);

#endif
