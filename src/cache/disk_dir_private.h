#ifndef CACHE_DISK_DIR_PRIVATE_H
#define CACHE_DISK_DIR_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "cache/index_private.h"

/*
 * The files of a cache directory that are not data files:
 *
 *   lock               marks the directory as a cache; held shared by every
 *                      user, exclusive by who begins or sets aside an index
 *   v1/index.sqlite    the index; there if and only if it was made completely
 *   v1/objects/        data files
 *   v1/holders/        one file for each process that holds space
 *   v1/distrusted      made by who found the index damaged while using it
 *   v1.new/            an index being made
 *   v1.bad-TIME/       an index that was set aside
 *
 * Only what lies under these names is ever changed or removed.
 */
struct disk_dir {
	char *path; /* Without links. Owned. */
	int fd;
	int lock_fd;
	int objects_fd; /* -1 until disk_dir_enter(). */
	int holders_fd;
	bool alone; /* The lock is held exclusive. */
};

#define DISK_DIR_INIT                                                          \
	((struct disk_dir){.fd = -1,                                           \
			.lock_fd = -1,                                         \
			.objects_fd = -1,                                      \
			.holders_fd = -1})

/* Takes the lock: exclusive if nobody has it, else shared. `fd` is the
 * directory's and is owned from now on, also on failure. -EBUSY when another
 * process keeps the lock exclusive for longer than making an index takes. */
int disk_dir_open(struct disk_dir *dir, int fd);
void disk_dir_finish(struct disk_dir *dir);

/* Changes an exclusive lock to a shared one. */
int disk_dir_share(struct disk_dir *dir);

/* Path of the index in `v1` or `v1.new`; the caller frees. */
char *disk_dir_index_path(const struct disk_dir *dir, const char *version);

/* With the lock exclusive only: makes a new v1 with an empty index. */
int disk_dir_begin_index(struct disk_dir *dir, uint64_t limit_bytes);
/* Likewise: renames v1 to v1.bad-TIME. */
int disk_dir_set_aside(struct disk_dir *dir);

bool disk_dir_has_index(const struct disk_dir *dir);
/* Some user of the index found it damaged. */
bool disk_dir_is_distrusted(const struct disk_dir *dir);
void disk_dir_distrust(const struct disk_dir *dir);

/* Opens objects/ and holders/ and closes the index's files to other users. */
int disk_dir_enter(struct disk_dir *dir);

/* What the log of the index takes now. */
uint64_t disk_dir_log_bytes(const struct disk_dir *dir);

/* Whether the path still leads to the directory and its lock. */
bool disk_dir_is_in_place(const struct disk_dir *dir);
bool disk_dir_is_on_root(const struct disk_dir *dir);

/* Removes data files of indexes that were set aside, and all but the newest
 * of these: a little each call, false when nothing is left to do. */
bool disk_dir_sweep(const struct disk_dir *dir);

/*
 * The lock file of a holder of space: made and held exclusive by the holder
 * for as long as it lives.
 */
int disk_dir_make_holder(
		const struct disk_dir *dir, const char *holder, int *out_fd);
/* True when the file is gone or nobody has its lock. */
bool disk_dir_holder_is_dead(const struct disk_dir *dir, const char *holder);
void disk_dir_remove_holder(const struct disk_dir *dir, const char *holder);

#endif
