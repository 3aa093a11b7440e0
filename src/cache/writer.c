#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "cache/cache_private.h"
#include "cache/disk_tier.h"

/*
 * One thread that takes blocks to the disk behind the readers' back. It waits
 * a little for neighbours, since large writes cost least, and may fall behind:
 * blocks that wait for it are dropped when their memory is needed.
 *
 * It also closes objects that nobody uses any more: that may wait for the
 * disk, which the thread that drops the last use must not.
 */

/* Neighbours taken in one write: 8 MiB; and how many are worth no more wait. */
#define RUN_MAX_BLOCKS ((size_t)128)
#define RUN_GOOD_BLOCKS ((size_t)64)
/* How long a block waits for its neighbours. */
#define RUN_WAIT_MS 100
/* After so long without a read, free buffers give their pages back. */
#define QUIET_MS 5000

struct write_run {
	struct cache_object *object;
	size_t count;
	struct memory_block *blocks[RUN_MAX_BLOCKS];
	void *buffers[RUN_MAX_BLOCKS];
	uint32_t sums[RUN_MAX_BLOCKS];
};

static struct memory_block *queued_at(struct cache *cache,
		const struct memory_owner *owner, uint64_t number)
{
	struct memory_block *block = memory_find(cache->memory, owner, number);

	return block && block->queued ? block : NULL;
}

/* The queued neighbours of the oldest queued block, that one among them. */
static void find_run_locked(struct cache *cache, struct write_run *run)
{
	struct memory_block *block = memory_write_head(cache->memory);
	const struct memory_owner *owner = block->owner;

	for (size_t back = 1; back < RUN_MAX_BLOCKS && block->number > 0;
			back++) {
		struct memory_block *before =
				queued_at(cache, owner, block->number - 1);
		if (!before) {
			break;
		}
		block = before;
	}
	run->object = (struct cache_object *)block->owner;
	run->count = 0;
	while (block && run->count < RUN_MAX_BLOCKS) {
		run->blocks[run->count++] = block;
		block = queued_at(cache, owner, block->number + 1);
	}
}

/* How long to wait for more of the run; 0: write it now. */
static uint64_t wait_ms_locked(const struct cache *cache,
		const struct write_run *run, uint64_t now_ms)
{
	const struct memory_block *head = memory_write_head(cache->memory);
	uint64_t due_ms = head->ready_ms + RUN_WAIT_MS;

	if (run->count >= RUN_GOOD_BLOCKS || cache->last_writes) {
		return 0;
	}
	/* When memory is small, waiting costs blocks. */
	if (memory_write_count(cache->memory) >=
			memory_total(cache->memory) / 8) {
		return 0;
	}
	return due_ms > now_ms ? due_ms - now_ms : 0;
}

static void begin_locked(struct cache *cache, struct write_run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		memory_write_begin(cache->memory, run->blocks[i]);
		run->buffers[i] = run->blocks[i]->data;
		run->sums[i] = run->blocks[i]->sum;
	}
}

static void end_locked(struct cache *cache, struct write_run *run, bool stored)
{
	for (size_t i = 0; i < run->count; i++) {
		memory_write_end(cache->memory, run->blocks[i], stored);
	}
	if (!stored) {
		counters_add(&cache->counters->cache_unwritten, run->count);
	}
	cache_freed_locked(cache);
}

/* The run's blocks are pinned, so that its object stays too. */
static void write_run(struct cache *cache, struct write_run *run)
{
	int error = disk_object_write(run->object->disk, run->blocks[0]->number,
			run->count, run->buffers, run->sums);
	LOCK_SCOPE(&cache->lock);

	end_locked(cache, run, error == 0);
}

/* True: the time passed without a signal. */
static bool wait_locked(struct cache *cache, uint64_t wait_ms)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until); /* Cannot fail. */
	until.tv_sec += (time_t)(wait_ms / 1000);
	until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return pthread_cond_timedwait(&cache->writer, &cache->lock, &until) ==
	       ETIMEDOUT;
}

static void finish_unused_locked(struct cache *cache)
{
	for (;;) {
		struct memory_owner *owner =
				memory_owner_take_unused(cache->memory);
		if (!owner) {
			return;
		}
		object_finish_locked((struct cache_object *)owner);
	}
}

/* Nothing to write: waits for it, and tidies up in a quiet time. */
static void wait_idle_locked(struct cache *cache)
{
	uint64_t before = counters_get(&cache->counters->bytes_read);

	bool quiet = wait_locked(cache, QUIET_MS);
	uint64_t now = counters_get(&cache->counters->bytes_read);
	if (quiet && now == before && now != cache->trimmed_at_bytes &&
			!memory_write_head(cache->memory) &&
			!cache->last_writes) {
		cache->trimmed_at_bytes = now;
		memory_trim(cache->memory);
	}
}

/* Waits until `run` is to be written. False: the thread ends. */
static bool next_run_locked(struct cache *cache, struct write_run *run)
{
	for (;;) {
		uint64_t now_ms = clock_monotonic_ms();

		finish_unused_locked(cache);
		if (cache->last_writes && now_ms >= cache->write_deadline_ms) {
			return false;
		}
		if (!memory_write_head(cache->memory)) {
			if (cache->last_writes) {
				return false;
			}
			wait_idle_locked(cache);
			continue;
		}
		find_run_locked(cache, run);
		uint64_t wait_ms = wait_ms_locked(cache, run, now_ms);
		if (wait_ms == 0) {
			begin_locked(cache, run);
			return true;
		}
		(void)wait_locked(cache, wait_ms); /* Looks again anyway. */
	}
}

void *writer_main(void *context)
{
	struct cache *cache = context;
	struct write_run run;

	for (;;) {
		bool more;
		{
			LOCK_SCOPE(&cache->lock);
			more = next_run_locked(cache, &run);
		}
		if (!more) {
			return NULL;
		}
		write_run(cache, &run);
	}
}

void writer_queued_locked(struct cache *cache, size_t count)
{
	size_t now = memory_write_count(cache->memory);
	size_t before = now > count ? now - count : 0;

	if (before == 0 || now / RUN_GOOD_BLOCKS != before / RUN_GOOD_BLOCKS) {
		(void)pthread_cond_signal(&cache->writer);
	}
}
