#ifndef CACHE_DATA_FILE_PRIVATE_H
#define CACHE_DATA_FILE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "cache/index_private.h"

/*
 * One data file: an object's bytes at their own offsets, holes where none are
 * stored. System calls only; knows neither the index nor its policies.
 *
 * `objects` is a descriptor of the directory v1/objects. The descriptor of a
 * data file carries the process's lock on it: shared while it is used,
 * exclusive while holes are made.
 */

/* "ab/ab34…": where the file of that name lies under `objects`. */
#define DATA_FILE_PATH_SIZE (2 + 1 + 2 * INDEX_NAME_SIZE + 1)
void data_file_path(const uint8_t *name, char out[DATA_FILE_PATH_SIZE]);

/*
 * Opens the file and takes the shared lock. With `create` it is made, 0600 and
 * of its final size, when missing.
 * -ENOENT: there is none. -EAGAIN: someone makes holes in it just now.
 * -ESTALE: what lies there is no data file of this size. Others as they are.
 */
int data_file_open(int objects, const uint8_t *name, uint64_t size, bool create,
		int *out_fd);

/* A second descriptor of the same file, for O_DIRECT; without a lock of its
 * own. -EINVAL where the file system does not have it. */
int data_file_open_direct(int fd, int *out_fd);

/* -EAGAIN: another process holds the file. A failed upgrade keeps the shared
 * lock. Never waits. */
int data_file_lock_exclusive(int fd);
int data_file_lock_shared(int fd);

/* Whether the name still leads to this open file. */
bool data_file_is_at(int objects, const uint8_t *name, int fd);

/* Whether it has any bytes: a file that was made anew has none. */
bool data_file_has_bytes(int fd);

/* Frees [offset, offset + length); the size stays. -EOPNOTSUPP. */
int data_file_punch(int fd, uint64_t offset, uint64_t length);
int data_file_unlink(int objects, const uint8_t *name);
/* Only if nobody holds it: -EAGAIN. Whatever its size. */
int data_file_unlink_unused(int objects, const uint8_t *name);

/* Exactly the bytes asked for, or an error: -ENODATA for a short file. `parts`
 * is used up. */
int data_file_read(int fd, uint64_t offset, struct iovec *parts,
		size_t part_count);

/*
 * Writes whole blocks from `offset`, block-aligned, past the page cache where
 * `direct_fd` is not -1, and through it but not kept in it otherwise. An odd
 * end always goes through the page cache. `parts` is used up.
 */
int data_file_write(int fd, int direct_fd, uint64_t offset, struct iovec *parts,
		size_t part_count);

/* The blocks of a chunk that have bytes on disk, as far as the file system can
 * tell. */
int data_file_allocated(
		int fd, uint32_t chunk, uint64_t size, uint64_t *out_mask);

/* Where the next bytes at or after `offset` begin; -ENXIO when none do. */
int data_file_next_data(int fd, uint64_t offset, uint64_t *out_offset);

/* What tells an untouched file from one that was written or replaced. */
struct data_file_stamp {
	uint64_t device, inode;
	int64_t changed_ns;
};
int data_file_stamp(int fd, struct data_file_stamp *out_stamp);

#endif
