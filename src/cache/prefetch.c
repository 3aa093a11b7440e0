#include "base/block_pool.h"
#include "base/cleanup.h"
#include "cache/cache_private.h"
#include "cache/disk_tier.h"
#include "store/object.h"

static bool is_missing_locked(struct cache_object *object, uint64_t number)
{
	if (object->disk && disk_object_has(object->disk, number)) {
		return false;
	}
	return !memory_find(object->cache->memory, &object->owner, number);
}

/* Inserts missing blocks from `number` on, `count` at most, while they are
 * neighbours and memory allows; returns the first, linked, and their number. */
static struct memory_block *insert_run_locked(struct cache_object *object,
		uint64_t number, uint64_t count, size_t *out_count)
{
	struct cache *cache = object->cache;
	struct memory_block *first = NULL;
	struct memory_block **link = &first;
	size_t inserted = 0;

	for (; inserted < count; inserted++) {
		void *buffer;

		if (!is_missing_locked(object, number + inserted) ||
				memory_take(cache->memory, 1, MEMORY_PREFETCH,
						&buffer) != 0) {
			break;
		}
		struct memory_block *block = memory_insert(cache->memory,
				&object->owner, number + inserted, buffer,
				MEMORY_FETCHING);
		block->unread = true;
		*link = block;
		link = &block->fill_next;
	}
	*out_count = inserted;
	return first;
}

/*
 * Makes one request for the first missing run in [*number, end). Moves *number
 * behind what is present or under way then. NULL: nothing more to ask for, or
 * no memory for it.
 */
static struct fill *next_fill_locked(struct cache_object *object,
		uint64_t *number, uint64_t end, uint64_t part_blocks)
{
	struct cache *cache = object->cache;
	size_t count;

	while (*number < end && !is_missing_locked(object, *number)) {
		++*number;
	}
	if (cache->memory_queue || cache->stop_error || cache->closing) {
		return NULL;
	}
	uint64_t most = end - *number < part_blocks ? end - *number
						    : part_blocks;
	struct memory_block *first =
			insert_run_locked(object, *number, most, &count);
	if (!first) {
		return NULL;
	}
	struct fill *fill = fill_create_locked(object, first, count, false);
	if (fill) {
		*number += count;
		return fill;
	}
	while (first) {
		struct memory_block *next = first->fill_next;

		memory_fail(cache->memory, first);
		first = next;
	}
	return NULL;
}

uint64_t cache_prefetch(struct cache_object *object, uint64_t offset,
		uint64_t length, uint64_t part)
{
	struct cache *cache = object->cache;
	uint64_t size = object->version->size;
	uint64_t left = offset < size ? size - offset : 0;
	uint64_t end = offset + (length < left ? length : left);
	uint64_t end_block = (end + BLOCK_SIZE - 1) / BLOCK_SIZE;
	uint64_t number = offset / BLOCK_SIZE;
	uint64_t part_blocks = part < BLOCK_SIZE ? 1 : part / BLOCK_SIZE;

	for (;;) {
		struct fill *fill;
		{
			LOCK_SCOPE(&cache->lock);
			fill = next_fill_locked(object, &number, end_block,
					part_blocks);
		}
		if (!fill) {
			break;
		}
		fill_submit(cache, fill);
	}
	uint64_t reached = number * BLOCK_SIZE;
	return reached < size ? reached : size;
}
