#ifndef BASE_BLOCK_POOL_H
#define BASE_BLOCK_POOL_H

#include <stddef.h>
#include <stdint.h>

/* The unit of caching, of checksums and of memory: 64 KiB. */
#define BLOCK_SIZE ((size_t)65536)

/*
 * All buffers of a mount: one anonymous mapping of `capacity_bytes`, cut into
 * page-aligned blocks of BLOCK_SIZE, left out of core dumps. Blocks are taken
 * last-freed first, so that the pages in use stay warm and few. A free block
 * beyond `keep_bytes` gives its pages back to the system.
 *
 * Any thread. The pool has no queue: who cannot have a block decides what to
 * drop or to wait for.
 */
struct block_pool;

int block_pool_create(size_t capacity_bytes, size_t keep_bytes,
		struct block_pool **out_pool);
void block_pool_destroy(struct block_pool *pool);

/* Takes `count` blocks at once or none: 0 or -ENOBUFS. Leaves at least
 * `reserve` blocks free. Content is not defined. */
int block_pool_take(struct block_pool *pool, size_t count, size_t reserve,
		void **out_blocks);
void block_pool_give(
		struct block_pool *pool, void *const *blocks, size_t count);

/* Gives the pages of all free blocks back to the system: for quiet times. */
void block_pool_trim(struct block_pool *pool);

size_t block_pool_free_count(const struct block_pool *pool);
size_t block_pool_total_count(const struct block_pool *pool);

#endif
