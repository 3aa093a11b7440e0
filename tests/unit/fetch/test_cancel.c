#include <criterion/criterion.h>
#include <errno.h>

#include "fixture.h"

#define BLOCK (64 * KIB)

static struct fixture fixture;

/* One transfer at once. */
static void set_up(void)
{
	fixture_init(&fixture);
	fixture.settings.part_size = 4 * BLOCK;
	fixture.settings.max_connections = 1;
	fixture_start(&fixture);
	fixture_use_object(&fixture);
}

static void tear_down(void)
{
	fixture_finish(&fixture);
}

TestSuite(cancel, .init = set_up, .fini = tear_down);

Test(cancel, a_cancel_before_the_start_costs_no_request)
{
	struct wanted blocker;
	struct wanted wanted;
	fixture_occupy(&fixture, &blocker);
	fixture_want(&fixture, &wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	fetch_range_cancel(fixture.fetch, &wanted.range);
	cr_expect_eq(wanted_wait(&wanted), -ECANCELED);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&blocker), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
}

Test(cancel, a_cancel_under_way_lets_the_bytes_come)
{
	struct wanted wanted;
	memory_store_hold(fixture.store);
	fixture_want(&fixture, &wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted.range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted), 0);
}

Test(cancel, what_was_canceled_is_not_tried_again)
{
	struct wanted wanted[2];
	memory_store_fail(fixture.store, "get", 0, 2, -EIO, STORE_RETRY_NOW, 0);
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
	}
	struct fetch_range *ranges[] = {&wanted[0].range, &wanted[1].range};
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted[0].range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted[0]), -ECANCELED);
	cr_expect_eq(wanted_wait(&wanted[1]), 0);
	fixture_expect_get(&fixture, 0, 0, 2 * BLOCK);
	fixture_expect_get(&fixture, 1, BLOCK, BLOCK);
}

Test(cancel, what_was_canceled_does_not_wait_for_a_verdict)
{
	struct wanted wanted[2];
	memory_store_fail(fixture.store, "get", 0, 1, -EACCES, STORE_FINAL, 0);
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
	}
	struct fetch_range *ranges[] = {&wanted[0].range, &wanted[1].range};
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted[1].range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted[0]), -EACCES);
	cr_expect_eq(wanted_wait(&wanted[1]), -ECANCELED);
}

Test(cancel, a_promotion_takes_a_cancel_back)
{
	struct wanted wanted;
	memory_store_fail(fixture.store, "get", 0, 1, -EIO, STORE_RETRY_NOW, 0);
	memory_store_hold(fixture.store);
	fixture_want(&fixture, &wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted.range);
	fetch_range_promote(fixture.fetch, &wanted.range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted), 0);
}

Test(cancel, what_waits_for_its_retry_can_be_canceled)
{
	struct wanted wanted[2];
	struct fetch_range *ranges[2];
	memory_store_fail(
			fixture.store, "get", 0, 1, -EIO, STORE_THROTTLED, 100);
	for (size_t i = 0; i < 2; i++) {
		fixture_want(&fixture, &wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	while (counters_get(&fixture.counters.throttled) == 0) {
		sleep_ms(1);
	}
	fetch_range_cancel(fixture.fetch, &wanted[0].range);
	cr_expect_eq(wanted_wait(&wanted[0]), -ECANCELED);
	cr_expect_eq(wanted_wait_moving(&wanted[1], 50), 0);
}

Test(cancel, a_stop_answers_what_waits_and_what_is_under_way)
{
	struct wanted wanted[3];
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		fixture_want(&fixture, &wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_stop(fixture.fetch, -EIO);
	cr_expect_eq(wanted_wait(&wanted[0]), -EIO);
	cr_expect_eq(wanted_wait(&wanted[1]), -EIO);
	fixture_want(&fixture, &wanted[2], 0, BLOCK, true);
	wanted_submit(&wanted[2]);
	cr_expect_eq(wanted_wait(&wanted[2]), -EIO);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
}

Test(cancel, a_destroy_ends_everything_first)
{
	struct wanted wanted[2];
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		fixture_want(&fixture, &wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	fetch_destroy(fixture.fetch);
	fixture.fetch = NULL;
	cr_expect(wanted_is_done(&wanted[0]));
	cr_expect(wanted_is_done(&wanted[1]));
	cr_expect_eq(wanted[0].error, -ECANCELED);
	cr_expect_eq(wanted[1].error, -ECANCELED);
}
