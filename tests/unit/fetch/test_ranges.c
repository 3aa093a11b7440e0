#include <criterion/criterion.h>
#include <errno.h>

#include "fixture.h"

#define PART (256 * KIB)
#define BLOCK (64 * KIB)

static struct fixture fixture;

static void start(size_t max_connections)
{
	fixture_init(&fixture);
	fixture.settings.part_size = PART;
	fixture.settings.max_connections = max_connections;
	fixture_start(&fixture);
	fixture_use_object(&fixture);
}

Test(ranges, a_range_is_one_request_and_its_own_bytes)
{
	start(64);
	struct wanted wanted;
	fixture_want(&fixture, &wanted, 1000001, 99999, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	fixture_expect_get(&fixture, 0, 1000001, 99999);
	cr_expect_eq(counters_get(&fixture.counters.transfers), 0);
	cr_expect_eq(counters_get(&fixture.counters.transfer_limit), 64);
	fixture_finish(&fixture);
}

Test(ranges, neighbours_submitted_together_are_one_request)
{
	start(64);
	static const uint64_t order[] = {3, 1, 0, 2};
	struct wanted wanted[4];
	struct fetch_range *ranges[4];
	for (size_t i = 0; i < 4; i++) {
		fixture_want(&fixture, &wanted[i], order[i] * BLOCK, BLOCK,
				order[i] == 0);
		ranges[i] = &wanted[i].range;
	}
	fetch_ranges_submit(fixture.fetch, ranges, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	fixture_expect_get(&fixture, 0, 0, PART);
	fixture_finish(&fixture);
}

Test(ranges, neighbours_that_wait_for_a_transfer_join_up_to_part_size)
{
	start(1);
	memory_store_hold(fixture.store);
	struct wanted first;
	struct wanted wanted[10];
	fixture_want(&fixture, &first, 32 * MIB, BLOCK, true);
	wanted_submit(&first);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	for (size_t i = 0; i < 10; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	memory_store_release(fixture.store);
	for (size_t i = 0; i < 10; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	fixture_expect_get(&fixture, 1, 0, PART);
	fixture_expect_get(&fixture, 2, PART, PART);
	fixture_expect_get(&fixture, 3, 2 * PART, 2 * BLOCK);
	fixture_finish(&fixture);
}

Test(ranges, a_range_ends_with_its_own_last_byte)
{
	start(64);
	struct wanted wanted[2];
	struct fetch_range *ranges[2];
	for (size_t i = 0; i < 2; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	/* The transfer breaks just behind the first. */
	memory_store_fail(fixture.store, "get", 0, 1, -EACCES, STORE_FINAL,
			BLOCK);
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	cr_expect_eq(wanted_wait(&wanted[0]), 0);
	cr_expect_eq(wanted_wait(&wanted[1]), -EACCES);
	fixture_finish(&fixture);
}

Test(ranges, a_long_range_is_fetched_in_consecutive_pieces)
{
	start(64);
	struct wanted wanted;
	fixture_want(&fixture, &wanted, 5, 2 * PART + 100, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 3);
	fixture_expect_get(&fixture, 0, 5, PART);
	fixture_expect_get(&fixture, 1, 5 + PART, PART);
	fixture_expect_get(&fixture, 2, 5 + 2 * PART, 100);
	cr_expect_eq(counters_get(&fixture.counters.retries), 0);
	fixture_finish(&fixture);
}

Test(ranges, demand_goes_before_prefetch)
{
	start(1);
	struct wanted blocker;
	struct wanted early;
	struct wanted late;
	fixture_occupy(&fixture, &blocker);
	fixture_want(&fixture, &early, 0, BLOCK, false);
	fixture_want(&fixture, &late, 10 * MIB, BLOCK, true);
	wanted_submit(&early);
	wanted_submit(&late);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&early), 0);
	cr_expect_eq(wanted_wait(&late), 0);
	fixture_expect_get(&fixture, 1, 10 * MIB, BLOCK);
	fixture_expect_get(&fixture, 2, 0, BLOCK);
	fixture_finish(&fixture);
}

Test(ranges, promoted_prefetch_goes_with_demand)
{
	start(1);
	struct wanted blocker;
	struct wanted wanted[3];
	fixture_occupy(&fixture, &blocker);
	for (size_t i = 0; i < 3; i++) {
		fixture_want(&fixture, &wanted[i], i * MIB, BLOCK, false);
		wanted_submit(&wanted[i]);
	}
	fetch_range_promote(fixture.fetch, &wanted[2].range);
	memory_store_release(fixture.store);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	fixture_expect_get(&fixture, 1, 2 * MIB, BLOCK);
	fixture_expect_get(&fixture, 2, 0, BLOCK);
	fixture_expect_get(&fixture, 3, MIB, BLOCK);
	fixture_finish(&fixture);
}

Test(ranges, prefetch_leaves_transfers_to_demand)
{
	start(8);
	memory_store_hold(fixture.store);
	struct wanted ahead[10];
	struct wanted demand;
	for (size_t i = 0; i < 10; i++) {
		fixture_want(&fixture, &ahead[i], i * MIB, BLOCK, false);
		wanted_submit(&ahead[i]);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 7);
	fixture_want(&fixture, &demand, 20 * MIB, BLOCK, true);
	wanted_submit(&demand);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 8);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&demand), 0);
	for (size_t i = 0; i < 10; i++) {
		cr_expect_eq(wanted_wait(&ahead[i]), 0);
	}
	fixture_finish(&fixture);
}

