#include "base/block_pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"

/*
 * Free blocks form two stacks of block numbers. `warm` ones have their pages
 * and number at most keep_count; `cold` ones gave them back. Takes are served
 * from the warm stack first. Between the stacks a block is nobody's: its
 * pages are given back without the lock, and it counts as free only after.
 */
struct block_pool {
	/* Set at creation. */
	char *memory;
	size_t total_count;
	size_t keep_count;
	pthread_mutex_t lock;

	/* Guarded by lock. The arrays have room for every block. */
	uint32_t *warm;
	uint32_t *cold;
	size_t warm_count;
	size_t cold_count;

	/* Written with the lock held, read by any thread. */
	_Atomic size_t free_count;
};

/* Blocks that are made cold with the lock taken once. */
#define COOL_BATCH 64

static void *block_at(const struct block_pool *pool, uint32_t number)
{
	return pool->memory + (size_t)number * BLOCK_SIZE;
}

static uint32_t number_of(const struct block_pool *pool, const void *block)
{
	size_t offset = (size_t)((const char *)block - pool->memory);
	assert(offset % BLOCK_SIZE == 0);
	assert(offset / BLOCK_SIZE < pool->total_count);
	return (uint32_t)(offset / BLOCK_SIZE);
}

static void publish_free_count_locked(struct block_pool *pool)
{
	atomic_store_explicit(&pool->free_count,
			pool->warm_count + pool->cold_count,
			memory_order_relaxed);
}

static int map_memory(struct block_pool *pool)
{
	size_t size = pool->total_count * BLOCK_SIZE;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED) {
		return -errno;
	}
	pool->memory = memory;
	if (madvise(memory, size, MADV_DONTDUMP) != 0) {
		return -errno;
	}
	return 0;
}

int block_pool_create(size_t capacity_bytes, size_t keep_bytes,
		struct block_pool **out_pool)
{
	size_t count = capacity_bytes / BLOCK_SIZE;
	if (count == 0 || count > UINT32_MAX) {
		return -EINVAL;
	}
	struct block_pool *pool = calloc(1, sizeof(*pool));
	if (pool == NULL) {
		return -ENOMEM;
	}
	(void)pthread_mutex_init(&pool->lock, NULL); /* No attributes. */
	pool->total_count = count;
	pool->keep_count = keep_bytes / BLOCK_SIZE;
	pool->warm = calloc(count, sizeof(*pool->warm));
	pool->cold = calloc(count, sizeof(*pool->cold));
	int error = -ENOMEM;
	if (pool->warm != NULL && pool->cold != NULL) {
		error = map_memory(pool);
	}
	if (error != 0) {
		block_pool_destroy(pool);
		return error;
	}
	/* The lowest block is on top. */
	for (size_t i = 0; i < count; i++) {
		pool->cold[i] = (uint32_t)(count - 1 - i);
	}
	pool->cold_count = count;
	publish_free_count_locked(pool);
	*out_pool = pool;
	return 0;
}

void block_pool_destroy(struct block_pool *pool)
{
	if (pool == NULL) {
		return;
	}
	if (pool->memory != NULL) {
		/* Fails only on our own bugs. */
		(void)munmap(pool->memory, pool->total_count * BLOCK_SIZE);
	}
	free(pool->warm);
	free(pool->cold);
	(void)pthread_mutex_destroy(&pool->lock);
	free(pool);
}

static uint32_t pop_locked(struct block_pool *pool)
{
	if (pool->warm_count > 0) {
		return pool->warm[--pool->warm_count];
	}
	return pool->cold[--pool->cold_count];
}

int block_pool_take(struct block_pool *pool, size_t count, size_t reserve,
		void **out_blocks)
{
	LOCK_SCOPE(&pool->lock);
	size_t ready = pool->warm_count + pool->cold_count;
	if (count > ready || reserve > ready - count) {
		return -ENOBUFS;
	}
	for (size_t i = 0; i < count; i++) {
		out_blocks[i] = block_at(pool, pop_locked(pool));
	}
	publish_free_count_locked(pool);
	return 0;
}

/* Puts as many of the blocks as may stay warm on that stack. */
static size_t push_warm(
		struct block_pool *pool, void *const *blocks, size_t count)
{
	LOCK_SCOPE(&pool->lock);
	size_t pushed = 0;
	while (pushed < count && pool->warm_count < pool->keep_count) {
		pool->warm[pool->warm_count++] =
				number_of(pool, blocks[pushed]);
		pushed++;
	}
	publish_free_count_locked(pool);
	return pushed;
}

static void push_cold(
		struct block_pool *pool, void *const *blocks, size_t count)
{
	LOCK_SCOPE(&pool->lock);
	for (size_t i = 0; i < count; i++) {
		pool->cold[pool->cold_count++] = number_of(pool, blocks[i]);
	}
	publish_free_count_locked(pool);
}

/* Gives the pages of neighbouring blocks back with one call. A kernel that
 * refuses only keeps them in use. */
static void drop_pages(void *const *blocks, size_t count)
{
	size_t first = 0;
	for (size_t i = 1; i <= count; i++) {
		char *expected = (char *)blocks[first] +
				 (i - first) * BLOCK_SIZE;
		if (i < count && blocks[i] == (void *)expected) {
			continue;
		}
		(void)madvise(blocks[first], (i - first) * BLOCK_SIZE,
				MADV_DONTNEED);
		first = i;
	}
}

void block_pool_give(struct block_pool *pool, void *const *blocks, size_t count)
{
	size_t given = push_warm(pool, blocks, count);
	while (given < count) {
		size_t batch = count - given;
		if (batch > COOL_BATCH) {
			batch = COOL_BATCH;
		}
		drop_pages(blocks + given, batch);
		push_cold(pool, blocks + given, batch);
		given += batch;
	}
}

/* Takes up to `limit` warm blocks, those that were freed first. */
static size_t pop_coldest(struct block_pool *pool, void **blocks, size_t limit)
{
	LOCK_SCOPE(&pool->lock);
	size_t count = pool->warm_count < limit ? pool->warm_count : limit;
	for (size_t i = 0; i < count; i++) {
		blocks[i] = block_at(pool, pool->warm[i]);
	}
	pool->warm_count -= count;
	memmove(pool->warm, pool->warm + count,
			pool->warm_count * sizeof(*pool->warm));
	publish_free_count_locked(pool);
	return count;
}

void block_pool_trim(struct block_pool *pool)
{
	void *blocks[COOL_BATCH];
	size_t count = 0;
	while ((count = pop_coldest(pool, blocks, COOL_BATCH)) > 0) {
		drop_pages(blocks, count);
		push_cold(pool, blocks, count);
	}
}

size_t block_pool_free_count(const struct block_pool *pool)
{
	return atomic_load_explicit(&pool->free_count, memory_order_relaxed);
}

size_t block_pool_total_count(const struct block_pool *pool)
{
	return pool->total_count;
}
