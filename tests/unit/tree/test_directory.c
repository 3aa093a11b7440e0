#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>

#include "base/clock.h"
#include "fixture.h"
#include "store/testing.h"

static struct fixture fixture;

static void setup(void)
{
	fixture_start(&fixture, "", FIXTURE_TTL_MS);
}

static void teardown(void)
{
	fixture_stop(&fixture);
}

TestSuite(directory, .init = setup, .fini = teardown);

Test(directory, d_ino_is_what_a_lookup_gives)
{
	struct tree_dir *dir = NULL;
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	fixture_put(&fixture, "c/x");
	const uint64_t a = fixture_inode(
			&fixture, "a"); /* A probe before the listing. */
	cr_assert_eq(fixture_opendir(&fixture, TREE_ROOT_INODE, &dir), 0);
	cr_expect_eq(tree_dir_parent_inode(dir), TREE_ROOT_INODE);
	cr_assert_eq(tree_dir_count(dir), 3);
	uint64_t seen[3];
	for (size_t i = 0; i < 3; i++) {
		const char *name = NULL;
		struct tree_attr attr;
		cr_assert_eq(tree_dir_entry(dir, i, &name, &attr), 0);
		cr_expect_eq(attr.inode, fixture_inode(&fixture, name));
		seen[i] = attr.inode;
	}
	cr_expect_eq(seen[0], a);
	cr_expect(seen[0] != seen[1] && seen[1] != seen[2] &&
			seen[0] != seen[2]);
	tree_dir_close(dir);
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	fixture_put(&fixture, "aa");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a aa b c/");
	cr_expect_eq(fixture_inode(&fixture, "b"), seen[1]);
	cr_expect_eq(fixture_inode(&fixture, "c"), seen[2]);
}

Test(directory, an_open_directory_is_a_snapshot)
{
	struct tree_dir *dir = NULL;
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	cr_assert_eq(fixture_opendir(&fixture, TREE_ROOT_INODE, &dir), 0);
	memory_store_remove(fixture.store, "a");
	fixture_put(&fixture, "0");
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "0 b");
	const char *name = NULL;
	struct tree_attr attr;
	cr_assert_eq(tree_dir_count(dir), 2);
	cr_assert_eq(tree_dir_entry(dir, 0, &name, &attr), 0);
	cr_expect_str_eq(name, "a");
	cr_expect_eq(attr.valid_ms, 0);
	cr_expect_eq(tree_dir_entry(dir, 2, &name, &attr), -ENOENT);
	/* What the name is now decides, not the snapshot. */
	cr_expect_eq(tree_dir_lookup(dir, 0, &attr), -ENOENT);
	cr_assert_eq(tree_dir_lookup(dir, 1, &attr), 0);
	cr_expect_eq(attr.inode, fixture_inode(&fixture, "b"));
	tree_dir_close(dir);
}

Test(directory, hidden_keys_are_counted_once)
{
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "/b");
	fixture_put(&fixture, "..");
	for (int i = 0; i < 3; i++) {
		cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a");
		clock_advance_ms(FIXTURE_TTL_MS + 1);
	}
	cr_expect_eq(counters_get(&fixture.counters.hidden_keys), 2);
}

static size_t allocated(void)
{
	const struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* 512 bytes per known entry: its place in the listing and its inode. */
Test(directory, a_hundred_thousand_known_entries_are_small)
{
	const size_t count = 100000;
	for (size_t i = 0; i < count; i++) {
		char key[64];
		snprintf(key, sizeof(key), "shard-%08zu-of-100000.tar", i);
		memory_store_put_pattern(fixture.store, key, i, 1,
				"\"0123456789abcdef0123456789abcdef-12\"");
	}
	cr_expect_eq(fixture_walk(&fixture, "none", NULL), -ENOENT);
	fixture_asked(&fixture);
	const size_t before = allocated();
	struct tree_dir *dir = NULL;
	cr_assert_eq(fixture_opendir(&fixture, TREE_ROOT_INODE, &dir), 0);
	cr_assert_eq(tree_dir_count(dir), count);
	cr_expect_eq(memory_store_count(fixture.store, 'l'), count / 1000);
	cr_expect_eq(memory_store_count(fixture.store, 's'), 0);
	struct tree_attr attr;
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(tree_dir_lookup(dir, i, &attr), 0);
	}
	tree_dir_close(dir);
	const size_t bytes = allocated() - before;
	cr_expect_lt(bytes / count, 512, "%zu bytes an entry", bytes / count);
}
