#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fixture.h"
#include "store/object.h"

static struct fixture fixture;

static void start(unsigned retries, uint64_t timeout_ms)
{
	fixture_init(&fixture);
	fixture.settings.retries = retries;
	fixture.settings.timeout_ms = timeout_ms;
	fixture_start(&fixture);
}

/* ---- Stat ---- */

struct asked {
	unsigned ends;
	int error;
	uint64_t size;
};

static void stat_done(void *context, int error, struct object *object)
{
	struct asked *asked = context;
	LOCK_SCOPE(&fixture.lock);
	asked->ends++;
	asked->error = error;
	asked->size = object == NULL ? 0 : object->size;
}

static unsigned ends_of(const unsigned *ends)
{
	LOCK_SCOPE(&fixture.lock);
	return *ends;
}

static bool wait_ends(const unsigned *ends, uint64_t step_ms)
{
	for (int i = 0; i < 5000; i++) {
		if (ends_of(ends) > 0) {
			return true;
		}
		if (step_ms > 0) {
			clock_advance_ms(step_ms);
		}
		sleep_ms(2);
	}
	return false;
}

static int ask(struct asked *asked, const char *key, uint64_t step_ms)
{
	*asked = (struct asked){0};
	cr_assert_eq(fetch_stat(fixture.fetch, fixture.store, key, stat_done,
				     asked),
			0);
	cr_assert(wait_ends(&asked->ends, step_ms));
	cr_expect_eq(asked->ends, 1);
	return asked->error;
}

Test(stat, gives_the_object)
{
	start(10, 300000);
	object_unref(fixture_object(&fixture, "a", 4711, 1));
	struct asked asked;
	cr_expect_eq(ask(&asked, "a", 0), 0);
	cr_expect_eq(asked.size, 4711);
	fixture_finish(&fixture);
}

Test(stat, absence_is_an_answer_and_is_asked_for_once)
{
	start(10, 300000);
	struct asked asked;
	cr_expect_eq(ask(&asked, "a", 0), -ENOENT);
	cr_expect_eq(memory_store_count(fixture.store, 's'), 1);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 0);
	fixture_finish(&fixture);
}

Test(stat, faults_are_tried_again_and_refusals_are_not)
{
	start(5, 300000);
	object_unref(fixture_object(&fixture, "a", 1, 1));
	struct asked asked;
	memory_store_fail(fixture.store, "stat", 0, 4, -EIO, STORE_RETRY, 0);
	cr_expect_eq(ask(&asked, "a", 20), 0);
	cr_expect_eq(memory_store_count(fixture.store, 's'), 5);
	memory_store_fail(fixture.store, "stat", 0, 5, -EIO, STORE_RETRY, 0);
	cr_expect_eq(ask(&asked, "a", 20), -EIO);
	cr_expect_eq(memory_store_count(fixture.store, 's'), 10);
	memory_store_fail(fixture.store, "stat", 0, 1, -EACCES, STORE_FINAL, 0);
	cr_expect_eq(ask(&asked, "a", 0), -EACCES);
	cr_expect_eq(memory_store_count(fixture.store, 's'), 11);
	cr_expect_eq(counters_get(&fixture.counters.errors_denied), 1);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 1);
	fixture_finish(&fixture);
}

Test(stat, the_same_question_at_the_same_time_is_one_request)
{
	start(10, 300000);
	object_unref(fixture_object(&fixture, "a", 4711, 1));
	memory_store_hold(fixture.store);
	struct asked asked[5] = {0};
	for (size_t i = 0; i < 5; i++) {
		cr_assert_eq(fetch_stat(fixture.fetch, fixture.store,
					     i == 3 ? "b" : "a", stat_done,
					     &asked[i]),
				0);
	}
	cr_expect_eq(memory_store_count(fixture.store, 's'), 2);
	memory_store_release(fixture.store);
	for (size_t i = 0; i < 5; i++) {
		cr_assert(wait_ends(&asked[i].ends, 0));
		cr_expect_eq(asked[i].error, i == 3 ? -ENOENT : 0);
		cr_expect_eq(asked[i].size, i == 3 ? 0 : 4711);
	}
	struct asked again;
	cr_expect_eq(ask(&again, "a", 0), 0);
	cr_expect_eq(memory_store_count(fixture.store, 's'), 3);
	fixture_finish(&fixture);
}

