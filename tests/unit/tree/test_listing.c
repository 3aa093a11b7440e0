#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../src/tree/listing_private.h"
#include "store/store.h"

static struct listing_builder *builder;

static void setup(void)
{
	builder = listing_builder_create("p/");
	cr_assert_not_null(builder);
}

static void teardown(void)
{
	listing_builder_destroy(builder);
}

TestSuite(listing, .init = setup, .fini = teardown);

static int add_bytes(const char *key, size_t length, bool is_prefix)
{
	const struct store_entry entry = {
			.key = key,
			.key_length = length,
			.is_prefix = is_prefix,
			.etag = is_prefix ? "" : "\"e\"",
			.size = 7,
			.mtime = 9,
	};
	const struct store_page page = {.entries = &entry, .entry_count = 1};
	return listing_builder_add_page(builder, &page);
}

static void add(const char *key)
{
	const size_t length = strlen(key);
	cr_assert_eq(add_bytes(key, length,
				     key[length - 1] == '/' && length > 2),
			0);
}

static struct listing *finish(void)
{
	struct listing *listing = NULL;
	cr_assert_eq(listing_builder_finish(builder, &listing), 0);
	return listing;
}

static void expect_names(const struct listing *listing, const char *expected)
{
	char text[4096] = "";
	for (size_t i = 0; i < listing->count; i++) {
		strcat(text, i == 0 ? "" : " ");
		strcat(text, listing_name(listing, i));
		strcat(text, listing->entries[i].flags & LISTING_DIR ? "/"
								     : "");
	}
	cr_expect_str_eq(text, expected);
}

Test(listing, is_sorted_by_the_bytes_of_names)
{
	/* As a store sends it: by keys, where a directory has its '/'. */
	add("p/a-");
	add("p/a/");
	add("p/a0");
	add("p/\xff");
	struct listing *listing = finish();
	expect_names(listing, "a/ a- a0 \xff");
	cr_expect_eq(listing_find(listing, "a"), 0);
	cr_expect_eq(listing_find(listing, "a0"), 2);
	cr_expect_eq(listing_find(listing, "\xff"), 3);
	cr_expect_eq(listing_find(listing, "a1"), LISTING_NONE);
	cr_expect_eq(listing_find(listing, ""), LISTING_NONE);
	listing_unref(listing);
}

Test(listing, keeps_what_stat_needs)
{
	const struct store_entry entry = {
			.key = "p/f",
			.key_length = 3,
			.etag = "\"tag\"",
			.size = 1ULL << 45,
			.mtime = -5,
			.archived = true,
			.unsettled = true,
	};
	const struct store_page page = {.entries = &entry, .entry_count = 1};
	cr_assert_eq(listing_builder_add_page(builder, &page), 0);
	struct listing *listing = finish();
	struct entry_info info;
	listing_info(listing, 0, &info);
	cr_expect(!info.is_dir);
	cr_expect(info.archived);
	cr_expect(info.unsettled);
	cr_expect_eq(info.size, 1ULL << 45);
	cr_expect_eq(info.mtime, -5);
	cr_expect_str_eq(info.etag, "\"tag\"");
	listing_unref(listing);
}

Test(listing, hides_and_counts_what_cannot_be_a_name)
{
	char long_key[300] = "p/";
	memset(long_key + 2, 'x', 256);
	add("p/ok");
	add("p/.");
	add("p/..");
	add("p/./");
	add("p/../");
	add("p//");
	add("p/...");
	add(long_key);
	cr_assert_eq(add_bytes("p/n\0l", 5, false), 0);
	long_key[2 + 255] = '\0';
	add(long_key);
	struct listing *listing = finish();
	cr_expect_eq(listing->count, 3);
	cr_expect_eq(listing->hidden, 7);
	cr_expect_neq(listing_find(listing, long_key + 2), LISTING_NONE);
	cr_expect_neq(listing_find(listing, "..."), LISTING_NONE);
	listing_unref(listing);
}

Test(listing, odd_bytes_are_names_like_others)
{
	add("p/\n");
	add("p/ ");
	add("p/a\x01\x7f");
	add("p/\xc3\xa9");
	add("p/e\xcc\x81");
	struct listing *listing = finish();
	cr_expect_eq(listing->count, 5);
	cr_expect_eq(listing->hidden, 0);
	cr_expect_neq(listing_find(listing, "\n"), LISTING_NONE);
	listing_unref(listing);
}

Test(listing, a_directory_is_shown_over_an_object)
{
	add("p/x");
	add("p/x-");
	add("p/x/");
	struct listing *listing = finish();
	expect_names(listing, "x/ x-");
	cr_expect_eq(listing->shadowed, 1);
	listing_unref(listing);
}

Test(listing, a_name_sent_twice_is_there_once)
{
	add("p/a");
	add("p/b/");
	add("p/a");
	add("p/b/");
	struct listing *listing = finish();
	expect_names(listing, "a b/");
	cr_expect_eq(listing->shadowed, 0);
	listing_unref(listing);
}

Test(listing, a_marker_is_no_entry)
{
	cr_expect(!listing_builder_any(builder));
	cr_assert_eq(add_bytes("p/", 2, false), 0);
	cr_expect(listing_builder_any(builder));
	struct listing *listing = finish();
	cr_expect_eq(listing->count, 0);
	cr_expect(listing->has_marker);
	listing_unref(listing);
}

