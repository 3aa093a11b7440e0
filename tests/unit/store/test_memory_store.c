#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/object.h"
#include "store/testing.h"

/* What one call gave, and a wait for its end. */
struct answer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;
	struct store_outcome outcome;
	struct object *object;
	char names[4096];
	char token[1100];
	bool has_token;
	uint8_t data[4096];
	uint64_t data_start;
	size_t data_length;
	int refuse; /* What on_data returns. */
};

static struct store *store;
static struct answer answer;

static void finish(const struct store_outcome *outcome)
{
	LOCK_SCOPE(&answer.lock);
	answer.outcome = *outcome;
	answer.done = true;
	pthread_cond_signal(&answer.changed);
}

static void wait_done(void)
{
	LOCK_SCOPE(&answer.lock);
	while (!answer.done) {
		pthread_cond_wait(&answer.changed, &answer.lock);
	}
	answer.done = false;
}

static void on_stat(void *context, const struct store_outcome *outcome,
		struct object *object)
{
	object_unref(answer.object);
	answer.object = object == NULL ? NULL : object_ref(object);
	finish(outcome);
}

static void on_list(void *context, const struct store_outcome *outcome,
		const struct store_page *page)
{
	answer.names[0] = '\0';
	answer.has_token = page != NULL && page->next_token != NULL;
	if (answer.has_token) {
		snprintf(answer.token, sizeof(answer.token), "%s",
				page->next_token);
	}
	for (size_t i = 0; page != NULL && i < page->entry_count; i++) {
		const struct store_entry *entry = &page->entries[i];
		cr_expect_eq(entry->key_length, strlen(entry->key));
		strcat(answer.names, entry->key);
		strcat(answer.names, entry->is_prefix ? "| " : " ");
	}
	finish(outcome);
}

static int on_data(
		void *context, uint64_t offset, const void *data, size_t length)
{
	if (answer.data_length == 0) {
		answer.data_start = offset;
	}
	cr_assert_eq(offset, answer.data_start + answer.data_length);
	memcpy(answer.data + answer.data_length, data, length);
	answer.data_length += length;
	return answer.refuse;
}

static void on_get(void *context, const struct store_outcome *outcome)
{
	finish(outcome);
}

static const struct store_callbacks_stat stat_callbacks = {.on_done = on_stat};
static const struct store_callbacks_list list_callbacks = {.on_done = on_list};
static const struct store_callbacks_get get_callbacks = {
		.on_data = on_data,
		.on_done = on_get,
};

static void do_stat(const char *key)
{
	cr_assert_eq(store_stat(store, key, &stat_callbacks, NULL, NULL), 0);
	wait_done();
}

static void do_list(const char *prefix, const char *token, bool recursive)
{
	const struct store_list_args args = {
			.prefix = prefix,
			.token = token,
			.recursive = recursive,
	};
	cr_assert_eq(store_list(store, &args, &list_callbacks, NULL, NULL), 0);
	wait_done();
}

static void do_get(uint64_t offset, uint64_t length)
{
	answer.data_length = 0;
	cr_assert_eq(store_get(store, answer.object, offset, length,
				     &get_callbacks, NULL, NULL),
			0);
	wait_done();
}

static void setup(void)
{
	memset(&answer, 0, sizeof(answer));
	pthread_mutex_init(&answer.lock, NULL);
	pthread_cond_init(&answer.changed, NULL);
	cr_assert_eq(memory_store_create("memory://b", "", &store), 0);
}

static void teardown(void)
{
	store_destroy(store);
	object_unref(answer.object);
}

TestSuite(memory_store, .init = setup, .fini = teardown);

Test(memory_store, stat_gives_what_was_put)
{
	memory_store_put(store, "a", "hello", 5, "\"e\"");
	memory_store_set_mtime(store, "a", 99);
	memory_store_set_archived(store, "a");
	do_stat("a");
	cr_assert_eq(answer.outcome.error, 0);
	cr_expect_eq(answer.object->size, 5);
	cr_expect_eq(answer.object->mtime, 99);
	cr_expect(answer.object->archived);
	cr_expect_str_eq(answer.object->etag, "\"e\"");
	do_stat("b");
	cr_expect_eq(answer.outcome.error, -ENOENT);
	cr_expect(answer.outcome.answered);
	memory_store_remove(store, "a");
	do_stat("a");
	cr_expect_eq(answer.outcome.error, -ENOENT);
}

Test(memory_store, list_gives_keys_and_prefixes_in_byte_order)
{
	const char *keys[] = {"b/1", "b", "a", "b/2", "b-", "c/d/e", "c/", ""};
	for (size_t i = 0; keys[i][0] != '\0'; i++) {
		memory_store_put(store, keys[i], "", 0, NULL);
	}
	do_list("", NULL, false);
	cr_expect_str_eq(answer.names, "a b b- b/| c/| ");
	cr_expect(!answer.has_token);
	do_list("c/", NULL, false);
	cr_expect_str_eq(answer.names, "c/ c/d/| ");
	do_list("", NULL, true);
	cr_expect_str_eq(answer.names, "a b b- b/1 b/2 c/ c/d/e ");
	do_list("nothing/", NULL, false);
	cr_expect_eq(answer.outcome.error, 0);
	cr_expect_str_eq(answer.names, "");
}

