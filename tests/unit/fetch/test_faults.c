#include <criterion/criterion.h>
#include <errno.h>

#include "base/clock.h"
#include "fixture.h"

#define BLOCK (64 * KIB)
#define FOREVER 1000000000U

static struct fixture fixture;

Test(faults, a_retry_asks_for_what_is_left)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, 1, -EIO, STORE_RETRY, 100000);
	fixture_want(&fixture, &wanted, BLOCK, 4 * BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait_moving(&wanted, 10), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 2);
	const struct memory_store_record again = fixture_record(&fixture, 1);
	cr_expect_eq(again.offset, BLOCK + 100000);
	cr_expect_eq(again.length, 4 * BLOCK - 100000);
	cr_expect_eq(counters_get(&fixture.counters.retries), 1);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 0);
	fixture_finish(&fixture);
}

Test(faults, a_retry_of_joined_ranges_leaves_out_the_complete_ones)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted[3];
	struct fetch_range *ranges[3];
	for (size_t i = 0; i < 3; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	fixture_fail_gets(&fixture, 0, 1, -EIO, STORE_RETRY, BLOCK + 5);
	fetch_ranges_submit(fixture.fetch, ranges, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(wanted_wait_moving(&wanted[i], 10), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 2);
	cr_expect_eq(fixture_record(&fixture, 1).offset, BLOCK + 5);
	cr_expect_eq(fixture_record(&fixture, 1).length, 2 * BLOCK - 5);
	fixture_finish(&fixture);
}

Test(faults, a_server_that_always_resets_after_100_kb_is_read_to_the_end)
{
	fixture_start_tries(&fixture, 3, 300000);
	struct wanted wanted[128];
	struct fetch_range *ranges[128];
	for (size_t i = 0; i < 128; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	fixture_fail_gets(&fixture, 0, FOREVER, -EIO, STORE_RETRY, 100000);
	fetch_ranges_submit(fixture.fetch, ranges, 128);
	for (size_t i = 0; i < 127; i++) {
		cr_assert_eq(wanted_wait_moving(&wanted[i], 20), 0);
	}
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 0);
	fixture_finish(&fixture);
}

Test(faults, what_keeps_failing_is_given_up_after_retries)
{
	fixture_start_tries(&fixture, 5, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, FOREVER, -EIO, STORE_RETRY, 0);
	fixture_want(&fixture, &wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), -EIO);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 5);
	cr_expect_eq(counters_get(&fixture.counters.retries), 4);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 1);
	char words[64];
	fetch_last_failure(fixture.fetch, words, sizeof(words));
	cr_expect_str_eq(words, "ordered fault");
	fetch_last_failure(fixture.fetch, words, 8);
	cr_expect_str_eq(words, "ordered");
	fixture_finish(&fixture);
}

Test(faults, prefetch_gives_up_after_two_and_says_nothing)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, FOREVER, -EIO, STORE_RETRY, 0);
	fixture_want(&fixture, &wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), -EIO);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 2);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 0);
	char words[64] = "?";
	fetch_last_failure(fixture.fetch, words, sizeof(words));
	cr_expect_str_empty(words);
	fixture_finish(&fixture);
}

Test(faults, prefetch_promoted_under_way_is_tried_like_demand)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, 4, -EIO, STORE_RETRY, 0);
	memory_store_hold(fixture.store);
	fixture_want(&fixture, &wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_promote(fixture.fetch, &wanted.range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 5);
	fixture_finish(&fixture);
}

Test(faults, final_errors_are_not_tried_again)
{
	static const struct {
		int error, seen;
	} rows[] = {{-EACCES, -EACCES}, {-ESTALE, -ESTALE}, {-ENOENT, -ESTALE},
			{-EDQUOT, -EDQUOT}, {-EIO, -EIO}};
	fixture_start_tries(&fixture, 10, 300000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wanted wanted;
		fixture_fail_gets(
				&fixture, 0, 1, rows[i].error, STORE_FINAL, 0);
		fixture_want(&fixture, &wanted, 0, BLOCK, true);
		wanted_submit(&wanted);
		cr_expect_eq(wanted_wait(&wanted), rows[i].seen);
		cr_expect_eq(memory_store_count(fixture.store, 'g'), i + 1);
	}
	cr_expect_eq(counters_get(&fixture.counters.errors_denied), 1);
	cr_expect_eq(counters_get(&fixture.counters.errors_changed), 2);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 2);
	fixture_finish(&fixture);
}

Test(faults, a_changed_object_is_stale)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted;
	cr_assert_eq(memory_store_put_pattern(
				     fixture.store, "a", 64 * MIB, 8, "\"v2\""),
			0);
	fixture_want(&fixture, &wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), -ESTALE);
	fixture_finish(&fixture);
}

Test(faults, a_repair_is_followed_by_one_more_attempt)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, 1, -EACCES, STORE_REPAIRED, 0);
	fixture_want(&fixture, &wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	fixture_fail_gets(&fixture, 0, 2, -EACCES, STORE_REPAIRED, 0);
	fixture_want(&fixture, &wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), -EACCES);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	fixture_finish(&fixture);
}

Test(faults, a_dead_connection_is_tried_again_at_once)
{
	fixture_start_tries(&fixture, 1, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, 3, -EIO, STORE_RETRY_NOW, 0);
	fixture_want(&fixture, &wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	fixture_finish(&fixture);
}

Test(faults, a_storm_is_answered_within_the_budget)
{
	enum { COUNT = 400 };
	static struct wanted wanted[COUNT];
	fixture_start_tries(&fixture, 1000, 3000000);
	fixture_fail_gets(&fixture, 0, FOREVER, -EIO, STORE_THROTTLED, 0);
	for (size_t i = 0; i < COUNT; i++) {
		fixture_want(&fixture, &wanted[i], i * 2 * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	cr_assert(fixture_wait_asked(&fixture, 'g', COUNT));
	const uint64_t before_ms = clock_monotonic_ms();
	for (int i = 0; i < 20; i++) {
		clock_advance_ms(1000);
		sleep_ms(60);
	}
	const size_t passed_s =
			(size_t)((clock_monotonic_ms() - before_ms) / 1000);
	const size_t asked = memory_store_count(fixture.store, 'g');
	cr_expect_leq(asked, COUNT + 100 + 10 * (passed_s + 2));
	cr_expect_gt(asked, COUNT + 100);
	cr_expect_eq(counters_get(&fixture.counters.transfer_limit), 4);
	cr_expect_eq(fetch_transfer_limit(fixture.fetch), 3);
	fetch_stop(fixture.fetch, -EIO);
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), -EIO);
	}
	fixture_finish(&fixture);
}

Test(faults, readers_come_through_a_storm_that_ends)
{
	enum { COUNT = 200 };
	static struct wanted wanted[COUNT];
	fixture_start_tries(&fixture, 10, 300000);
	fixture_fail_gets(&fixture, 0, 300, -EIO, STORE_THROTTLED, 0);
	for (size_t i = 0; i < COUNT; i++) {
		fixture_want(&fixture, &wanted[i], i * 2 * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(wanted_wait_moving(&wanted[i], 50), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), COUNT + 300);
	fixture_finish(&fixture);
}
