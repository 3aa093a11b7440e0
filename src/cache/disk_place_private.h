#ifndef CACHE_DISK_PLACE_PRIVATE_H
#define CACHE_DISK_PLACE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#define DISK_PLACE_MARK "shardfs cache directory\n"

/*
 * Which directory the cache is in, and whether it may be used. Opens it, made
 * or adopted and 0700; *out_fd is the caller's. -ELOOP a link, -EPERM another
 * user's, -EREMOTE a network file system, -EACCES, -EROFS, -ENOENT…, with one
 * line in `message`.
 */
int disk_place_open(const char *path, bool trust_network_fs, int *out_fd,
		char *message, size_t message_size);

/* Whether a default at this place should be moved: on a network file system
 * or in memory. A missing one is judged by its parent. */
bool disk_place_is_poor(const char *path);

#endif
