#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "fixture.h"
#include "store/object.h"

#define PART (256 * KIB)
#define BLOCK (64 * KIB)

static struct fixture fixture;
static struct object *object;

static void start(size_t max_connections)
{
	fixture_init(&fixture);
	fixture.settings.part_size = PART;
	fixture.settings.max_connections = max_connections;
	fixture_start(&fixture);
	object = fixture_object(&fixture, "a", 64 * MIB, 7);
}

static void stop(void)
{
	fixture_finish(&fixture);
	object_unref(object);
}

static void want(struct wanted *wanted, uint64_t offset, uint64_t length,
		bool demand)
{
	wanted_init(wanted, &fixture, object, 7, offset, length, demand);
}

static void expect_record(size_t index, uint64_t offset, uint64_t length)
{
	const struct memory_store_record record =
			fixture_record(&fixture, index);
	cr_expect_eq(record.kind, 'g');
	cr_expect_eq(record.offset, offset, "request %zu is at %lu", index,
			record.offset);
	cr_expect_eq(record.length, length, "request %zu has %lu", index,
			record.length);
}

Test(ranges, a_range_is_one_request_and_its_own_bytes)
{
	start(64);
	struct wanted wanted;
	want(&wanted, 1000001, 99999, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	expect_record(0, 1000001, 99999);
	cr_expect_eq(counters_get(&fixture.counters.transfers), 0);
	cr_expect_eq(counters_get(&fixture.counters.transfer_limit), 64);
	stop();
}

Test(ranges, neighbours_submitted_together_are_one_request)
{
	start(64);
	static const uint64_t order[] = {3, 1, 0, 2};
	struct wanted wanted[4];
	struct fetch_range *ranges[4];
	for (size_t i = 0; i < 4; i++) {
		want(&wanted[i], order[i] * BLOCK, BLOCK, order[i] == 0);
		ranges[i] = &wanted[i].range;
	}
	fetch_ranges_submit(fixture.fetch, ranges, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	expect_record(0, 0, PART);
	stop();
}

Test(ranges, neighbours_that_wait_for_a_transfer_join_up_to_part_size)
{
	start(1);
	memory_store_hold(fixture.store);
	struct wanted first;
	struct wanted wanted[10];
	want(&first, 32 * MIB, BLOCK, true);
	wanted_submit(&first);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	for (size_t i = 0; i < 10; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	memory_store_release(fixture.store);
	for (size_t i = 0; i < 10; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	expect_record(1, 0, PART);
	expect_record(2, PART, PART);
	expect_record(3, 2 * PART, 2 * BLOCK);
	stop();
}

Test(ranges, a_range_ends_with_its_own_last_byte)
{
	start(64);
	struct wanted wanted[2];
	struct fetch_range *ranges[2];
	for (size_t i = 0; i < 2; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	/* The transfer breaks just behind the first. */
	memory_store_fail(fixture.store, "get", 0, 1, -EACCES, STORE_FINAL,
			BLOCK);
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	cr_expect_eq(wanted_wait(&wanted[0]), 0);
	cr_expect_eq(wanted_wait(&wanted[1]), -EACCES);
	stop();
}

Test(ranges, a_long_range_is_fetched_in_consecutive_pieces)
{
	start(64);
	struct wanted wanted;
	want(&wanted, 5, 2 * PART + 100, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 3);
	expect_record(0, 5, PART);
	expect_record(1, 5 + PART, PART);
	expect_record(2, 5 + 2 * PART, 100);
	cr_expect_eq(counters_get(&fixture.counters.retries), 0);
	stop();
}

/* Fills the one transfer, so that what is submitted next waits. */
static void occupy(struct wanted *blocker)
{
	memory_store_hold(fixture.store);
	want(blocker, 63 * MIB, BLOCK, true);
	wanted_submit(blocker);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
}

Test(ranges, demand_goes_before_prefetch)
{
	start(1);
	struct wanted blocker;
	struct wanted early;
	struct wanted late;
	occupy(&blocker);
	want(&early, 0, BLOCK, false);
	want(&late, 10 * MIB, BLOCK, true);
	wanted_submit(&early);
	wanted_submit(&late);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&early), 0);
	cr_expect_eq(wanted_wait(&late), 0);
	expect_record(1, 10 * MIB, BLOCK);
	expect_record(2, 0, BLOCK);
	stop();
}

Test(ranges, promoted_prefetch_goes_with_demand)
{
	start(1);
	struct wanted blocker;
	struct wanted wanted[3];
	occupy(&blocker);
	for (size_t i = 0; i < 3; i++) {
		want(&wanted[i], i * MIB, BLOCK, false);
		wanted_submit(&wanted[i]);
	}
	fetch_range_promote(fixture.fetch, &wanted[2].range);
	memory_store_release(fixture.store);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	expect_record(1, 2 * MIB, BLOCK);
	expect_record(2, 0, BLOCK);
	expect_record(3, MIB, BLOCK);
	stop();
}

Test(ranges, prefetch_leaves_transfers_to_demand)
{
	start(8);
	memory_store_hold(fixture.store);
	struct wanted ahead[10];
	struct wanted demand;
	for (size_t i = 0; i < 10; i++) {
		want(&ahead[i], i * MIB, BLOCK, false);
		wanted_submit(&ahead[i]);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 7);
	want(&demand, 20 * MIB, BLOCK, true);
	wanted_submit(&demand);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 8);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&demand), 0);
	for (size_t i = 0; i < 10; i++) {
		cr_expect_eq(wanted_wait(&ahead[i]), 0);
	}
	stop();
}