Test(stat, waits_for_an_endpoint_that_is_down_until_the_timeout)
{
	start(3, 20000);
	struct asked asked;
	memory_store_fail(fixture.store, "stat", 0, 12, -EIO, STORE_UNREACHABLE,
			0);
	cr_expect_eq(ask(&asked, "a", 50), -ENOENT);
	cr_expect_eq(memory_store_count(fixture.store, 's'), 13);
	memory_store_fail(fixture.store, "stat", 0, 100, -EIO,
			STORE_UNREACHABLE, 0);
	const uint64_t before_ms = clock_monotonic_ms();
	cr_expect_eq(ask(&asked, "a", 50), -EIO);
	cr_expect_geq(clock_monotonic_ms() - before_ms, 20000);
	fixture_finish(&fixture);
}

Test(stat, goes_before_ranges_that_wait)
{
	fixture_init(&fixture);
	fixture.settings.max_connections = 1;
	fixture_start(&fixture);
	struct object *object = fixture_object(&fixture, "a", MIB, 1);
	struct wanted wanted[2];
	memory_store_hold(fixture.store);
	for (size_t i = 0; i < 2; i++) {
		wanted_init(&wanted[i], &fixture, object, 1, i * 128 * KIB,
				64 * KIB, true);
		wanted_submit(&wanted[i]);
	}
	struct asked asked = {0};
	cr_assert_eq(fetch_stat(fixture.fetch, fixture.store, "a", stat_done,
				     &asked),
			0);
	memory_store_release(fixture.store);
	cr_assert_eq(wanted_wait(&wanted[1]), 0);
	cr_expect_eq(fixture_record(&fixture, 1).kind, 's');
	cr_expect_eq(fixture_record(&fixture, 2).kind, 'g');
	fixture_finish(&fixture);
	object_unref(object);
}

Test(stat, a_stop_answers_those_who_wait)
{
	start(10, 300000);
	memory_store_hold(fixture.store);
	struct asked asked[2] = {0};
	cr_assert_eq(fetch_stat(fixture.fetch, fixture.store, "a", stat_done,
				     &asked[0]),
			0);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_stop(fixture.fetch, -EIO);
	cr_assert_eq(fetch_stat(fixture.fetch, fixture.store, "a", stat_done,
				     &asked[1]),
			0);
	for (size_t i = 0; i < 2; i++) {
		cr_expect(wait_ends(&asked[i].ends, 0));
		cr_expect_eq(asked[i].error, -EIO);
	}
	fixture_finish(&fixture);
}

/* ---- List ---- */

struct listed {
	unsigned ends;
	int error;
	bool more;
	unsigned pages;
	unsigned entries;
	bool unordered;
	char last[64];
	unsigned refuse_page;
	int refuse_error;
};

static int list_page(void *context, const struct store_page *page)
{
	struct listed *listed = context;
	listed->pages++;
	for (size_t i = 0; i < page->entry_count; i++) {
		const char *key = page->entries[i].key;
		listed->unordered = listed->unordered ||
				    strcmp(listed->last, key) >= 0;
		snprintf(listed->last, sizeof(listed->last), "%s", key);
		listed->entries++;
	}
	return listed->pages == listed->refuse_page ? listed->refuse_error : 0;
}

static void list_done(void *context, int error, bool more)
{
	struct listed *listed = context;
	LOCK_SCOPE(&fixture.lock);
	listed->error = error;
	listed->more = more;
	listed->ends++;
}

static const struct fetch_list_callbacks list_callbacks = {
		.on_page = list_page,
		.on_done = list_done,
};

static int list(struct listed *listed, const struct fetch_list_args *args,
		uint64_t step_ms)
{
	cr_assert_eq(fetch_list(fixture.fetch, args, &list_callbacks, listed),
			0);
	cr_assert(wait_ends(&listed->ends, step_ms));
	cr_expect_eq(listed->ends, 1);
	cr_expect_not(listed->unordered);
	return listed->error;
}

/* 25 keys, ten a page. */
static struct fetch_list_args start_list(unsigned retries)
{
	start(retries, 300000);
	memory_store_set_page(fixture.store, 10);
	for (int i = 0; i < 25; i++) {
		char key[32];
		snprintf(key, sizeof(key), "d/%03d", i);
		cr_assert_eq(memory_store_put(fixture.store, key, "x", 1,
					     "\"e\""),
				0);
	}
	return (struct fetch_list_args){.store = fixture.store, .prefix = "d/"};
}