Test(ranges, transfers_at_once_are_at_most_max_connections)
{
	start(4);
	memory_store_hold(fixture.store);
	struct wanted wanted[20];
	for (size_t i = 0; i < 20; i++) {
		fixture_want(&fixture, &wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	cr_expect_eq(counters_get(&fixture.counters.transfers), 4);
	memory_store_release(fixture.store);
	for (size_t i = 0; i < 20; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 20);
	fixture_finish(&fixture);
}

Test(ranges, on_done_may_submit_the_next)
{
	start(1);
	struct wanted wanted[3];
	for (size_t i = 0; i < 3; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
		wanted[i].then = i < 2 ? &wanted[i + 1] : NULL;
	}
	wanted_submit(&wanted[0]);
	cr_expect_eq(wanted_wait(&wanted[2]), 0);
	cr_expect_eq(wanted_wait(&wanted[0]), 0);
	fixture_finish(&fixture);
}

Test(ranges, a_rate_holds_back_what_is_over_it)
{
	fixture_init(&fixture);
	fixture.settings.max_rate = MIB;
	fixture_start(&fixture);
	fixture_use_object(&fixture);
	struct wanted wanted;
	fixture_want(&fixture, &wanted, 0, 2 * MIB, true);
	wanted_submit(&wanted);
	cr_assert(fixture_wait_asked(&fixture, 'g', 1));
	fixture_expect_get(&fixture, 0, 0, MIB / 4);
	/* A quarter second is there at first, and real time adds little. */
	sleep_ms(20);
	cr_expect_leq(memory_store_count(fixture.store, 'g'), 2);
	cr_expect_not(wanted_is_done(&wanted));
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 8);
	fixture_finish(&fixture);
}

Test(ranges, settings_that_cannot_work_are_refused)
{
	fixture_init(&fixture);
	struct fetch *fetch = NULL;
	fixture.settings.part_size = 0;
	cr_expect_eq(fetch_create(&fixture.settings, &fetch), -EINVAL);
	fixture.settings.part_size = 1;
	fixture.settings.max_connections = 0;
	cr_expect_eq(fetch_create(&fixture.settings, &fetch), -EINVAL);
	cr_expect_null(fetch);
	fixture_finish(&fixture);
}
