#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "base/counters.h"
#include "base/digest.h"
#include "cache/cache_private.h"
#include "store/object.h"

static void fill_on_data(struct fetch_range *range, uint64_t offset,
		const void *data, size_t length);
static void fill_on_done(struct fetch_range *range, int error);

static struct fill *fill_allocate(struct cache *cache)
{
	struct fill *fill = cache->spare_fills;

	if (fill) {
		cache->spare_fills = fill->next;
		return fill;
	}
	return malloc(sizeof(*fill));
}

struct fill *fill_create_locked(struct cache_object *object,
		struct memory_block *first, size_t count, bool demand)
{
	struct cache *cache = object->cache;
	struct fill *fill = fill_allocate(cache);
	uint64_t last = first->number + count - 1;

	if (!fill) {
		return NULL;
	}
	uint64_t offset = first->number * BLOCK_SIZE;
	*fill = (struct fill){
			.range = {.object = object->version,
					.offset = offset,
					.length = last * BLOCK_SIZE +
						  object_block_length(object,
								  last) -
						  offset,
					.demand = demand,
					.on_data = fill_on_data,
					.on_done = fill_on_done},
			.object = object,
			.first = first,
			.block_count = count,
			.users = 1, /* The caller, until it is submitted. */
			.demand = demand,
	};
	struct memory_block *block = first;
	for (size_t i = 1; i < count; i++, block = block->fill_next) {
		block->fill = fill;
	}
	block->fill = fill;
	block->fill_next = NULL;
	memory_owner_hold(cache->memory, &object->owner);
	DL_APPEND(cache->fills, fill);
	return fill;
}

/* Frees it when it ended and nobody is about to use it. */
static void recycle_locked(struct fill *fill)
{
	struct cache_object *object = fill->object;
	struct cache *cache = object->cache;

	if (!fill->ended || fill->users > 0) {
		return;
	}
	DL_DELETE(cache->fills, fill);
	fill->next = cache->spare_fills;
	cache->spare_fills = fill;
	memory_owner_drop(cache->memory, &object->owner);
	if (!cache->fills) {
		(void)pthread_cond_broadcast(&cache->idle);
	}
}

static void fill_unuse(struct cache *cache, struct fill *fill)
{
	LOCK_SCOPE(&cache->lock);
	fill->users--;
	recycle_locked(fill);
	cache_freed_locked(cache);
}

static void submit_one(struct cache *cache, struct fill *fill)
{
	bool promote;

	fetch_range_submit(cache->fetch, &fill->range);
	{
		LOCK_SCOPE(&cache->lock);
		fill->submitted = true;
		promote = fill->promote && !fill->ended;
	}
	if (promote) {
		fetch_range_promote(cache->fetch, &fill->range);
	}
	fill_unuse(cache, fill);
}

void fill_submit(struct cache *cache, struct fill *fills)
{
	while (fills) {
		struct fill *fill = fills;

		fills = fill->submit_next;
		submit_one(cache, fill);
	}
}

bool fill_demand_locked(struct fill *fill)
{
	if (fill->demand) {
		return false;
	}
	fill->demand = true;
	if (!fill->submitted) {
		fill->promote = true;
		return false;
	}
	fill->users++;
	return true;
}

void fill_promote(struct cache *cache, struct fill *fill)
{
	fetch_range_promote(cache->fetch, &fill->range);
	fill_unuse(cache, fill);
}

static struct fill *newest_prefetch_locked(
		struct cache *cache, const struct cache_object *object)
{
	struct fill *fill = cache->fills;

	if (!fill) {
		return NULL;
	}
	do {
		fill = fill->prev; /* The list's head has the tail there. */
		if (!fill->demand && fill->submitted && !fill->canceled &&
				!fill->ended &&
				(!object || fill->object == object)) {
			return fill;
		}
	} while (fill != cache->fills);
	return NULL;
}

void fill_cancel_prefetch(struct cache *cache,
		const struct cache_object *object, size_t block_count)
{
	size_t canceled = 0;

	while (canceled < block_count) {
		struct fill *fill;
		{
			LOCK_SCOPE(&cache->lock);
			fill = newest_prefetch_locked(cache, object);
			if (!fill) {
				return;
			}
			fill->canceled = true;
			fill->users++;
			canceled += fill->block_count;
		}
		fetch_range_cancel(cache->fetch, &fill->range);
		fill_unuse(cache, fill);
	}
}

