#include <assert.h>
#include <errno.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "cache/disk_tier.h"
#include "cache/read_private.h"
#include "store/object.h"

/* ---- Claiming blocks ---- */

static void unpin_all_locked(struct cache *cache, struct cache_read *read)
{
	for (size_t i = 0; i < CACHE_READ_MAX_BLOCKS; i++) {
		if (read->blocks[i]) {
			memory_unpin(cache->memory, read_block(read, i));
			read->blocks[i] = NULL;
		}
	}
}

/* Pins what is in memory; returns how many blocks are not. */
static size_t pin_present_locked(struct cache *cache, struct cache_read *read)
{
	size_t missing = 0;

	for (size_t i = 0; i < read_block_count(read); i++) {
		struct memory_block *block =
				memory_find(cache->memory, &read->object->owner,
						read_first_block(read) + i);
		read->blocks[i] = block;
		if (block) {
			memory_pin(cache->memory, block);
		} else {
			missing++;
		}
	}
	return missing;
}

static bool waits_locked(const struct cache_read *read, size_t missing)
{
	bool waits = missing > 0;

	for (size_t i = 0; i < read_block_count(read); i++) {
		const struct memory_block *block = read_block(read, i);

		waits |= block && block->state != MEMORY_READY;
	}
	return waits;
}

/* How many bytes of block i the read asks for. */
static size_t overlap(const struct cache_read *read, size_t i)
{
	uint64_t begin = (read_first_block(read) + i) * BLOCK_SIZE;
	uint64_t end = begin + BLOCK_SIZE;
	uint64_t read_end = read->offset + read->length;

	begin = begin > read->offset ? begin : read->offset;
	end = end < read_end ? end : read_end;
	return (size_t)(end - begin);
}

/* Blocks that others bring, and blocks that came before. */
static void use_present_locked(struct cache *cache, struct cache_read *read,
		struct read_work *work)
{
	for (size_t i = 0; i < read_block_count(read); i++) {
		struct memory_block *block = read_block(read, i);

		if (!block) {
			continue;
		}
		if (block->unread || block->state == MEMORY_FETCHING) {
			read->from_store = true;
		} else if (block->state == MEMORY_READY) {
			counters_add(&cache->counters->bytes_memory,
					overlap(read, i));
		}
		block->unread = false;
		read->pending += block->state != MEMORY_READY;
		if (block->state == MEMORY_FETCHING &&
				fill_demand_locked(block->fill)) {
			work->promote[work->promote_count++] = block->fill;
		}
	}
}

/* Makes the blocks that are missing: sets those to load in `work`, returns
 * those to fetch. */
static uint32_t insert_missing_locked(struct cache *cache,
		struct cache_read *read, void *const *buffers,
		struct read_work *work)
{
	const struct disk_object *disk = read->object->disk;
	uint32_t fetch = 0;

	for (size_t i = 0; i < read_block_count(read); i++) {
		if (read->blocks[i]) {
			continue;
		}
		uint64_t number = read_first_block(read) + i;
		bool on_disk = disk && disk_object_has(disk, number);
		struct memory_block *block = memory_insert(cache->memory,
				&read->object->owner, number, *buffers++,
				on_disk ? MEMORY_LOADING : MEMORY_FETCHING);
		memory_pin(cache->memory, block);
		read->blocks[i] = block;
		read->pending++;
		*(on_disk ? &work->load : &fetch) |= UINT32_C(1) << i;
	}
	return fetch;
}

/* One fill for blocks [first, end) of the read. They fail without memory. */
static void fetch_run_locked(struct cache *cache, struct cache_read *read,
		size_t first, size_t end, struct fill **submit,
		struct cache_read **done)
{
	for (size_t i = first; i + 1 < end; i++) {
		read_block(read, i)->fill_next = read_block(read, i + 1);
	}
	read->from_store = true;
	struct fill *fill = fill_create_locked(read->object,
			read_block(read, first), end - first, true);
	if (fill) {
		LL_PREPEND2(*submit, fill, submit_next);
		return;
	}
	for (size_t i = first; i < end; i++) {
		memory_fail(cache->memory, read_block(read, i));
		read_wake_locked(read->object, read_block(read, i), -ENOMEM,
				done);
	}
}