Test(list, gives_each_page_in_order_to_the_last)
{
	const struct fetch_list_args args = start_list(10);
	struct listed listed = {0};
	cr_expect_eq(list(&listed, &args, 0), 0);
	cr_expect_eq(listed.pages, 3);
	cr_expect_eq(listed.entries, 25);
	cr_expect_not(listed.more);
	cr_expect_eq(memory_store_count(fixture.store, 'l'), 3);
	fixture_finish(&fixture);
}

Test(list, an_empty_prefix_is_one_page_without_entries)
{
	struct fetch_list_args args = start_list(10);
	args.prefix = "nothing/";
	struct listed listed = {0};
	cr_expect_eq(list(&listed, &args, 0), 0);
	cr_expect_eq(listed.pages, 1);
	cr_expect_eq(listed.entries, 0);
	fixture_finish(&fixture);
}

Test(list, ends_after_max_pages_and_says_that_there_are_more)
{
	static const struct {
		unsigned max_pages, pages;
		bool more;
	} rows[] = {{1, 1, true}, {2, 2, true}, {3, 3, false}, {4, 3, false}};
	struct fetch_list_args args = start_list(10);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct listed listed = {0};
		args.max_pages = rows[i].max_pages;
		cr_expect_eq(list(&listed, &args, 0), 0);
		cr_expect_eq(listed.pages, rows[i].pages);
		cr_expect_eq(listed.more, rows[i].more);
	}
	cr_expect_eq(memory_store_count(fixture.store, 'l'), 1 + 2 + 3 + 3);
	fixture_finish(&fixture);
}

Test(list, ends_when_the_caller_refuses_a_page)
{
	const struct fetch_list_args args = start_list(10);
	struct listed listed = {.refuse_page = 2, .refuse_error = -ENOMEM};
	cr_expect_eq(list(&listed, &args, 0), -ENOMEM);
	cr_expect(listed.more);
	cr_expect_eq(memory_store_count(fixture.store, 'l'), 2);
	fixture_finish(&fixture);
}

Test(list, each_page_has_its_own_attempts)
{
	const struct fetch_list_args args = start_list(3);
	struct listed listed = {0};
	memory_store_fail(fixture.store, "list", 0, 2, -EIO, STORE_RETRY, 0);
	memory_store_fail(fixture.store, "list", 3, 2, -EIO, STORE_RETRY, 0);
	memory_store_fail(fixture.store, "list", 6, 2, -EIO, STORE_RETRY, 0);
	cr_expect_eq(list(&listed, &args, 20), 0);
	cr_expect_eq(listed.entries, 25);
	cr_expect_eq(memory_store_count(fixture.store, 'l'), 9);
	fixture_finish(&fixture);
}

Test(list, a_page_that_keeps_failing_fails_the_listing)
{
	const struct fetch_list_args args = start_list(3);
	struct listed listed = {0};
	memory_store_fail(fixture.store, "list", 1, 3, -EIO, STORE_RETRY, 0);
	cr_expect_eq(list(&listed, &args, 20), -EIO);
	cr_expect_eq(listed.pages, 1);
	cr_expect(listed.more);
	cr_expect_eq(counters_get(&fixture.counters.errors_store), 1);
	fixture_finish(&fixture);
}

Test(list, a_refusal_is_final)
{
	const struct fetch_list_args args = start_list(3);
	struct listed listed = {0};
	memory_store_fail(fixture.store, "list", 0, 1, -EACCES, STORE_FINAL, 0);
	cr_expect_eq(list(&listed, &args, 0), -EACCES);
	cr_expect_eq(memory_store_count(fixture.store, 'l'), 1);
	fixture_finish(&fixture);
}

Test(list, a_stop_ends_it)
{
	const struct fetch_list_args args = start_list(3);
	struct listed listed = {0};
	memory_store_hold(fixture.store);
	cr_assert_eq(fetch_list(fixture.fetch, &args, &list_callbacks, &listed),
			0);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	fetch_stop(fixture.fetch, -EIO);
	cr_assert(wait_ends(&listed.ends, 0));
	cr_expect_eq(listed.error, -EIO);
	cr_expect_eq(listed.pages, 0);
	fixture_finish(&fixture);
}
