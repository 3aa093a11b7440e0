#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct counters;
struct disk_tier;
struct fetch;
struct object;

/*
 * Blocks of objects: memory tier, disk tier, and what is in flight. Answers
 * reads from wherever the blocks are and fetches what is missing. Trouble with
 * the disk never fails a read.
 *
 * Invariants:
 * 1. A block that is handed out is whole and right for its object version.
 * 2. A block is in flight at most once; all its readers share it.
 * 3. A read holds all its blocks or none: it never waits for memory while
 *    holding some.
 * 4. Buffers never exceed the pool.
 */
struct cache;
struct cache_object;

struct cache_settings {
	struct fetch *fetch;	   /* Borrowed. */
	struct counters *counters; /* Borrowed. */
	uint64_t memory_bytes;
	struct disk_tier *disk; /* NULL: memory only. Owned by the caller. */
};

/* Starts two threads: call after the last fork. -ENOMEM, -EINVAL, -EAGAIN. */
int cache_create(const struct cache_settings *settings,
		struct cache **out_cache);
/*
 * Every object is closed and every read released. Writes what the writer can
 * within `deadline_ms`, drops the rest. Waits for the requests under way: call
 * fetch_stop before, fetch_destroy after.
 */
void cache_destroy(struct cache *cache, uint64_t deadline_ms);

/* Opens are counted: the same version opened twice is one cache_object. Reads
 * rows from the index. 0 or -ENOMEM. */
int cache_open(struct cache *cache, struct object *object,
		struct cache_object **out_object);
/* The last one cancels the queued prefetch. Blocks stay while they are of use,
 * also to a later open. */
void cache_close(struct cache_object *object);

/* A 1 MiB read that is not block-aligned touches 17 blocks. */
#define CACHE_READ_MAX_BLOCKS 17
#define CACHE_READ_MAX_BYTES ((size_t)1048576)

/* One read. The caller keeps it until cache_read_release() returned. */
struct cache_read {
	/* Set by the caller. */
	uint64_t offset;
	size_t length; /* 1 … CACHE_READ_MAX_BYTES, inside the object. */
	void (*on_done)(struct cache_read *read);
	/* Set by cache_read_start, valid from completion to release: */
	int error; /* 0: `parts` has exactly `length` bytes. */
	struct iovec parts[CACHE_READ_MAX_BLOCKS];
	int part_count;
	uint64_t wait_us; /* How long it waited for others; 0: it did not. */
	bool from_store;  /* Some block came from the store for it. */
	/* The cache's: */
	struct cache_object *object; /* Kept alive until the release. */
	void *blocks[CACHE_READ_MAX_BLOCKS];
	uint32_t pending; /* Blocks that are not there yet. */
	bool starting;	  /* Its own thread has still to do with it. */
	uint64_t started_us;
	struct cache_read *prev, *next;
};

/*
 * 0: complete (`error` and `parts` are set) and on_done is not called.
 * -EINPROGRESS: on_done comes, on a thread that delivers the last byte or on
 * the cache's own thread, never inside this call; it may have come already
 * when this returns. May pread the cache file.
 */
int cache_read_start(struct cache_object *object, struct cache_read *read);
/* Unpins the blocks; also after an error. The object may be closed before. */
void cache_read_release(struct cache_read *read);

/*
 * Fetches what is missing of [offset, offset + length) while memory allows, in
 * requests of at most `part` bytes; stops early without memory, leaving the
 * last 4 MiB. Returns the offset up to which everything is present or under
 * way. Never blocks. Failures are silent: a read asks again.
 */
uint64_t cache_prefetch(struct cache_object *object, uint64_t offset,
		uint64_t length, uint64_t part);

/* Blocks of this object that were fetched ahead and lost before they were
 * read, since the last call: the stream halves its window for it. */
uint64_t cache_take_dropped(struct cache_object *object);

/* Bytes of the object on disk now. */
uint64_t cache_object_disk_bytes(const struct cache_object *object);
struct object *cache_object_version(const struct cache_object *object);

/* For readers that must end now: every waiting read ends with `error`, and so
 * does every later one that would have to wait. */
void cache_stop(struct cache *cache, int error);

#endif