/* ---- What fetch calls, on a thread of its own ---- */

static void arrived(struct fill *fill, struct memory_block *block, size_t count)
{
	struct cache_object *object = fill->object;
	struct cache *cache = object->cache;
	struct cache_read *done = NULL;

	counters_add(&cache->counters->cache_misses, count);
	{
		LOCK_SCOPE(&cache->lock);
		for (size_t i = 0; i < count; i++) {
			struct memory_block *next = block->fill_next;

			memory_ready(cache->memory, block, false,
					object_is_written(object));
			read_wake_locked(object, block, 0, &done);
			block = next;
		}
		writer_queued_locked(cache, count);
		cache_freed_locked(cache);
	}
	read_deliver(cache, done);
}

static void fill_on_data(struct fetch_range *range, uint64_t offset,
		const void *data, size_t length)
{
	struct fill *fill = (struct fill *)range;
	struct memory_block *first = fill->first;
	const char *bytes = data;
	size_t whole = 0;

	while (length > 0 && fill->first) {
		struct memory_block *block = fill->first;
		size_t wanted = object_block_length(
				fill->object, block->number);
		size_t part = wanted - fill->filled;

		assert(offset == block->number * BLOCK_SIZE + fill->filled);
		part = length < part ? length : part;
		memcpy((char *)block->data + fill->filled, bytes, part);
		bytes += part;
		offset += part;
		length -= part;
		fill->filled += part;
		if (fill->filled == wanted) {
			if (object_is_written(fill->object)) {
				/* While the processor has it at hand. */
				block->sum = digest_crc32c(block->data, wanted);
			}
			fill->first = block->fill_next;
			fill->filled = 0;
			whole++;
		}
	}
	if (whole > 0) {
		arrived(fill, first, whole);
	}
}

/*
 * The pinned blocks at the head of the chain *rest go into a new fill, in
 * demand. Returns it, or NULL when the first is not pinned or without memory.
 */
static struct fill *ask_again_locked(
		struct cache_object *object, struct memory_block **rest)
{
	struct memory_block *first = *rest;
	struct memory_block *block = first;
	size_t count = 0;

	for (; block && block->pins > 0; block = block->fill_next) {
		count++;
	}
	if (count == 0) {
		return NULL;
	}
	struct fill *fill = fill_create_locked(object, first, count, true);
	if (fill) {
		*rest = block;
	}
	return fill;
}

/*
 * Blocks that will not come. Prefetch is given up early and silently: what a
 * reader waits for by now is asked for again, in demand.
 */
static struct fill *give_up_locked(
		struct fill *fill, int error, struct cache_read **done)
{
	struct cache_object *object = fill->object;
	struct cache *cache = object->cache;
	struct memory_block *rest = fill->first;
	struct fill *again = NULL;
	bool was_prefetch = !fill->range.demand ||
			    (fill->canceled && error == -ECANCELED);
	bool retry = was_prefetch && !cache->stop_error && !cache->closing;

	while (rest) {
		struct fill *fresh =
				retry ? ask_again_locked(object, &rest) : NULL;
		if (fresh) {
			LL_PREPEND2(again, fresh, submit_next);
			continue;
		}
		struct memory_block *next = rest->fill_next;
		bool pinned = rest->pins > 0;
		memory_fail(cache->memory, rest);
		if (pinned) {
			read_wake_locked(object, rest, error, done);
		}
		rest = next;
	}
	return again;
}

static void fill_on_done(struct fetch_range *range, int error)
{
	struct fill *fill = (struct fill *)range;
	struct cache *cache = fill->object->cache;
	struct cache_read *done = NULL;
	struct fill *again;
	{
		LOCK_SCOPE(&cache->lock);
		/* Success with bytes missing would be fetch's bug: -EIO. */
		again = give_up_locked(fill, error ? error : -EIO, &done);
		fill->ended = true;
		recycle_locked(fill);
		cache_freed_locked(cache);
	}
	fill_submit(cache, again);
	read_deliver(cache, done);
}
