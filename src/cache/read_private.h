#ifndef CACHE_READ_PRIVATE_H
#define CACHE_READ_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/block_pool.h"
#include "cache/cache_private.h"

/*
 * A read goes through these steps:
 *
 *   start --claim--> has all its blocks: complete, nothing else is done
 *         --claim--> has all its blocks, some not there yet: they are asked
 *                    for and loaded by this thread, then it is complete or
 *                    waits in its object's list for the rest (read_wake)
 *         --queue--> no memory: it holds nothing and waits in the memory
 *                    queue; the resume thread claims for it
 *   complete --release--> gone
 *
 * While `starting` is set its thread is still at work with it, and whoever
 * completes it only notes so.
 */

enum read_claim { CLAIM_COMPLETE, CLAIM_PENDING, CLAIM_NO_MEMORY };

/* What a pending claim leaves to do without the lock. */
struct read_work {
	struct fill *submit;
	struct fill *promote[CACHE_READ_MAX_BLOCKS];
	size_t promote_count;
	uint32_t load; /* Bit i: blocks[i] is to be read from disk. */
};

static inline uint64_t read_first_block(const struct cache_read *read)
{
	return read->offset / BLOCK_SIZE;
}

static inline size_t read_block_count(const struct cache_read *read)
{
	uint64_t last = (read->offset + read->length - 1) / BLOCK_SIZE;

	return (size_t)(last - read_first_block(read)) + 1;
}

static inline struct memory_block *read_block(
		const struct cache_read *read, size_t i)
{
	return read->blocks[i];
}

static inline bool read_is_over(const struct cache_read *read)
{
	return read->pending == 0 || read->error != 0;
}

/* The end of the run of bits that begins with bit `first`. */
static inline size_t read_run_end(uint32_t mask, size_t first)
{
	while (mask >> first & 1) {
		first++;
	}
	return first;
}

/* ---- read.c ---- */

/*
 * Takes everything the read needs, or nothing. `first`: it is the first of the
 * memory queue, behind which all others have to wait.
 */
enum read_claim read_claim_locked(struct cache *cache, struct cache_read *read,
		bool first, struct read_work *work);

/* Does what a pending claim left to do. True: the read is complete; otherwise
 * it may be gone by now. */
bool read_run(struct cache *cache, struct cache_read *read,
		struct read_work *work);

/* Makes fills for the runs of this read's blocks that are set in `mask`. */
struct fill *read_fetch_locked(struct cache *cache, struct cache_read *read,
		uint32_t mask, struct cache_read **done);

/* ---- read_load.c ---- */

/* Reads the blocks of `mask` from disk; asks the store for those that cannot
 * be had there. By the thread that claimed them. */
void read_load(struct cache *cache, struct cache_read *read, uint32_t mask);

/* ---- read_wait.c ---- */

/* Sets what the caller sees of a complete read. */
void read_finish(struct cache *cache, struct cache_read *read);
/* To the end of the memory queue. */
void read_enqueue_locked(struct cache *cache, struct cache_read *read);

#endif
