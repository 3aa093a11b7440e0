#include "cache/memory_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/block_pool.h"
#include "base/clock.h"
#include "base/counters.h"

/* Free buffers that keep their pages while there is work. */
#define KEEP_BYTES ((size_t)256 << 20)

/* Everything is allocated at the start: the number of blocks is the number of
 * buffers, so that a read allocates nothing and cannot fail for that. */
struct memory {
	struct counters *counters;
	struct block_pool *pool;
	struct memory_block *blocks; /* One for each buffer. */
	struct memory_block *free;   /* Linked through `chain`. */
	struct memory_block **table; /* Buckets linked through `chain`. */
	size_t table_mask;
	struct memory_block *lists[MEMORY_LIST_COUNT]; /* Oldest first. */
	size_t list_counts[MEMORY_LIST_COUNT];
	struct memory_block *write_queue; /* Oldest first. */
	size_t write_count;
	struct memory_owner *unused;
};

int memory_create(uint64_t bytes, struct counters *counters,
		struct memory **out_memory)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	if (!memory) {
		return -ENOMEM;
	}
	memory->counters = counters;
	int error = block_pool_create(bytes, KEEP_BYTES, &memory->pool);
	if (error) {
		memory_destroy(memory);
		return error;
	}
	size_t total = block_pool_total_count(memory->pool);
	size_t buckets = 64;
	while (buckets < total) {
		buckets *= 2;
	}
	memory->table_mask = buckets - 1;
	memory->table = calloc(buckets, sizeof(struct memory_block *));
	memory->blocks = calloc(total, sizeof(*memory->blocks));
	if (!memory->table || !memory->blocks) {
		memory_destroy(memory);
		return -ENOMEM;
	}
	for (size_t i = total; i-- > 0;) {
		memory->blocks[i].chain = memory->free;
		memory->free = &memory->blocks[i];
	}
	*out_memory = memory;
	return 0;
}

void memory_destroy(struct memory *memory)
{
	if (!memory) {
		return;
	}
	block_pool_destroy(memory->pool);
	free(memory->table);
	free(memory->blocks);
	free(memory);
}

void memory_trim(struct memory *memory)
{
	block_pool_trim(memory->pool);
}

size_t memory_total(const struct memory *memory)
{
	return block_pool_total_count(memory->pool);
}

/* ---- The table ---- */

static struct memory_block **bucket_of(const struct memory *memory,
		const struct memory_owner *owner, uint64_t number)
{
	uint64_t hash = (uint64_t)(uintptr_t)owner / sizeof(*owner) + number;

	hash *= UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing. */
	return &memory->table[(hash >> 32) & memory->table_mask];
}

struct memory_block *memory_find(const struct memory *memory,
		const struct memory_owner *owner, uint64_t number)
{
	struct memory_block *block = *bucket_of(memory, owner, number);

	while (block && (block->owner != owner || block->number != number)) {
		block = block->chain;
	}
	return block;
}

static void table_remove(struct memory *memory, struct memory_block *block)
{
	struct memory_block **link =
			bucket_of(memory, block->owner, block->number);

	while (*link != block) {
		link = &(*link)->chain;
	}
	*link = block->chain;
}

struct memory_block *memory_insert(struct memory *memory,
		struct memory_owner *owner, uint64_t number, void *buffer,
		enum memory_state state)
{
	struct memory_block *block = memory->free;

	assert(block); /* There is one for each buffer. */
	memory->free = block->chain;
	*block = (struct memory_block){
			.owner = owner,
			.number = number,
			.data = buffer,
			.state = state,
			.list = MEMORY_NO_LIST,
	};
	struct memory_block **bucket = bucket_of(memory, owner, number);
	block->chain = *bucket;
	*bucket = block;
	DL_APPEND2(owner->blocks, block, owner_prev, owner_next);
	memory_owner_hold(memory, owner);
	return block;
}

/* ---- Lists ---- */

static void list_remove(struct memory *memory, struct memory_block *block)
{
	if (block->list != MEMORY_NO_LIST) {
		DL_DELETE(memory->lists[block->list], block);
		memory->list_counts[block->list]--;
		block->list = MEMORY_NO_LIST;
	}
}

static void queue_remove(struct memory *memory, struct memory_block *block)
{
	if (block->queued) {
		DL_DELETE2(memory->write_queue, block, write_prev, write_next);
		memory->write_count--;
		block->queued = false;
	}
}

static void block_free(struct memory *memory, struct memory_block *block)
{
	struct memory_owner *owner = block->owner;

	list_remove(memory, block);
	queue_remove(memory, block);
	if (block->state != MEMORY_FAILED) {
		table_remove(memory, block);
	}
	DL_DELETE2(owner->blocks, block, owner_prev, owner_next);
	block_pool_give(memory->pool, &block->data, 1);
	counters_sub(&memory->counters->memory_used_bytes, BLOCK_SIZE);
	block->chain = memory->free;
	memory->free = block;
	memory_owner_drop(memory, owner);
}

/* Where a block goes that nobody has pinned. */
static void settle(struct memory *memory, struct memory_block *block)
{
	enum memory_list list = MEMORY_CLEAN;

	if (block->pins > 0 || block->state == MEMORY_FETCHING ||
			block->state == MEMORY_LOADING) {
		return;
	}
	if (block->state == MEMORY_FAILED ||
			(block->stored && !block->unread)) {
		block_free(memory, block);
		return;
	}
	if (block->unread && !block->stored) {
		list = MEMORY_UNREAD;
	} else if (block->queued) {
		list = MEMORY_UNWRITTEN;
	}
	block->list = list;
	DL_APPEND(memory->lists[list], block);
	memory->list_counts[list]++;
}

