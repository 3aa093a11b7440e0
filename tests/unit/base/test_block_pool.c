#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/block_pool.h"

static struct block_pool *pool;

static void create(size_t blocks, size_t keep)
{
	cr_assert_eq(block_pool_create(blocks * BLOCK_SIZE, keep * BLOCK_SIZE,
				     &pool),
			0);
}

static bool is_resident(void *block)
{
	unsigned char pages[BLOCK_SIZE / 4096];
	cr_assert_eq(mincore(block, BLOCK_SIZE, pages), 0);
	for (size_t i = 0; i < sizeof(pages); i++) {
		if (pages[i] & 1) {
			return true;
		}
	}
	return false;
}

Test(block_pool, refuses_a_capacity_below_one_block)
{
	cr_assert_eq(block_pool_create(BLOCK_SIZE - 1, 0, &pool), -EINVAL);
	create(1, 0);
	cr_assert_eq(block_pool_total_count(pool), 1);
	block_pool_destroy(pool);
	block_pool_destroy(NULL);
}

Test(block_pool, blocks_are_aligned_and_never_given_twice)
{
	void *blocks[16];
	create(16, 16);
	cr_assert_eq(block_pool_take(pool, 16, 0, blocks), 0);
	for (size_t i = 0; i < 16; i++) {
		cr_assert_eq((uintptr_t)blocks[i] % 4096, 0);
		memset(blocks[i], (int)i, BLOCK_SIZE);
	}
	for (size_t i = 0; i < 16; i++) {
		const unsigned char *bytes = blocks[i];
		cr_assert_eq(bytes[0], i);
		cr_assert_eq(bytes[BLOCK_SIZE - 1], i);
	}
	cr_assert_eq(block_pool_free_count(pool), 0);
	block_pool_destroy(pool);
}

Test(block_pool, takes_all_or_none_and_leaves_the_reserve)
{
	static const struct {
		size_t count;
		size_t reserve;
		int result;
	} table[] = {
			{9, 0, -ENOBUFS},
			{8, 1, -ENOBUFS},
			{1, 8, -ENOBUFS},
			{0, 9, -ENOBUFS},
			{SIZE_MAX, 2, -ENOBUFS},
			{1, SIZE_MAX, -ENOBUFS},
			{7, 1, 0},
			{8, 0, 0},
			{0, 8, 0},
	};
	create(8, 0);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		void *blocks[8] = {NULL};
		cr_assert_eq(block_pool_take(pool, table[i].count,
					     table[i].reserve, blocks),
				table[i].result);
		if (table[i].result == 0) {
			cr_assert_eq(block_pool_free_count(pool),
					8 - table[i].count);
			block_pool_give(pool, blocks, table[i].count);
		} else {
			cr_assert_null(blocks[0]);
		}
		cr_assert_eq(block_pool_free_count(pool), 8);
	}
	block_pool_destroy(pool);
}

Test(block_pool, the_last_given_is_taken_first)
{
	void *blocks[8];
	void *again[2];
	create(8, 8);
	cr_assert_eq(block_pool_take(pool, 8, 0, blocks), 0);
	block_pool_give(pool, &blocks[3], 1);
	block_pool_give(pool, &blocks[5], 1);
	cr_assert_eq(block_pool_take(pool, 2, 0, again), 0);
	cr_assert_eq(again[0], blocks[5]);
	cr_assert_eq(again[1], blocks[3]);
	block_pool_destroy(pool);
}

Test(block_pool, only_the_blocks_to_keep_hold_on_to_their_pages)
{
	enum { TOTAL = 200, KEEP = 70 };
	void *blocks[TOTAL];
	create(TOTAL, KEEP);
	cr_assert_eq(block_pool_take(pool, TOTAL, 0, blocks), 0);
	for (size_t i = 0; i < TOTAL; i++) {
		memset(blocks[i], 1, BLOCK_SIZE);
	}
	block_pool_give(pool, blocks, TOTAL);
	cr_assert_eq(block_pool_free_count(pool), TOTAL);
	size_t resident = 0;
	for (size_t i = 0; i < TOTAL; i++) {
		resident += is_resident(blocks[i]);
	}
	cr_assert_eq(resident, KEEP);
	void *warm[KEEP];
	cr_assert_eq(block_pool_take(pool, KEEP, 0, warm), 0);
	for (size_t i = 0; i < KEEP; i++) {
		cr_assert(is_resident(warm[i]));
	}
	block_pool_destroy(pool);
}

Test(block_pool, is_left_out_of_core_dumps)
{
	void *block;
	create(1024, 0);
	cr_assert_eq(block_pool_take(pool, 1, 0, &block), 0);
	FILE *maps = fopen("/proc/self/smaps", "re");
	cr_assert_not_null(maps);
	char line[512];
	bool inside = false;
	bool found = false;
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long start;
		unsigned long end;
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
			inside = (uintptr_t)block >= start &&
				 (uintptr_t)block < end;
		}
		if (inside && strncmp(line, "VmFlags:", 8) == 0) {
			found = strstr(line, " dd") != NULL;
		}
	}
	fclose(maps);
	cr_assert(found);
	block_pool_destroy(pool);
}

static void *take_and_give(void *context)
{
	for (size_t round = 0; round < 2000; round++) {
		void *blocks[5];
		if (block_pool_take(pool, 5, 0, blocks) != 0) {
			continue;
		}
		for (size_t i = 0; i < 5; i++) {
			*(void **)blocks[i] = context;
		}
		for (size_t i = 0; i < 5; i++) {
			if (*(void **)blocks[i] != context) {
				return context;
			}
		}
		block_pool_give(pool, blocks, 5);
	}
	return NULL;
}

Test(block_pool, threads_never_share_a_block)
{
	pthread_t threads[4];
	char marks[4];
	create(12, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_assert_eq(pthread_create(&threads[i], NULL, take_and_give,
					     &marks[i]),
				0);
	}
	for (size_t i = 0; i < 4; i++) {
		void *shared = NULL;
		pthread_join(threads[i], &shared);
		cr_assert_null(shared);
	}
	cr_assert_eq(block_pool_free_count(pool), 12);
	block_pool_destroy(pool);
}

Test(block_pool, trim_gives_the_pages_of_free_blocks_back)
{
	void *blocks[4];
	create(8, 8);
	cr_assert_eq(block_pool_take(pool, 4, 0, blocks), 0);
	for (size_t i = 0; i < 4; i++) {
		memset(blocks[i], 'x', BLOCK_SIZE);
	}
	block_pool_give(pool, blocks, 3);
	block_pool_trim(pool);
	cr_expect_eq(block_pool_free_count(pool), 7);
	cr_expect_eq(*(char *)blocks[0], 0, "its pages are new");
	cr_expect_eq(*(char *)blocks[3], 'x', "one in use is not touched");
	block_pool_give(pool, blocks + 3, 1);
	block_pool_destroy(pool);
}
