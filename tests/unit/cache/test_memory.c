#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/block_pool.h"
#include "base/counters.h"
#include "cache/memory_private.h"

static struct counters counters;
static struct memory *memory;
static struct memory_owner owner;

static void setup(size_t blocks)
{
	memset(&counters, 0, sizeof(counters));
	memset(&owner, 0, sizeof(owner));
	cr_assert_eq(memory_create(blocks * BLOCK_SIZE, &counters, &memory), 0);
	memory_owner_hold(memory, &owner);
}

static void finish(void)
{
	memory_owner_clear(memory, &owner);
	cr_assert_eq(owner.users, 1);
	cr_assert_eq(counters_get(&counters.memory_used_bytes), 0);
	memory_destroy(memory);
}

enum kind { CLEAN, UNWRITTEN, UNREAD };

static void add(uint64_t number, enum kind kind)
{
	void *buffer;

	cr_assert_eq(memory_take(memory, 1, MEMORY_DEMAND, &buffer), 0);
	struct memory_block *block = memory_insert(
			memory, &owner, number, buffer, MEMORY_FETCHING);
	block->unread = kind == UNREAD;
	memory_ready(memory, block, false, kind == UNWRITTEN);
}

static bool has(uint64_t number)
{
	return memory_find(memory, &owner, number) != NULL;
}

Test(memory, finds_each_block_of_each_owner)
{
	struct memory_owner other = {.users = 1};

	setup(200);
	for (uint64_t i = 0; i < 200; i += 2) {
		add(i * 1000, CLEAN);
	}
	for (uint64_t i = 0; i < 200; i++) {
		cr_assert_eq(has(i * 1000), i % 2 == 0);
		cr_assert_null(memory_find(memory, &other, i * 1000));
	}
	finish();
}

Test(memory, reclaims_clean_then_unwritten_then_unread)
{
	void *buffers[6];

	setup(6);
	add(0, UNREAD);
	add(1, UNREAD);
	add(2, UNWRITTEN);
	add(3, UNWRITTEN);
	add(4, CLEAN);
	add(5, CLEAN);
	static const uint64_t order[] = {4, 5, 3, 2, 0, 1};
	for (size_t i = 0; i < 6; i++) {
		cr_assert(has(order[i]), "%zu", i);
		cr_assert_eq(memory_take(memory, 1, MEMORY_DEMAND, &buffers[i]),
				0);
		cr_assert_not(has(order[i]), "%zu", i);
	}
	cr_assert_eq(owner.dropped, 2);
	cr_assert_eq(counters_get(&counters.bytes_dropped), 2 * BLOCK_SIZE);
	cr_assert_eq(counters_get(&counters.cache_unwritten), 2);
	cr_assert_eq(memory_write_count(memory), 0);
	cr_assert_eq(memory_take(memory, 1, MEMORY_DEMAND, buffers), -ENOBUFS);
	for (uint64_t i = 0; i < 6; i++) { /* Back where they belong. */
		struct memory_block *block = memory_insert(
				memory, &owner, i, buffers[i], MEMORY_FETCHING);
		memory_fail(memory, block);
	}
	finish();
}

Test(memory, takes_all_or_none)
{
	void *buffers[4];

	setup(4);
	add(0, CLEAN);
	add(1, CLEAN);
	memory_pin(memory, memory_find(memory, &owner, 1));
	cr_assert_not(memory_has_room(memory, 4, MEMORY_DEMAND));
	cr_assert_eq(memory_take(memory, 4, MEMORY_DEMAND, buffers), -ENOBUFS);
	cr_assert(has(0)); /* Nothing is given up in vain. */
	memory_unpin(memory, memory_find(memory, &owner, 1));
	cr_assert(memory_has_room(memory, 4, MEMORY_DEMAND));
	finish();
}

Test(memory, never_reclaims_a_pinned_block)
{
	void *buffer;

	setup(3);
	for (uint64_t i = 0; i < 3; i++) {
		add(i, (enum kind)i);
		memory_pin(memory, memory_find(memory, &owner, i));
	}
	cr_assert_eq(memory_take(memory, 1, MEMORY_DEMAND, &buffer), -ENOBUFS);
	for (uint64_t i = 0; i < 3; i++) {
		memory_unpin(memory, memory_find(memory, &owner, i));
	}
	finish();
}

Test(memory, prefetch_leaves_its_reserve_and_unread_blocks)
{
	void *buffer;

	setup(MEMORY_RESERVE_BLOCKS + 2);
	add(0, UNREAD);
	cr_assert(memory_has_room(memory, 1, MEMORY_PREFETCH));
	cr_assert_not(memory_has_room(memory, 2, MEMORY_PREFETCH));
	add(1, UNREAD);
	cr_assert_eq(memory_take(memory, 1, MEMORY_PREFETCH, &buffer),
			-ENOBUFS);
	cr_assert(has(0));
	cr_assert(memory_has_room(
			memory, MEMORY_RESERVE_BLOCKS + 2, MEMORY_DEMAND));
	finish();
}

