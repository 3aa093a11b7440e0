#include <criterion/criterion.h>
#include <errno.h>

#include "base/clock.h"
#include "fixture.h"
#include "store/object.h"

#define BLOCK (64 * KIB)
#define FOREVER 1000000000U

static struct fixture fixture;

/* More failures than attempts, each seen by a probe. */
Test(outage, an_outage_of_the_endpoint_costs_no_attempts)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, 64, -EIO, STORE_UNREACHABLE, 0);
	fixture_want(&fixture, &wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	const uint64_t before_ms = clock_monotonic_ms();
	cr_expect_eq(wanted_wait_moving(&wanted, 100), 0);
	cr_expect_geq(clock_monotonic_ms() - before_ms, 60000);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 65);
	cr_expect_eq(counters_get(&fixture.counters.errors_network), 0);
	fixture_finish(&fixture);
}

Test(outage, an_outage_within_one_step_of_the_clock_is_survived)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted;
	fixture_fail_gets(&fixture, 0, 5, -EIO, STORE_UNREACHABLE, 0);
	fixture_want(&fixture, &wanted, 0, BLOCK, true);
	wanted_submit(&wanted);
	while (memory_store_count(fixture.store, 'g') < 4) {
		clock_advance_ms(10);
		sleep_ms(2);
	}
	clock_advance_ms(60000);
	cr_assert(fixture_wait_asked(&fixture, 'g', 5));
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	fixture_finish(&fixture);
}

Test(outage, one_answer_releases_all_who_wait)
{
	enum { COUNT = 40 };
	static struct wanted wanted[COUNT];
	fixture_start_tries(&fixture, 10, 300000);
	fixture_fail_gets(&fixture, 0, COUNT + 8, -EIO, STORE_UNREACHABLE, 0);
	for (size_t i = 0; i < COUNT; i++) {
		fixture_want(&fixture, &wanted[i], i * 2 * BLOCK, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	const uint64_t before_ms = clock_monotonic_ms();
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(wanted_wait_moving(&wanted[i], 50), 0);
	}
	/* One a second would take as many seconds as there are readers. */
	cr_expect_lt(clock_monotonic_ms() - before_ms, COUNT * 1000);
	fixture_finish(&fixture);
}

Test(outage, an_outage_beyond_the_timeout_is_eio_for_all_who_wait)
{
	enum { COUNT = 80 };
	static struct wanted wanted[COUNT];
	fixture_start_tries(&fixture, 10, 30000);
	fixture_fail_gets(&fixture, 0, FOREVER, -EIO, STORE_UNREACHABLE, 0);
	for (size_t i = 0; i < COUNT; i++) {
		fixture_want(&fixture, &wanted[i], i * 2 * BLOCK, BLOCK, true);
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
	fixture_finish(&fixture);
}

Test(outage, prefetch_ends_silently_while_the_endpoint_is_down)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted demand;
	struct wanted ahead[3];
	fixture_fail_gets(&fixture, 0, 8, -EIO, STORE_UNREACHABLE, 0);
	fixture_want(&fixture, &demand, 0, BLOCK, true);
	wanted_submit(&demand);
	while (memory_store_count(fixture.store, 'g') < 5) {
		clock_advance_ms(50);
		sleep_ms(2);
	}
	for (size_t i = 0; i < 3; i++) {
		fixture_want(&fixture, &ahead[i], (i + 1) * MIB, BLOCK, false);
		wanted_submit(&ahead[i]);
	}
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(wanted_wait_moving(&ahead[i], 50), -EIO);
	}
	cr_expect_not(wanted_is_done(&demand));
	cr_expect_eq(wanted_wait_moving(&demand, 50), 0);
	cr_expect_eq(counters_get(&fixture.counters.errors_network), 0);
	fixture_finish(&fixture);
}

/* Only prefetch wants something: it may find out that the endpoint is back. */
Test(outage, prefetch_alone_finds_an_endpoint_that_is_back)
{
	fixture_start_tries(&fixture, 1, 1000);
	struct wanted demand;
	struct wanted ahead;
	fixture_fail_gets(&fixture, 0, 20, -EIO, STORE_UNREACHABLE, 0);
	fixture_want(&fixture, &demand, 0, BLOCK, true);
	wanted_submit(&demand);
	cr_expect_eq(wanted_wait_moving(&demand, 50), -EIO);
	int error = -EIO;
	for (int i = 0; i < 100 && error != 0; i++) {
		clock_advance_ms(1000);
		fixture_want(&fixture, &ahead, MIB, BLOCK, false);
		wanted_submit(&ahead);
		error = wanted_wait_moving(&ahead, 100);
	}
	cr_expect_eq(error, 0);
	fixture_finish(&fixture);
}

Test(outage, of_one_store_do_not_touch_another)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct store *other = NULL;
	cr_assert_eq(memory_store_create("mem://other", "", &other), 0);
	cr_assert_eq(memory_store_put_pattern(other, "b", MIB, 9, "\"b\""), 0);
	struct object *b = object_create(other, "b", "\"b\"", MIB, 0);
	struct wanted down;
	struct wanted fine;
	fixture_fail_gets(&fixture, 0, 10, -EIO, STORE_UNREACHABLE, 0);
	fixture_want(&fixture, &down, 0, BLOCK, true);
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
	fixture_finish(&fixture);
}

Test(outage, a_stop_answers_what_waits_for_an_endpoint_that_is_down)
{
	fixture_start_tries(&fixture, 10, 300000);
	struct wanted wanted[2];
	fixture_fail_gets(&fixture, 0, FOREVER, -EIO, STORE_UNREACHABLE, 0);
	for (size_t i = 0; i < 2; i++) {
		fixture_want(&fixture, &wanted[i], i * MIB, BLOCK, true);
		wanted_submit(&wanted[i]);
	}
	while (memory_store_count(fixture.store, 'g') < 6) {
		clock_advance_ms(50);
		sleep_ms(2);
	}
	fetch_stop(fixture.fetch, -EIO);
	cr_expect_eq(wanted_wait(&wanted[0]), -EIO);
	cr_expect_eq(wanted_wait(&wanted[1]), -EIO);
	fixture_finish(&fixture);
}