struct fill *read_fetch_locked(struct cache *cache, struct cache_read *read,
		uint32_t mask, struct cache_read **done)
{
	struct fill *submit = NULL;

	for (size_t i = 0; mask >> i; i++) {
		size_t end = read_run_end(mask, i);

		if (end > i) {
			fetch_run_locked(cache, read, i, end, &submit, done);
			i = end;
		}
	}
	return submit;
}

enum read_claim read_claim_locked(struct cache *cache, struct cache_read *read,
		bool first, struct read_work *work)
{
	void *buffers[CACHE_READ_MAX_BLOCKS];
	struct cache_read *done = NULL;
	size_t missing = pin_present_locked(cache, read);

	if (cache->stop_error && waits_locked(read, missing)) {
		read->error = cache->stop_error;
		return CLAIM_COMPLETE;
	}
	if (missing > 0) {
		bool behind = cache->memory_queue && !first;

		if (behind || memory_take(cache->memory, missing, MEMORY_DEMAND,
					      buffers) != 0) {
			unpin_all_locked(cache, read);
			return CLAIM_NO_MEMORY;
		}
	}
	use_present_locked(cache, read, work);
	uint32_t fetch = insert_missing_locked(cache, read, buffers, work);
	if (read->pending == 0) {
		return CLAIM_COMPLETE;
	}
	read->starting = true;
	DL_APPEND(read->object->waiting, read);
	work->submit = read_fetch_locked(cache, read, fetch, &done);
	assert(!done); /* Nobody else can wait for blocks just made. */
	return CLAIM_PENDING;
}

/* ---- The way of a read ---- */

bool read_run(struct cache *cache, struct cache_read *read,
		struct read_work *work)
{
	fill_submit(cache, work->submit);
	for (size_t i = 0; i < work->promote_count; i++) {
		fill_promote(cache, work->promote[i]);
	}
	if (work->load) {
		read_load(cache, read, work->load);
	}
	LOCK_SCOPE(&cache->lock);
	read->starting = false;
	if (!read_is_over(read)) {
		return false;
	}
	DL_DELETE(read->object->waiting, read);
	return true;
}

static void prepare(struct cache_object *object, struct cache_read *read)
{
	assert(read->length > 0);
	assert(read->length <= CACHE_READ_MAX_BYTES);
	assert(read->offset + read->length <= object->version->size);
	read->object = object;
	read->error = 0;
	read->pending = 0;
	read->wait_us = 0;
	read->from_store = false;
	read->starting = false;
	read->started_us = clock_monotonic_us();
	for (size_t i = 0; i < CACHE_READ_MAX_BLOCKS; i++) {
		read->blocks[i] = NULL;
	}
}

int cache_read_start(struct cache_object *object, struct cache_read *read)
{
	struct cache *cache = object->cache;
	struct read_work work = {.submit = NULL};
	size_t count;
	enum read_claim claim;

	prepare(object, read);
	count = read_block_count(read);
	if (object->disk) {
		disk_object_touch(object->disk, read_first_block(read), count);
	}
	{
		LOCK_SCOPE(&cache->lock);
		memory_owner_hold(cache->memory, &object->owner);
		claim = read_claim_locked(cache, read, false, &work);
		if (claim == CLAIM_NO_MEMORY) {
			read_enqueue_locked(cache, read);
		}
	}
	switch (claim) {
	case CLAIM_NO_MEMORY:
		fill_cancel_prefetch(cache, NULL, count);
		return -EINPROGRESS;
	case CLAIM_PENDING:
		if (!read_run(cache, read, &work)) {
			return -EINPROGRESS;
		}
		break;
	case CLAIM_COMPLETE:
		break;
	}
	read_finish(cache, read);
	return 0;
}

void cache_read_release(struct cache_read *read)
{
	struct cache *cache = read->object->cache;
	LOCK_SCOPE(&cache->lock);

	unpin_all_locked(cache, read);
	memory_owner_drop(cache->memory, &read->object->owner);
	cache_freed_locked(cache);
}
