#include "base/cleanup.h"
#include "base/counters.h"
#include "cache/disk_tier.h"
#include "cache/read_private.h"

/* Reads blocks [first, end) of the read; returns a bit for each good one. */
static uint32_t load_run(struct cache_read *read, size_t first, size_t end)
{
	struct disk_object *disk = read->object->disk;
	uint64_t number = read_first_block(read) + first;
	void *buffers[CACHE_READ_MAX_BLOCKS];
	size_t count = end - first;
	uint32_t good = 0;

	for (size_t i = 0; i < count; i++) {
		buffers[i] = read_block(read, first + i)->data;
	}
	if (disk_object_read(disk, number, count, buffers) == 0) {
		return ((UINT32_C(1) << count) - 1) << first;
	}
	/* One of them is bad or gone: only that is fetched again. */
	for (size_t i = 0; count > 1 && i < count; i++) {
		if (disk_object_has(disk, number + i) &&
				disk_object_read(disk, number + i, 1,
						&buffers[i]) == 0) {
			good |= UINT32_C(1) << (first + i);
		}
	}
	return good;
}

void read_load(struct cache *cache, struct cache_read *read, uint32_t mask)
{
	struct cache_read *done = NULL;
	struct fill *submit;
	uint32_t good = 0;

	for (size_t i = 0; mask >> i; i++) {
		size_t end = read_run_end(mask, i);

		if (end > i) {
			good |= load_run(read, i, end);
			i = end;
		}
	}
	{
		LOCK_SCOPE(&cache->lock);
		for (size_t i = 0; mask >> i; i++) {
			struct memory_block *block = read_block(read, i);

			if (good >> i & 1) {
				memory_ready(cache->memory, block, true, false);
				read_wake_locked(read->object, block, 0, &done);
			} else if (mask >> i & 1) {
				block->state = MEMORY_FETCHING;
			}
		}
		submit = read_fetch_locked(cache, read, mask & ~good, &done);
	}
	counters_add(&cache->counters->cache_hits,
			(uint64_t)__builtin_popcount(good));
	fill_submit(cache, submit);
	read_deliver(cache, done);
}