void memory_ready(struct memory *memory, struct memory_block *block,
		bool stored, bool write)
{
	block->state = MEMORY_READY;
	block->fill = NULL;
	block->stored = stored;
	if (write && !stored) {
		block->queued = true;
		block->ready_ms = clock_monotonic_ms();
		DL_APPEND2(memory->write_queue, block, write_prev, write_next);
		memory->write_count++;
	}
	settle(memory, block);
}

void memory_fail(struct memory *memory, struct memory_block *block)
{
	table_remove(memory, block);
	block->state = MEMORY_FAILED;
	block->fill = NULL;
	if (block->unread) {
		block->owner->dropped++;
	}
	settle(memory, block);
}

void memory_pin(struct memory *memory, struct memory_block *block)
{
	list_remove(memory, block);
	block->pins++;
}

void memory_unpin(struct memory *memory, struct memory_block *block)
{
	assert(block->pins > 0);
	block->pins--;
	settle(memory, block);
}

/* ---- Taking memory ---- */

static size_t reserve_of(enum memory_use use)
{
	return use == MEMORY_PREFETCH ? MEMORY_RESERVE_BLOCKS : 0;
}

bool memory_has_room(
		const struct memory *memory, size_t count, enum memory_use use)
{
	size_t room = block_pool_free_count(memory->pool) +
		      memory->list_counts[MEMORY_CLEAN] +
		      memory->list_counts[MEMORY_UNWRITTEN];

	if (use == MEMORY_DEMAND) {
		room += memory->list_counts[MEMORY_UNREAD];
	}
	return room >= count + reserve_of(use);
}

/*
 * The oldest of a list, but the youngest that wait for the writer: what it
 * takes next stays in long runs.
 */
static struct memory_block *victim(const struct memory *memory)
{
	if (memory->lists[MEMORY_CLEAN]) {
		return memory->lists[MEMORY_CLEAN];
	}
	if (memory->lists[MEMORY_UNWRITTEN]) {
		return memory->lists[MEMORY_UNWRITTEN]->prev;
	}
	return memory->lists[MEMORY_UNREAD];
}

static void reclaim_one(struct memory *memory)
{
	struct memory_block *block = victim(memory);

	assert(block);
	if (block->unread) {
		block->owner->dropped++;
	}
	if (block->unread && !block->stored) {
		counters_add(&memory->counters->bytes_dropped, BLOCK_SIZE);
	}
	if (block->queued) {
		counters_add(&memory->counters->cache_unwritten, 1);
	}
	block_free(memory, block);
}

int memory_take(struct memory *memory, size_t count, enum memory_use use,
		void **out_buffers)
{
	size_t reserve = reserve_of(use);

	if (!memory_has_room(memory, count, use)) {
		return -ENOBUFS;
	}
	while (block_pool_free_count(memory->pool) < count + reserve) {
		reclaim_one(memory);
	}
	int error = block_pool_take(memory->pool, count, reserve, out_buffers);
	if (!error) {
		counters_add(&memory->counters->memory_used_bytes,
				count * BLOCK_SIZE);
	}
	return error;
}

/* ---- The writer's queue ---- */

struct memory_block *memory_write_head(const struct memory *memory)
{
	return memory->write_queue;
}

size_t memory_write_count(const struct memory *memory)
{
	return memory->write_count;
}

void memory_write_begin(struct memory *memory, struct memory_block *block)
{
	memory_pin(memory, block);
	queue_remove(memory, block);
}

void memory_write_end(
		struct memory *memory, struct memory_block *block, bool stored)
{
	block->stored = stored;
	memory_unpin(memory, block);
}

/* ---- Owners ---- */

void memory_owner_hold(struct memory *memory, struct memory_owner *owner)
{
	owner->users++;
	if (owner->unused) {
		owner->unused = false;
		DL_DELETE(memory->unused, owner);
	}
}

void memory_owner_drop(struct memory *memory, struct memory_owner *owner)
{
	assert(owner->users > 0);
	owner->users--;
	if (owner->users == 0) {
		owner->unused = true;
		DL_APPEND(memory->unused, owner);
	}
}

bool memory_has_unused(const struct memory *memory)
{
	return memory->unused != NULL;
}

struct memory_owner *memory_owner_take_unused(struct memory *memory)
{
	struct memory_owner *owner = memory->unused;

	if (owner) {
		owner->unused = false;
		DL_DELETE(memory->unused, owner);
	}
	return owner;
}

void memory_owner_rest(struct memory *memory, struct memory_owner *owner)
{
	struct memory_block *block;
	struct memory_block *next;

	DL_FOREACH_SAFE2(owner->blocks, block, next, owner_next)
	{
		block->unread = false;
		if (block->list != MEMORY_NO_LIST) {
			list_remove(memory, block);
			settle(memory, block);
		}
	}
}

void memory_owner_clear(struct memory *memory, struct memory_owner *owner)
{
	struct memory_block *block;
	struct memory_block *next;

	DL_FOREACH_SAFE2(owner->blocks, block, next, owner_next)
	{
		if (block->list != MEMORY_NO_LIST) {
			block_free(memory, block);
		}
	}
}