Test(memory_store, pages_join_without_gap_or_repeat)
{
	const char *keys[] = {"a", "b/1", "b/2", "c", "d/1", "e"};
	for (size_t i = 0; i < 6; i++) {
		memory_store_put(store, keys[i], "", 0, NULL);
	}
	for (uint32_t page = 1; page < 7; page++) {
		char all[256] = "";
		memory_store_set_page(store, page);
		do_list("", NULL, false);
		strcat(all, answer.names);
		while (answer.has_token) {
			do_list("", answer.token, false);
			cr_expect_neq(answer.names[0], '\0');
			strcat(all, answer.names);
		}
		cr_expect_str_eq(all, "a b/| c d/| e ");
	}
}

Test(memory_store, get_gives_exactly_the_range)
{
	memory_store_put_pattern(store, "p", 1000, 3, NULL);
	memory_store_set_piece(store, 7);
	do_stat("p");
	do_get(100, 500);
	cr_assert_eq(answer.outcome.error, 0);
	cr_assert_eq(answer.data_length, 500);
	for (size_t i = 0; i < 500; i++) {
		cr_assert_eq(answer.data[i], memory_store_byte(3, 100 + i));
	}
}

Test(memory_store, get_of_a_changed_or_removed_version_is_stale)
{
	memory_store_put(store, "a", "one", 3, NULL);
	do_stat("a");
	memory_store_put(store, "a", "two", 3, NULL);
	do_get(0, 3);
	cr_expect_eq(answer.outcome.error, -ESTALE);
	cr_expect_eq(answer.data_length, 0);
	memory_store_remove(store, "a");
	do_get(0, 3);
	cr_expect_eq(answer.outcome.error, -ESTALE);
}

Test(memory_store, refused_data_ends_the_get)
{
	memory_store_put_pattern(store, "p", 100, 3, NULL);
	memory_store_set_piece(store, 10);
	do_stat("p");
	answer.refuse = -EIO;
	do_get(0, 100);
	cr_expect_eq(answer.outcome.error, -ECANCELED);
	cr_expect_eq(answer.data_length, 10);
}

Test(memory_store, fails_the_calls_it_is_told_to)
{
	memory_store_put_pattern(store, "p", 100, 3, NULL);
	do_stat("p");
	memory_store_fail(store, "get", 1, 2, -EIO, STORE_RETRY, 30);
	memory_store_fail(store, NULL, 4, 1, -EACCES, STORE_FINAL, 0);
	do_get(0, 100);
	cr_expect_eq(answer.outcome.error, 0);
	do_stat("p");
	cr_expect_eq(answer.outcome.error, 0);
	for (int i = 0; i < 2; i++) {
		do_get(0, 100);
		cr_expect_eq(answer.outcome.error, -EIO);
		cr_expect_eq(answer.outcome.advice, STORE_RETRY);
		cr_expect_eq(answer.data_length, 30);
	}
	do_list("", NULL, false);
	cr_expect_eq(answer.outcome.error, -EACCES);
	do_get(0, 100);
	cr_expect_eq(answer.outcome.error, 0);
}

Test(memory_store, held_calls_wait_and_canceled_ones_end)
{
	struct store_call *call = NULL;
	memory_store_put(store, "a", "", 0, NULL);
	memory_store_hold(store);
	store_stat(store, "a", &stat_callbacks, NULL, &call);
	cr_assert_eq(memory_store_wait_held(store, 1), 0);
	cr_expect(!answer.done);
	store_cancel(call);
	store_call_unref(call);
	wait_done();
	cr_expect_eq(answer.outcome.error, -ECANCELED);
	store_stat(store, "a", &stat_callbacks, NULL, NULL);
	memory_store_release(store);
	wait_done();
	cr_expect_eq(answer.outcome.error, 0);
}

Test(memory_store, records_what_was_asked)
{
	struct memory_store_record record;
	memory_store_put_pattern(store, "p", 100, 3, NULL);
	do_stat("p");
	do_get(5, 6);
	do_list("d/", NULL, true);
	cr_expect_eq(memory_store_count(store, 0), 3);
	cr_expect_eq(memory_store_count(store, 's'), 1);
	cr_assert_eq(memory_store_get_record(store, 1, &record), 0);
	cr_expect_eq(record.kind, 'g');
	cr_expect_str_eq(record.key, "p");
	cr_expect_eq(record.offset, 5);
	cr_expect_eq(record.length, 6);
	cr_assert_eq(memory_store_get_record(store, 2, &record), 0);
	cr_expect_str_eq(record.key, "d/");
	cr_expect(record.recursive);
	cr_expect_eq(memory_store_get_record(store, 3, &record), -ENOENT);
	memory_store_clear_records(store);
	cr_expect_eq(memory_store_count(store, 0), 0);
}
