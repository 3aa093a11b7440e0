#ifndef CACHE_CACHE_PRIVATE_H
#define CACHE_CACHE_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An open fails without memory; the mount does not. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "cache/cache.h"
#include "cache/memory_private.h"
#include "fetch/fetch.h"

struct disk_object;

/*
 * `lock` guards the memory tier: blocks, objects, reads and fills. It is
 * held for short steps only, never in pread, in a call of fetch or of the disk
 * tier that may wait, in a callback, or while bytes are copied.
 */
struct cache {
	/* Set at creation. */
	struct fetch *fetch;
	struct counters *counters;
	struct disk_tier *disk;
	unsigned long resume_thread;
	unsigned long writer_thread;
	bool resume_started;
	bool writer_started;

	pthread_mutex_t lock;
	pthread_cond_t resume;	/* Memory may be free for the first waiter. */
	pthread_cond_t writer;	/* Something to write or to close. */
	pthread_cond_t objects; /* An object is no longer busy. */
	pthread_cond_t idle;	/* No fill is left. */

	/* Guarded by lock. */
	struct memory *memory;
	struct cache_object *table;
	struct cache_read *memory_queue; /* First come, first served. */
	struct fill *fills;		 /* Oldest first. */
	struct fill *spare_fills;	 /* Linked through next. */
	int stop_error;			 /* Of cache_stop; 0: it runs. */
	bool closing; /* Of cache_destroy: nothing new is asked for. */
	uint64_t trimmed_at_bytes; /* `bytes_read` at the last trim. */
	bool last_writes; /* Nothing more will be queued to the writer. */
	uint64_t write_deadline_ms; /* Valid when closing. */
};

/*
 * One version of an object, from its first open until it is closed and has no
 * block and no fill left. `busy` while a thread opens or closes its disk
 * object without the lock: nobody else touches it then.
 */
struct cache_object {
	struct memory_owner owner; /* First: memory.c gives owners back. */
	/* Set at creation. */
	struct cache *cache;
	struct object *version;	  /* A reference. */
	struct disk_object *disk; /* NULL: no disk tier, or not for this one. */
	char *identity;
	size_t identity_length;
	/* Guarded by the cache's lock. */
	uint64_t opens;
	bool busy;
	struct cache_read *waiting; /* Reads that wait for blocks. */
	UT_hash_handle hh;
};

/*
 * A request to fetch: neighbouring blocks on their way. It lives until fetch
 * said done and no thread is about to call fetch with it. That thread may come
 * late: promoting or cancelling a range that has just ended does nothing.
 */
struct fill {
	struct fetch_range range; /* First: callbacks get it back. */
	struct cache_object *object;
	/* The first block that is not whole, and its bytes so far. Touched by
	 * the thread that delivers, until it is done. */
	struct memory_block *first;
	size_t filled;
	/* Guarded by the cache's lock. */
	size_t block_count;
	uint32_t users; /* Threads that are about to call fetch with it. */
	bool submitted; /* fetch knows it. */
	bool demand;	/* A reader waits, or did. */
	bool promote;	/* To be promoted once it is submitted. */
	bool canceled;
	bool ended;
	struct fill *prev, *next;
	struct fill *submit_next; /* The creator's list. */
};

/* ---- fill.c ---- */

/*
 * Makes a fill for `count` neighbouring blocks in FETCHING, linked through
 * fill_next. NULL without memory. The caller then calls fill_submit
 * without the lock.
 */
struct fill *fill_create_locked(struct cache_object *object,
		struct memory_block *first, size_t count, bool demand);
/* A list linked through submit_next. */
void fill_submit(struct cache *cache, struct fill *fills);

/* Notes that a reader waits for it. True: the caller calls fill_promote
 * without the lock. */
bool fill_demand_locked(struct fill *fill);
void fill_promote(struct cache *cache, struct fill *fill);

/* Cancels prefetch that has not begun, newest first, until it had
 * `block_count` blocks; of one object, or of all for NULL. */
void fill_cancel_prefetch(struct cache *cache,
		const struct cache_object *object, size_t block_count);

/* ---- read.c ---- */

/* A block of `object` is there, or failed: wakes reads that have all theirs
 * and prepends them to *done, for read_deliver. */
void read_wake_locked(struct cache_object *object,
		const struct memory_block *block, int error,
		struct cache_read **done);
/* Calls on_done of each. Without the lock. */
void read_deliver(struct cache *cache, struct cache_read *done);
void *read_resume_main(void *cache);

/* ---- writer.c ---- */

void *writer_main(void *cache);
/* `count` blocks were queued. Wakes the writer when that makes a difference:
 * not for each of thousands a second. */
void writer_queued_locked(struct cache *cache, size_t count);

/* ---- cache.c ---- */

/* After anything that may have freed memory or dropped a last use: wakes those
 * who wait for it. */
void cache_freed_locked(struct cache *cache);

/* Bytes of a block: BLOCK_SIZE, or less for the object's last. */
size_t object_block_length(const struct cache_object *object, uint64_t number);

/* Whether its blocks go to disk. */
bool object_is_written(const struct cache_object *object);

/* Closes and frees what memory_owner_take_unused gave. Takes the lock off
 * while it waits for the disk. */
void object_finish_locked(struct cache_object *object);

#endif
