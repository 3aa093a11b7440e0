#ifndef CACHE_MEMORY_PRIVATE_H
#define CACHE_MEMORY_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters;
struct fill;
struct memory;

/*
 * The blocks in memory: a table, lists of what may be reclaimed, and the
 * writer's queue. Knows nothing of reads, requests or threads: the caller
 * holds one lock around every call.
 *
 * States of a block:
 *
 *   (free) --insert--> FETCHING --ready--> READY --settle--> (free)
 *   (free) --insert--> LOADING  --ready--> READY
 *   LOADING --refetch--> FETCHING
 *   FETCHING, LOADING --fail--> FAILED --last unpin--> (free)
 *
 * FETCHING: a net thread writes the bytes; LOADING: a reader's thread does;
 * both without the lock, since nobody else touches the bytes. FAILED blocks
 * are no longer found; only reads that had pinned them still point at them.
 *
 * Invariants:
 * 1. A READY block that nobody has pinned is on exactly one list, all others
 *    on none.
 * 2. Only blocks on a list are reclaimed.
 * 3. A READY block that is stored and was read is freed with its last pin.
 */
enum memory_state {
	MEMORY_FETCHING,
	MEMORY_LOADING,
	MEMORY_READY,
	MEMORY_FAILED,
};

/* In the order in which they are reclaimed. */
enum memory_list {
	MEMORY_CLEAN,	  /* Costs nothing, or a read from disk. */
	MEMORY_UNWRITTEN, /* Was read, waits for the writer. */
	MEMORY_UNREAD,	  /* Fetched ahead, nobody asked for it yet. */
	MEMORY_LIST_COUNT,
	MEMORY_NO_LIST = MEMORY_LIST_COUNT,
};

struct memory_block {
	struct memory_block *chain; /* Same bucket, or the next free one. */
	struct memory_block *prev, *next;	      /* `list`. */
	struct memory_block *owner_prev, *owner_next; /* The owner's blocks. */
	struct memory_block *write_prev, *write_next; /* The writer's queue. */
	struct memory_block *fill_next; /* Set before the request is sent. */
	struct memory_owner *owner;
	struct fill *fill; /* FETCHING: the request that brings it. */
	void *data;
	uint64_t number;
	uint64_t ready_ms; /* When it was queued to the writer. */
	uint32_t sum;	   /* CRC-32C, if it came from the store. */
	uint32_t pins;
	enum memory_state state;
	enum memory_list list;
	bool unread; /* Fetched ahead and not asked for since. */
	bool stored; /* Also on disk. */
	bool queued; /* In the writer's queue. */
};

/* Whose blocks they are: part of a cache_object. */
struct memory_owner {
	struct memory_block *blocks;
	struct memory_owner *prev, *next; /* Memory's list of unused owners. */
	uint64_t users;			  /* Opens, reads, fills and blocks. */
	uint64_t dropped; /* Fetched ahead and lost before they were read. */
	bool unused;	  /* On the list of unused owners. */
};

enum memory_use { MEMORY_DEMAND, MEMORY_PREFETCH };

/* What prefetch always leaves for demand: 4 MiB. */
#define MEMORY_RESERVE_BLOCKS ((size_t)64)

int memory_create(uint64_t bytes, struct counters *counters,
		struct memory **out_memory);
void memory_destroy(struct memory *memory);

size_t memory_total(const struct memory *memory);

/* Gives the pages of free buffers back. Needs no lock. */
void memory_trim(struct memory *memory);
struct memory_block *memory_find(const struct memory *memory,
		const struct memory_owner *owner, uint64_t number);

/* Whether `count` blocks could be had now. */
bool memory_has_room(
		const struct memory *memory, size_t count, enum memory_use use);
/* Takes `count` buffers, all or none, reclaiming what it must; prefetch
 * reclaims nothing unread. 0 or -ENOBUFS. */
int memory_take(struct memory *memory, size_t count, enum memory_use use,
		void **out_buffers);

/* Puts a taken buffer into the table: FETCHING or LOADING, not pinned. There
 * is no such block yet. Takes the buffer, cannot fail. */
struct memory_block *memory_insert(struct memory *memory,
		struct memory_owner *owner, uint64_t number, void *buffer,
		enum memory_state state);

/* The bytes are there. `stored`: they came from disk. `write`: queue it. */
void memory_ready(struct memory *memory, struct memory_block *block,
		bool stored, bool write);
/* The bytes will not come. */
void memory_fail(struct memory *memory, struct memory_block *block);

void memory_pin(struct memory *memory, struct memory_block *block);
void memory_unpin(struct memory *memory, struct memory_block *block);

/* The writer's queue, oldest first. */
struct memory_block *memory_write_head(const struct memory *memory);
size_t memory_write_count(const struct memory *memory);
/* Leaves the queue for the disk; pinned until memory_write_end. */
void memory_write_begin(struct memory *memory, struct memory_block *block);
void memory_write_end(
		struct memory *memory, struct memory_block *block, bool stored);

/* Nobody will read the owner's blocks soon: unread ones count as read. */
void memory_owner_rest(struct memory *memory, struct memory_owner *owner);
/* Frees the blocks that nobody uses. */
void memory_owner_clear(struct memory *memory, struct memory_owner *owner);

/* Counts what keeps an owner alive. With none it goes to a list. */
void memory_owner_hold(struct memory *memory, struct memory_owner *owner);
void memory_owner_drop(struct memory *memory, struct memory_owner *owner);
bool memory_has_unused(const struct memory *memory);
/* Takes an unused owner off the list; NULL: there is none. */
struct memory_owner *memory_owner_take_unused(struct memory *memory);

#endif
