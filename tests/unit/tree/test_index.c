#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "cache/disk_tier.h"
#include "fixture.h"
#include "store/store.h"
#include "store/testing.h"

static struct fixture fixture;
static char dir[64];

static void setup(void)
{
	memset(&fixture, 0, sizeof(fixture));
	strcpy(dir, "/tmp/shardfs-tree-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	const struct disk_tier_settings settings = {
			.counters = &fixture.counters,
			.dir = dir,
			.limit_bytes = 64 << 20,
			.trust_network_fs = true,
	};
	char message[256] = "";
	cr_assert_eq(disk_tier_open(&settings, &fixture.disk, message,
				     sizeof(message)),
			0, "%s", message);
	fixture_start(&fixture, "", FIXTURE_TTL_MS);
}

static void teardown(void)
{
	fixture_stop(&fixture);
	disk_tier_close(fixture.disk);
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(index, .init = setup, .fini = teardown);

static void remount(uint64_t ttl_ms)
{
	fixture_asked(&fixture);
	cr_assert_eq(disk_tier_flush(fixture.disk), 0);
	fixture_restart(&fixture, ttl_ms);
}

static void make_tree(void)
{
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "d/x");
	fixture_put(&fixture, "d/e/y");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	struct tree_attr attr;
	cr_assert_eq(fixture_walk(&fixture, "d", &attr), 0);
	fixture_ls(&fixture, attr.inode);
	cr_assert_eq(fixture_walk(&fixture, "d/e", &attr), 0);
	fixture_ls(&fixture, attr.inode);
}

Test(index, a_remount_forever_needs_no_request)
{
	bool is_file = true;
	make_tree();
	remount(DURATION_FOREVER);
	clock_advance_ms(1000ULL * 86400 * 30);
	cr_expect_eq(tree_probe(fixture.tree, 1000, &is_file), 0);
	cr_expect_eq(fixture_walk(&fixture, "d/e/y", NULL), 0);
	cr_expect_eq(fixture_walk(&fixture, "d/none", NULL), -ENOENT);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a d/");
	cr_expect_str_eq(fixture_asked(&fixture), "");
}

Test(index, a_listing_counts_from_when_it_was_taken)
{
	struct tree_attr attr;
	make_tree();
	clock_advance_ms(FIXTURE_TTL_MS / 2);
	remount(FIXTURE_TTL_MS);
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_leq(attr.valid_ms, FIXTURE_TTL_MS / 2);
	cr_expect_gt(attr.valid_ms, FIXTURE_TTL_MS / 2 - 10000);
	cr_expect_str_eq(fixture_asked(&fixture), "");
	clock_advance_ms(FIXTURE_TTL_MS / 2 + 1);
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	remount(FIXTURE_TTL_MS);
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_str_eq(fixture_asked(&fixture), "s:a l:a/");
}

Test(index, an_expired_listing_with_a_silent_store_is_an_error)
{
	make_tree();
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	remount(FIXTURE_TTL_MS);
	memory_store_fail(fixture.store, NULL, 0, 100, -EIO, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), -EIO);
	cr_expect_eq(fixture_walk(&fixture, "none", NULL), -EIO);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EIO");
}

Test(index, damage_is_asked_again)
{
	make_tree();
	cr_assert_eq(disk_listing_put(fixture.disk, "memory://b", "", "junk", 4,
				     clock_wall_ms()),
			0);
	remount(DURATION_FOREVER);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a d/");
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
}

Test(index, a_listing_from_the_future_is_not_used)
{
	void *blob = NULL;
	size_t length = 0;
	uint64_t taken_ms = 0;
	make_tree();
	cr_assert_eq(disk_tier_flush(fixture.disk), 0);
	cr_assert_eq(disk_listing_get(fixture.disk, "memory://b", "", &blob,
				     &length, &taken_ms),
			0);
	cr_assert_eq(disk_listing_put(fixture.disk, "memory://b", "", blob,
				     length, taken_ms + 3600000),
			0);
	free(blob);
	remount(FIXTURE_TTL_MS);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a d/");
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
}

Test(index, refresh_removes_what_no_directory_in_memory_knows)
{
	make_tree();
	remount(DURATION_FOREVER);
	fixture_put(&fixture, "d/e/new");
	cr_assert_eq(tree_refresh(fixture.tree, "d"), 0);
	cr_expect_eq(fixture_walk(&fixture, "d/e/new", NULL), 0);
	fixture_asked(&fixture);
	fixture_put(&fixture, "d/e/newer");
	cr_assert_eq(tree_refresh(fixture.tree, ""), 0);
	remount(DURATION_FOREVER);
	cr_expect_eq(fixture_walk(&fixture, "d/e/newer", NULL), 0);
}

Test(index, a_changed_object_is_not_looked_up_there)
{
	uint64_t parent = 0;
	char *name = NULL;
	struct tree_attr attr;
	make_tree();
	remount(DURATION_FOREVER);
	cr_assert_eq(fixture_walk(&fixture, "d/x", &attr), 0);
	const uint64_t old = attr.inode;
	memory_store_put_pattern(fixture.store, "d/x", 20, 2, NULL);
	cr_assert_eq(tree_mark_changed(fixture.tree, old, &parent, &name), 0);
	free(name);
	cr_assert_eq(fixture_walk(&fixture, "d/x", &attr), 0);
	cr_expect_eq(attr.size, 20);
	cr_expect_str_eq(fixture_asked(&fixture), "l:d/");
	remount(DURATION_FOREVER);
	cr_assert_eq(fixture_walk(&fixture, "d/x", &attr), 0);
	cr_expect_eq(attr.size, 20);
	cr_expect_str_eq(fixture_asked(&fixture), "");
}

Test(index, nothing_is_kept_with_a_ttl_of_zero)
{
	fixture_restart(&fixture, 0);
	make_tree();
	remount(DURATION_FOREVER);
	fixture_ls(&fixture, TREE_ROOT_INODE);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
}

/* A new cache is made once the source has answered: what it answered is kept.
 */
Test(index, a_disk_that_comes_later_gets_what_the_probe_learned)
{
	struct disk_tier *disk = fixture.disk;
	bool is_file = true;

	fixture_put(&fixture, "a");
	fixture.disk = NULL;
	fixture_restart(&fixture, FIXTURE_TTL_MS);
	cr_expect_eq(tree_probe(fixture.tree, 1000, &is_file), 0);
	clock_advance_ms(FIXTURE_TTL_MS / 2);
	fixture.disk = disk;
	tree_use_disk(fixture.tree, disk);
	remount(FIXTURE_TTL_MS);
	fixture_asked(&fixture);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a");
	cr_expect_str_eq(fixture_asked(&fixture), "");
	/* It is as old as it was, not new again. */
	clock_advance_ms(FIXTURE_TTL_MS / 2 + 1);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a");
	cr_expect_str_neq(fixture_asked(&fixture), "");
}
