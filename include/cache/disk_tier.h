#ifndef CACHE_DISK_TIER_H
#define CACHE_DISK_TIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters;
struct object;

/*
 * Blocks and listings on the local disk: one sparse file per object version,
 * an index in SQLite, a hard limit shared by all mounts of the directory.
 * Synchronous: called by threads that may wait for a disk, never by a network
 * loop. No function fails a reader: every error means "not here".
 *
 * Counts bytes_disk, bytes_written, cache_damaged, cache_evictions and
 * cache_errors itself; hits, misses and what was not written are the caller's.
 */
struct disk_tier;
struct disk_object;

enum disk_verify { DISK_VERIFY_ONCE, DISK_VERIFY_ALWAYS, DISK_VERIFY_NEVER };

struct disk_tier_settings {
	struct counters *counters; /* Borrowed. */
	const char *dir;	   /* Absolute. */
	bool dir_is_default;  /* A default may be replaced, a named one may not.
			       */
	uint64_t limit_bytes; /* 0: the directory's own, or the default. */
	uint64_t min_free_bytes;
	unsigned min_free_percent; /* The larger of the two counts. */
	enum disk_verify verify;
	bool trust_network_fs;	 /* Tests only. */
	unsigned max_open_files; /* Data files open at once; 0: what the
				  * process may have. */
};

/*
 * Opens or makes the directory and its index. Starts the index thread: call
 * after the last fork. On failure `message` has one line (thing, reason,
 * remedy): -ELOOP a link, -EPERM another user's, -EREMOTE a network file
 * system, -EACCES/-EROFS not writable, -EINVAL a limit below 16 MiB,
 * -ENOTEMPTY a directory with other things in it whose `shardfs` has too. An
 * index that cannot be trusted is set aside, said once in the log.
 */
int disk_tier_open(const struct disk_tier_settings *settings,
		struct disk_tier **out_tier, char *message,
		size_t message_size);
/* Flushes the index. All disk_objects are closed. */
void disk_tier_close(struct disk_tier *tier);

struct disk_usage {
	uint64_t limit_bytes, used_bytes;
};
void disk_tier_usage(struct disk_tier *tier, struct disk_usage *out_usage);
const char *disk_tier_dir(const struct disk_tier *tier);

/* Loads the rows of this version. -ENOMEM, or -EIO when the tier is off.
 * Opens are counted: each is closed once. */
int disk_object_open(struct disk_tier *tier, struct object *object,
		struct disk_object **out_object);
void disk_object_close(struct disk_object *object);

/* From memory, no lock, no SQL: whether the block is said to be on disk. */
bool disk_object_has(const struct disk_object *object, uint64_t block);
uint64_t disk_object_bytes(const struct disk_object *object);

/*
 * Reads `count` blocks from `first` into buffers of BLOCK_SIZE (the object's
 * last may be short) and checks their sums as the verify policy says. Returns
 * 0 when all are good. Otherwise -EIO: bad blocks have been dropped from the
 * index and no buffer may be used. Any thread.
 */
int disk_object_read(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers);

/*
 * Stores `count` neighbouring blocks with the CRC-32C of each: takes space,
 * evicting if it must, writes the bytes (O_DIRECT where it can), then queues
 * the row. 0; -ENOSPC when there is no space to be had; -EIO, -EROFS… Nothing
 * of an error is visible to readers. One writer thread.
 */
int disk_object_write(struct disk_object *object, uint64_t first, size_t count,
		void *const *buffers, const uint32_t *sums);

/* Notes the use of [first, first + count) for LRU; kept in memory, flushed
 * with the rows. Cheap. */
void disk_object_touch(
		struct disk_object *object, uint64_t first, size_t count);

/* Writes queued rows and times now; 0 or -EIO. For tests and shutdown. */
int disk_tier_flush(struct disk_tier *tier);

/*
 * Listings, one blob per (source name, prefix), with the wall clock time it
 * was taken at. Not found: -ENOENT. The caller frees *out_blob. put is queued
 * to the index thread and copies. Any thread that may wait for the disk.
 */
int disk_listing_get(struct disk_tier *tier, const char *source,
		const char *prefix, void **out_blob, size_t *out_length,
		uint64_t *out_taken_wall_ms);
int disk_listing_put(struct disk_tier *tier, const char *source,
		const char *prefix, const void *blob, size_t length,
		uint64_t taken_wall_ms);
int disk_listing_remove(
		struct disk_tier *tier, const char *source, const char *prefix);

#endif
