#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "fixture.h"
#include "store/object.h"

#define BLOCK (64 * KIB)
#define FOREVER 1000000000U

static struct fixture fixture;
static struct object *object;

static void start(unsigned retries, uint64_t timeout_ms)
{
	fixture_init(&fixture);
	fixture.settings.retries = retries;
	fixture.settings.timeout_ms = timeout_ms;
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

static void fail(unsigned first, unsigned count, int error,
		enum store_advice advice, uint64_t after_bytes)
{
	memory_store_fail(fixture.store, "get", first, count, error, advice,
			after_bytes);
}

Test(faults, a_retry_asks_for_what_is_left)
{
	start(10, 300000);
	struct wanted wanted;
	fail(0, 1, -EIO, STORE_RETRY, 100000);
	want(&wanted, BLOCK, 4 * BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait_moving(&wanted, 10), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 2);
	const struct memory_store_record again = fixture_record(&fixture, 1);
	cr_expect_eq(again.offset, BLOCK + 100000);
	cr_expect_eq(again.length, 4 * BLOCK - 100000);
	cr_expect_eq(counters_get(&fixture.counters.retries), 1);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 0);
	stop();
}

Test(faults, a_retry_of_joined_ranges_leaves_out_the_complete_ones)
{
	start(10, 300000);
	struct wanted wanted[3];
	struct fetch_range *ranges[3];
	for (size_t i = 0; i < 3; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	fail(0, 1, -EIO, STORE_RETRY, BLOCK + 5);
	fetch_ranges_submit(fixture.fetch, ranges, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(wanted_wait_moving(&wanted[i], 10), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 2);
	cr_expect_eq(fixture_record(&fixture, 1).offset, BLOCK + 5);
	cr_expect_eq(fixture_record(&fixture, 1).length, 2 * BLOCK - 5);
	stop();
}

Test(faults, a_server_that_always_resets_after_100_kb_is_read_to_the_end)
{
	start(3, 300000);
	struct wanted wanted[128];
	struct fetch_range *ranges[128];
	for (size_t i = 0; i < 128; i++) {
		want(&wanted[i], i * BLOCK, BLOCK, true);
		ranges[i] = &wanted[i].range;
	}
	fail(0, FOREVER, -EIO, STORE_RETRY, 100000);
	fetch_ranges_submit(fixture.fetch, ranges, 128);
	for (size_t i = 0; i < 127; i++) {
		cr_assert_eq(wanted_wait_moving(&wanted[i], 20), 0);
	}
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 0);
	stop();
}

Test(faults, what_keeps_failing_is_given_up_after_retries)
{
	start(5, 300000);
	struct wanted wanted;
	fail(0, FOREVER, -EIO, STORE_RETRY, 0);
	want(&wanted, 0, BLOCK, true);
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
	stop();
}

Test(faults, prefetch_gives_up_after_two_and_says_nothing)
{
	start(10, 300000);
	struct wanted wanted;
	fail(0, FOREVER, -EIO, STORE_RETRY, 0);
	want(&wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), -EIO);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 2);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 0);
	char words[64] = "?";
	fetch_last_failure(fixture.fetch, words, sizeof(words));
	cr_expect_str_empty(words);
	stop();
}

Test(faults, prefetch_promoted_under_way_is_tried_like_demand)
{
	start(10, 300000);
	struct wanted wanted;
	fail(0, 4, -EIO, STORE_RETRY, 0);
	memory_store_hold(fixture.store);
	want(&wanted, 0, BLOCK, false);
	wanted_submit(&wanted);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_range_promote(fixture.fetch, &wanted.range);
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 5);
	stop();
}

Test(faults, final_errors_are_not_tried_again)
{
	static const struct {
		int error, seen;
	} rows[] = {{-EACCES, -EACCES}, {-ESTALE, -ESTALE}, {-ENOENT, -ESTALE},
			{-EDQUOT, -EDQUOT}, {-EIO, -EIO}};
	start(10, 300000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wanted wanted;
		fail(0, 1, rows[i].error, STORE_FINAL, 0);
		want(&wanted, 0, BLOCK, true);
		wanted_submit(&wanted);
		cr_expect_eq(wanted_wait(&wanted), rows[i].seen);
		cr_expect_eq(memory_store_count(fixture.store, 'g'), i + 1);
	}
	cr_expect_eq(counters_get(&fixture.counters.errors_denied), 1);
	cr_expect_eq(counters_get(&fixture.counters.errors_changed), 2);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 2);
	stop();
}

