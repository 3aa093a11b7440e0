#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "cache/read_private.h"

/* ---- The end of a read ---- */

static void set_parts(struct cache_read *read)
{
	size_t skip = read->offset % BLOCK_SIZE;
	size_t left = read->length;
	int count = 0;

	for (; left > 0; count++) {
		size_t part = BLOCK_SIZE - skip;

		part = left < part ? left : part;
		read->parts[count] = (struct iovec){
				.iov_base = (char *)read_block(
							    read, (size_t)count)
							    ->data +
					    skip,
				.iov_len = part,
		};
		left -= part;
		skip = 0;
	}
	read->part_count = count;
}

void read_finish(struct cache *cache, struct cache_read *read)
{
	read->part_count = 0;
	if (!read->error) {
		set_parts(read);
		counters_add(&cache->counters->bytes_read, read->length);
	}
}

/* As finish, for a read that waited for another thread. */
static void finish_late(struct cache *cache, struct cache_read *read)
{
	uint64_t waited = clock_monotonic_us() - read->started_us;

	read->wait_us = waited ? waited : 1;
	counters_add(&cache->counters->stall_us, read->wait_us);
	read_finish(cache, read);
}

void read_deliver(struct cache *cache, struct cache_read *done)
{
	while (done) {
		struct cache_read *read = done;

		done = read->next; /* on_done may free the read. */
		finish_late(cache, read);
		read->on_done(read);
	}
}

static void end_waiting_locked(struct cache_object *object,
		struct cache_read *read, struct cache_read **done)
{
	if (!read->starting) {
		DL_DELETE(object->waiting, read);
		LL_PREPEND(*done, read);
	}
}

void read_wake_locked(struct cache_object *object,
		const struct memory_block *block, int error,
		struct cache_read **done)
{
	struct cache_read *read;
	struct cache_read *next;

	if (block->pins == 0) {
		return;
	}
	DL_FOREACH_SAFE (object->waiting, read, next) {
		uint64_t i = block->number - read_first_block(read);

		if (i >= read_block_count(read) || read->blocks[i] != block) {
			continue;
		}
		read->pending--;
		if (error && !read->error) {
			read->error = error;
		}
		if (read_is_over(read)) {
			end_waiting_locked(object, read, done);
		}
	}
}

/* ---- The memory queue ---- */

void read_enqueue_locked(struct cache *cache, struct cache_read *read)
{
	DL_APPEND(cache->memory_queue, read);
	counters_add(&cache->counters->memory_waiters, 1);
	(void)pthread_cond_signal(&cache->resume);
}

/* Claims for the first of the queue. NULL: there is none, or not yet. */
static struct cache_read *resume_first_locked(struct cache *cache,
		enum read_claim *out_claim, struct read_work *work)
{
	struct cache_read *read = cache->memory_queue;

	if (!read) {
		return NULL;
	}
	/* Its links are needed for the list of its object. */
	DL_DELETE(cache->memory_queue, read);
	*out_claim = read_claim_locked(cache, read, true, work);
	if (*out_claim == CLAIM_NO_MEMORY) {
		DL_PREPEND(cache->memory_queue, read);
		return NULL;
	}
	counters_sub(&cache->counters->memory_waiters, 1);
	return read;
}

void *read_resume_main(void *context)
{
	struct cache *cache = context;

	for (;;) {
		struct read_work work = {.submit = NULL};
		struct cache_read *read = NULL;
		enum read_claim claim = CLAIM_NO_MEMORY;
		{
			LOCK_SCOPE(&cache->lock);
			while (!cache->closing) {
				read = resume_first_locked(
						cache, &claim, &work);
				if (read) {
					break;
				}
				(void)pthread_cond_wait(
						&cache->resume, &cache->lock);
			}
		}
		if (!read) {
			return NULL;
		}
		if (claim == CLAIM_COMPLETE || read_run(cache, read, &work)) {
			read->next = NULL;
			read_deliver(cache, read);
		}
	}
}

/* ---- The end of all reads ---- */

static void stop_object_locked(struct cache_object *object, int error,
		struct cache_read **done)
{
	struct cache_read *read;
	struct cache_read *next;

	DL_FOREACH_SAFE (object->waiting, read, next) {
		if (!read->error) {
			read->error = error;
		}
		end_waiting_locked(object, read, done);
	}
}

void cache_stop(struct cache *cache, int error)
{
	struct cache_read *done = NULL;
	struct cache_object *object;
	struct cache_object *next;
	{
		LOCK_SCOPE(&cache->lock);
		cache->stop_error = error;
		HASH_ITER (hh, cache->table, object, next) {
			stop_object_locked(object, error, &done);
		}
		/* Those without memory end on the resume thread. */
		(void)pthread_cond_signal(&cache->resume);
	}
	read_deliver(cache, done);
}