Test(ranges, transfers_at_once_are_at_most_max_connections)
{
	start(4);
	memory_store_hold(fixture.store);
	struct wanted wanted[20];
	for (size_t i = 0; i < 20; i++) {
		want(&wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	cr_expect_eq(counters_get(&fixture.counters.transfers), 4);
	memory_store_release(fixture.store);
	for (size_t i = 0; i < 20; i++) {
		cr_expect_eq(wanted_wait(&wanted[i]), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 20);
	stop();
}

Test(ranges, a_cancel_before_the_start_costs_no_request)
{
	start(1);
	struct wanted blocker;
	struct wanted wanted;
	occupy(&blocker);
	want(&wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	fetch_range_cancel(fixture.fetch, &wanted.range);
	cr_expect_eq(wanted_wait(&wanted), -ECANCELED);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&blocker), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	stop();
}

Test(ranges, a_cancel_under_way_lets_the_bytes_come)
{
	start(1);
	struct wanted wanted;
	memory_store_hold(fixture.store);
	want(&wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted.range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted), 0);
	stop();
}

Test(ranges, what_was_canceled_is_not_tried_again)
{
	start(1);
	struct wanted wanted[2];
	memory_store_fail(fixture.store, "get", 0, 2, -EIO, STORE_RETRY_NOW, 0);
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
	}
	struct fetch_range *ranges[] = {&wanted[0].range, &wanted[1].range};
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted[0].range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted[0]), -ECANCELED);
	cr_expect_eq(wanted_wait(&wanted[1]), 0);
	expect_record(0, 0, 2 * BLOCK);
	expect_record(1, BLOCK, BLOCK);
	stop();
}

Test(ranges, what_was_canceled_does_not_wait_for_a_verdict)
{
	start(1);
	struct wanted wanted[2];
	memory_store_fail(fixture.store, "get", 0, 1, -EACCES, STORE_FINAL, 0);
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
	}
	struct fetch_range *ranges[] = {&wanted[0].range, &wanted[1].range};
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted[1].range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted[0]), -EACCES);
	cr_expect_eq(wanted_wait(&wanted[1]), -ECANCELED);
	stop();
}

Test(ranges, a_promotion_takes_a_cancel_back)
{
	start(1);
	struct wanted wanted;
	memory_store_fail(fixture.store, "get", 0, 1, -EIO, STORE_RETRY_NOW, 0);
	memory_store_hold(fixture.store);
	want(&wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_cancel(fixture.fetch, &wanted.range);
	fetch_range_promote(fixture.fetch, &wanted.range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait(&wanted), 0);
	stop();
}

Test(ranges, what_waits_for_its_retry_can_be_canceled)
{
	start(1);
	struct wanted wanted[2];
	struct fetch_range *ranges[2];
	memory_store_fail(
			fixture.store, "get", 0, 1, -EIO, STORE_THROTTLED, 100);
	for (size_t i = 0; i < 2; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	fetch_ranges_submit(fixture.fetch, ranges, 2);
	while (counters_get(&fixture.counters.throttled) == 0) {
		sleep_ms(1);
	}
	fetch_range_cancel(fixture.fetch, &wanted[0].range);
	cr_expect_eq(wanted_wait(&wanted[0]), -ECANCELED);
	cr_expect_eq(wanted_wait_moving(&wanted[1], 50), 0);
	stop();
}

Test(ranges, on_done_may_submit_the_next)
{
	start(1);
	struct wanted wanted[3];
	for (size_t i = 0; i < 3; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
		wanted[i].then = i < 2 ? &wanted[i + 1] : NULL;
	}
	wanted_submit(&wanted[0]);
	cr_expect_eq(wanted_wait(&wanted[2]), 0);
	cr_expect_eq(wanted_wait(&wanted[0]), 0);
	stop();
}

Test(ranges, a_stop_answers_what_waits_and_what_is_under_way)
{
	start(1);
	struct wanted wanted[3];
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		want(&wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_stop(fixture.fetch, -EIO);
	cr_expect_eq(wanted_wait(&wanted[0]), -EIO);
	cr_expect_eq(wanted_wait(&wanted[1]), -EIO);
	want(&wanted[2], 0, BLOCK, true);
	wanted_submit(&wanted[2]);
	cr_expect_eq(wanted_wait(&wanted[2]), -EIO);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 1);
	stop();
}

Test(ranges, a_destroy_ends_everything_first)
{
	start(1);
	struct wanted wanted[2];
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		want(&wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	fetch_destroy(fixture.fetch);
	fixture.fetch = NULL;
	cr_expect(wanted_is_done(&wanted[0]));
	cr_expect(wanted_is_done(&wanted[1]));
	cr_expect_eq(wanted[0].error, -ECANCELED);
	cr_expect_eq(wanted[1].error, -ECANCELED);
	stop();
}

Test(ranges, a_rate_holds_back_what_is_over_it)
{
	fixture_init(&fixture);
	fixture.settings.max_rate = MIB;
	fixture_start(&fixture);
	object = fixture_object(&fixture, "a", 64 * MIB, 7);
	struct wanted wanted;
	want(&wanted, 0, 2 * MIB, true);
	wanted_submit(&wanted);
	cr_assert(fixture_wait_asked(&fixture, 'g', 1));
	expect_record(0, 0, MIB / 4);
	/* A quarter second is there at first, and real time adds little. */
	sleep_ms(20);
	cr_expect_leq(memory_store_count(fixture.store, 'g'), 2);
	cr_expect_not(wanted_is_done(&wanted));
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 8);
	stop();
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