Test(memory, a_stored_block_is_freed_with_its_last_pin)
{
	void *buffer;

	setup(2);
	cr_assert_eq(memory_take(memory, 1, MEMORY_DEMAND, &buffer), 0);
	struct memory_block *block = memory_insert(
			memory, &owner, 7, buffer, MEMORY_LOADING);
	memory_pin(memory, block);
	memory_pin(memory, block);
	memory_ready(memory, block, true, false);
	memory_unpin(memory, block);
	cr_assert(has(7));
	memory_unpin(memory, block);
	cr_assert_not(has(7));
	finish();
}

Test(memory, a_failed_block_is_not_found_and_goes_with_its_last_pin)
{
	void *buffer;

	setup(2);
	cr_assert_eq(memory_take(memory, 1, MEMORY_DEMAND, &buffer), 0);
	struct memory_block *block = memory_insert(
			memory, &owner, 7, buffer, MEMORY_FETCHING);
	memory_pin(memory, block);
	memory_fail(memory, block);
	cr_assert_not(has(7));
	add(7, CLEAN); /* A new one beside it. */
	cr_assert_eq(counters_get(&counters.memory_used_bytes), 2 * BLOCK_SIZE);
	memory_unpin(memory, block);
	cr_assert_eq(counters_get(&counters.memory_used_bytes), BLOCK_SIZE);
	cr_assert(has(7));
	finish();
}

Test(memory, a_written_block_stays_until_it_was_read)
{
	setup(2);
	void *buffer;

	cr_assert_eq(memory_take(memory, 1, MEMORY_PREFETCH, &buffer),
			-ENOBUFS);
	add(1, UNWRITTEN);
	struct memory_block *block = memory_find(memory, &owner, 1);
	cr_assert_eq(memory_write_head(memory), block);
	block->unread = true; /* As if fetched ahead. */
	memory_write_begin(memory, block);
	cr_assert_null(memory_write_head(memory));
	memory_write_end(memory, block, true);
	cr_assert(has(1));
	memory_pin(memory, block);
	block->unread = false;
	memory_unpin(memory, block);
	cr_assert_not(has(1));
	finish();
}

Test(memory, a_written_block_gives_way_to_prefetch_though_unread)
{
	void *buffer;

	setup(MEMORY_RESERVE_BLOCKS + 1);
	add(1, UNWRITTEN);
	struct memory_block *block = memory_find(memory, &owner, 1);
	block->unread = true; /* As if fetched ahead. */
	memory_write_begin(memory, block);
	memory_write_end(memory, block, true);
	cr_assert(has(1));
	cr_assert_eq(memory_take(memory, 1, MEMORY_PREFETCH, &buffer), 0);
	cr_assert_not(has(1));
	/* It is only a read from disk: nothing was fetched in vain. */
	cr_assert_eq(counters_get(&counters.bytes_dropped), 0);
	memory_fail(memory, memory_insert(memory, &owner, 2, buffer,
					    MEMORY_FETCHING));
	finish();
}

Test(memory, an_owner_without_users_is_given_out_once)
{
	setup(4);
	add(0, CLEAN);
	memory_owner_drop(memory, &owner);
	cr_assert_not(memory_has_unused(memory));
	memory_owner_clear(memory, &owner);
	cr_assert(memory_has_unused(memory));
	memory_owner_hold(memory, &owner); /* Opened again. */
	cr_assert_not(memory_has_unused(memory));
	memory_owner_drop(memory, &owner);
	cr_assert_eq(memory_owner_take_unused(memory), &owner);
	cr_assert_null(memory_owner_take_unused(memory));
	memory_destroy(memory);
}

Test(memory, unread_blocks_of_an_owner_at_rest_are_reclaimed_first)
{
	void *buffer;

	setup(MEMORY_RESERVE_BLOCKS + 1);
	add(0, UNREAD);
	cr_assert_eq(memory_take(memory, 1, MEMORY_PREFETCH, &buffer),
			-ENOBUFS);
	memory_owner_rest(memory, &owner);
	cr_assert_eq(memory_take(memory, 1, MEMORY_PREFETCH, &buffer), 0);
	cr_assert_not(has(0));
	cr_assert_eq(owner.dropped, 0);
	memory_fail(memory, memory_insert(memory, &owner, 1, buffer,
					    MEMORY_FETCHING));
	finish();
}