Test(faults, a_changed_object_is_stale)
{
	start(10, 300000);
	struct wanted wanted;
	cr_assert_eq(memory_store_put_pattern(
				     fixture.store, "a", 64 * MIB, 8, "\"v2\""),
			0);
	want(&wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), -ESTALE);
	stop();
}

Test(faults, a_repair_is_followed_by_one_more_attempt)
{
	start(10, 300000);
	struct wanted wanted;
	fail(0, 1, -EACCES, STORE_REPAIRED, 0);
	want(&wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	fail(0, 2, -EACCES, STORE_REPAIRED, 0);
	want(&wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), -EACCES);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	stop();
}

Test(faults, a_dead_connection_is_tried_again_at_once)
{
	start(1, 300000);
	struct wanted wanted;
	fail(0, 3, -EIO, STORE_RETRY_NOW, 0);
	want(&wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 4);
	stop();
}

Test(faults, a_storm_is_answered_within_the_budget)
{
	enum { COUNT = 400 };
	static struct wanted wanted[COUNT];
	start(1000, 3000000);
	fail(0, FOREVER, -EIO, STORE_THROTTLED, 0);
	for (size_t i = 0; i < COUNT; i++) {
		want(&wanted[i], i * 2 * BLOCK, BLOCK, true);
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
	stop();
}

Test(faults, readers_come_through_a_storm_that_ends)
{
	enum { COUNT = 200 };
	static struct wanted wanted[COUNT];
	start(10, 300000);
	fail(0, 300, -EIO, STORE_THROTTLED, 0);
	for (size_t i = 0; i < COUNT; i++) {
		want(&wanted[i], i * 2 * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(wanted_wait_moving(&wanted[i], 50), 0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'g'), COUNT + 300);
	stop();
}

/* More failures than attempts, each seen by a probe. */
Test(faults, an_outage_of_the_endpoint_costs_no_attempts)
{
	start(10, 300000);
	struct wanted wanted;
	fail(0, 64, -EIO, STORE_UNREACHABLE, 0);
	want(&wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	const uint64_t before_ms = clock_monotonic_ms();
	cr_expect_eq(wanted_wait_moving(&wanted, 100), 0);
	cr_expect_geq(clock_monotonic_ms() - before_ms, 60000);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 65);
	cr_expect_eq(counters_get(&fixture.counters.errors_network), 0);
	stop();
}

Test(faults, an_outage_within_one_step_of_the_clock_is_survived)
{
	start(10, 300000);
	struct wanted wanted;
	fail(0, 5, -EIO, STORE_UNREACHABLE, 0);
	want(&wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	while (memory_store_count(fixture.store, 'g') < 4) {
		clock_advance_ms(10);
		sleep_ms(2);
	}
	clock_advance_ms(60000);
	cr_assert(fixture_wait_asked(&fixture, 'g', 5));
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	stop();
}

Test(faults, one_answer_releases_all_who_wait)
{
	enum { COUNT = 40 };
	static struct wanted wanted[COUNT];
	start(10, 300000);
	fail(0, COUNT + 8, -EIO, STORE_UNREACHABLE, 0);
	for (size_t i = 0; i < COUNT; i++) {
		want(&wanted[i], i * 2 * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	const uint64_t before_ms = clock_monotonic_ms();
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(wanted_wait_moving(&wanted[i], 50), 0);
	}
	/* One a second would take as long as there are readers. */
	cr_expect_lt(clock_monotonic_ms() - before_ms, 25000);
	stop();
}

Test(faults, an_outage_beyond_the_timeout_is_eio_for_all_who_wait)
{
	enum { COUNT = 80 };
	static struct wanted wanted[COUNT];
	start(10, 30000);
	fail(0, FOREVER, -EIO, STORE_UNREACHABLE, 0);
	for (size_t i = 0; i < COUNT; i++) {
		want(&wanted[i], i * 2 * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	const uint64_t before_ms = clock_monotonic_ms();
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(wanted_wait_moving(&wanted[i], 100), -EIO);
	}
	cr_expect_geq(clock_monotonic_ms() - before_ms, 30000);
	cr_expect_lt(clock_monotonic_ms() - before_ms, 45000);
	cr_expect_eq(counters_get(&fixture.counters.errors_network), COUNT);
	cr_expect_lt(memory_store_count(fixture.store, 'g'), COUNT + 60);
	char words[64];
	fetch_last_failure(fixture.fetch, words, sizeof(words));
	cr_expect_str_eq(words, "ordered fault");
	stop();
}

Test(faults, prefetch_ends_silently_while_the_endpoint_is_down)
{
	start(10, 300000);
	struct wanted demand;
	struct wanted ahead[3];
	fail(0, 8, -EIO, STORE_UNREACHABLE, 0);
	want(&demand, 0, BLOCK, true);
	wanted_submit(&demand);
	while (memory_store_count(fixture.store, 'g') < 5) {
		clock_advance_ms(50);
		sleep_ms(2);
	}
	for (size_t i = 0; i < 3; i++) {
		want(&ahead[i], (i + 1) * MIB, BLOCK, false);
		wanted_submit(&ahead[i]);
	}
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(wanted_wait_moving(&ahead[i], 50), -EIO);
	}
	cr_expect_not(wanted_is_done(&demand));
	cr_expect_eq(wanted_wait_moving(&demand, 50), 0);
	cr_expect_eq(counters_get(&fixture.counters.errors_network), 0);
	stop();
}

/* Only prefetch wants something: it may find out that the endpoint is back. */
Test(faults, prefetch_alone_finds_an_endpoint_that_is_back)
{
	start(1, 1000);
	struct wanted demand;
	struct wanted ahead;
	fail(0, 20, -EIO, STORE_UNREACHABLE, 0);
	want(&demand, 0, BLOCK, true);
	wanted_submit(&demand);
	cr_expect_eq(wanted_wait_moving(&demand, 50), -EIO);
	int error = -EIO;
	for (int i = 0; i < 100 && error != 0; i++) {
		clock_advance_ms(1000);
		want(&ahead, MIB, BLOCK, false);
		wanted_submit(&ahead);
		error = wanted_wait_moving(&ahead, 100);
	}
	cr_expect_eq(error, 0);
	stop();
}

Test(faults, of_one_store_do_not_touch_another)
{
	start(10, 300000);
	struct store *other = NULL;
	cr_assert_eq(memory_store_create("mem://other", "", &other), 0);
	cr_assert_eq(memory_store_put_pattern(other, "b", MIB, 9, "\"b\""), 0);
	struct object *b = object_create(other, "b", "\"b\"", MIB, 0);
	struct wanted down;
	struct wanted fine;
	fail(0, 10, -EIO, STORE_UNREACHABLE, 0);
	want(&down, 0, BLOCK, true);
	wanted_submit(&down);
	while (memory_store_count(fixture.store, 'g') < 5) {
		clock_advance_ms(50);
		sleep_ms(2);
	}
	wanted_init(&fine, &fixture, b, 9, 0, BLOCK, false);
	wanted_submit(&fine);
	cr_expect_eq(wanted_wait(&fine), 0);
	cr_expect_not(wanted_is_done(&down));
	cr_expect_eq(wanted_wait_moving(&down, 50), 0);
	fetch_destroy(fixture.fetch);
	fixture.fetch = NULL;
	object_unref(b);
	store_destroy(other);
	stop();
}

Test(faults, a_stop_answers_what_waits_for_an_endpoint_that_is_down)
{
	start(10, 300000);
	struct wanted wanted[2];
	fail(0, FOREVER, -EIO, STORE_UNREACHABLE, 0);
	for (size_t i = 0; i < 2; i++) {
		want(&wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	while (memory_store_count(fixture.store, 'g') < 6) {
		clock_advance_ms(50);
		sleep_ms(2);
	}
	fetch_stop(fixture.fetch, -EIO);
	cr_expect_eq(wanted_wait(&wanted[0]), -EIO);
	cr_expect_eq(wanted_wait(&wanted[1]), -EIO);
	stop();
}