Test(listing, a_key_outside_the_prefix_is_an_error)
{
	cr_expect_eq(add_bytes("q/a", 3, false), -EIO);
	cr_expect_eq(add_bytes("p", 1, false), -EIO);
}

Test(listing, versions_keep_their_inodes_and_others_get_new_ones)
{
	_Atomic uint64_t next = 100;
	uint64_t *dropped = NULL;
	size_t dropped_count = 0;
	add("p/b");
	add("p/c");
	add("p/d/");
	struct listing *old = finish();
	cr_assert_eq(listing_number(old, NULL, &next, &dropped, &dropped_count),
			0);
	cr_expect_eq(dropped_count, 0);
	cr_expect_eq(old->entries[2].inode, 102);
	listing_builder_destroy(builder);
	setup();
	add("p/a");
	add("p/b");
	const struct entry_info changed = {.size = 8, .etag = "\"f\""};
	listing_builder_add(builder, "c", 1, &changed);
	add("p/d/");
	struct listing *listing = finish();
	cr_assert_eq(listing_number(listing, old, &next, &dropped,
				     &dropped_count),
			0);
	cr_expect_eq(listing->entries[0].inode, 103);
	cr_expect_eq(listing->entries[1].inode, 100);
	cr_expect_eq(listing->entries[2].inode, 104);
	cr_expect_eq(listing->entries[3].inode, 102);
	cr_assert_eq(dropped_count, 1);
	cr_expect_eq(dropped[0], 101);
	free(dropped);
	listing_unref(old);
	listing_unref(listing);
}

Test(listing, same_version_means_all_that_names_it)
{
	const struct entry_info a = {.size = 5, .mtime = 10, .etag = "\"e\""};
	struct entry_info b = a;
	cr_expect(entry_info_same(&a, &b));
	b.etag = "e";
	b.mtime = 11; /* Rounded. */
	cr_expect(entry_info_same(&a, &b));
	b.mtime = 12;
	cr_expect(!entry_info_same(&a, &b));
	b = a;
	b.size = 6;
	cr_expect(!entry_info_same(&a, &b));
	b = a;
	b.etag = "\"f\"";
	cr_expect(!entry_info_same(&a, &b));
	b = a;
	b.unsettled = true;
	cr_expect(!entry_info_same(&a, &b));
	b = a;
	b.is_dir = true;
	cr_expect(!entry_info_same(&a, &b));
	const struct entry_info weak = {.mtime = 10, .etag = "W/\"e\""};
	b = weak;
	cr_expect(entry_info_same(&weak, &b));
	b.mtime = 11;
	cr_expect(!entry_info_same(&weak, &b));
}

Test(listing, comes_back_from_its_bytes)
{
	add("p/a");
	add("p/b/");
	cr_assert_eq(add_bytes("p/", 2, false), 0);
	add("p/..");
	struct listing *listing = finish();
	void *blob = NULL;
	size_t length = 0;
	cr_assert_eq(listing_serialise(listing, &blob, &length), 0);
	struct listing *back = NULL;
	cr_assert_eq(listing_parse(blob, length, &back), 0);
	expect_names(back, "a b/");
	struct entry_info a;
	struct entry_info b;
	listing_info(listing, 0, &a);
	listing_info(back, 0, &b);
	cr_expect(entry_info_same(&a, &b));
	cr_expect_eq(a.mtime, b.mtime);
	cr_expect(back->has_marker);
	cr_expect_eq(back->hidden, 1);
	free(blob);
	listing_unref(back);
	listing_unref(listing);
}

/* The sum keeps chance damage out; what has a right sum is checked too. */
Test(listing, hostile_bytes_are_refused)
{
	add("p/a");
	add("p/b/");
	struct listing *listing = finish();
	uint8_t *blob = NULL;
	size_t length = 0;
	cr_assert_eq(listing_serialise(listing, (void **)&blob, &length), 0);
	struct listing *back = NULL;
	for (size_t cut = 0; cut < length; cut++) {
		cr_expect_eq(listing_parse(blob, cut, &back), -EINVAL);
	}
	for (size_t i = 0; i < length; i++) {
		blob[i] ^= 0x41;
		cr_expect_eq(listing_parse(blob, length, &back), -EINVAL);
		blob[i] ^= 0x41;
	}
	free(blob);
	listing_unref(listing);
}

static double cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

Test(listing, a_hundred_thousand_entries_are_small_and_quick)
{
	const double start = cpu_seconds();
	for (int i = 0; i < 100000; i++) {
		char key[64];
		snprintf(key, sizeof(key), "p/shard-%08d.tar", i);
		const struct store_entry entry = {
				.key = key,
				.key_length = strlen(key),
				.etag = "\"0123456789abcdef0123456789abcdef\"",
				.size = (uint64_t)i,
		};
		const struct store_page page = {
				.entries = &entry,
				.entry_count = 1,
		};
		cr_assert_eq(listing_builder_add_page(builder, &page), 0);
	}
	struct listing *listing = finish();
	cr_expect_lt(cpu_seconds() - start, 0.8);
	cr_expect_eq(listing->count, 100000);
	const size_t bytes = listing->text_length +
			     listing->count * sizeof(struct listing_entry);
	cr_expect_lt(bytes / listing->count, 120);
	listing_unref(listing);
}
