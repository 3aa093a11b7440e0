#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/size.h"
#include "fixture.h"
#include "store/object.h"
#include "store/testing.h"

#define TTL_MS 60000

static struct fixture fixture;

static void setup(void)
{
	memset(&fixture, 0, sizeof(fixture));
	fixture_start(&fixture, "", TTL_MS);
}

static void teardown(void)
{
	fixture_stop(&fixture);
}

TestSuite(tree, .init = setup, .fini = teardown);

static uint64_t inode_of(const char *path)
{
	struct tree_attr attr;
	cr_assert_eq(fixture_walk(&fixture, path, &attr), 0, "%s", path);
	return attr.inode;
}

Test(tree, a_cold_path_costs_one_head_and_one_list)
{
	struct tree_attr attr;
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect(!attr.is_dir);
	cr_expect_eq(attr.size, 10);
	cr_expect_eq(attr.mtime, MEMORY_STORE_MTIME);
	cr_expect_geq(attr.inode, TREE_FIRST_INODE);
	cr_expect_leq(attr.valid_ms, TTL_MS);
	cr_expect_gt(attr.valid_ms, TTL_MS - 5000);
	cr_expect_str_eq(fixture_asked(&fixture), "s:a l:a/");
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_str_eq(fixture_asked(&fixture), "");
}

Test(tree, a_second_path_lists_the_directory)
{
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	fixture_put(&fixture, "c");
	const uint64_t a = inode_of("a");
	fixture_asked(&fixture);
	inode_of("b");
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	inode_of("c");
	cr_expect_eq(fixture_walk(&fixture, "d", NULL), -ENOENT);
	cr_expect_eq(inode_of("a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "");
}

Test(tree, a_probed_directory_is_listed_with_the_same_request)
{
	fixture_put(&fixture, "d/x");
	fixture_put(&fixture, "d/y");
	const uint64_t x = inode_of("d/x");
	cr_expect_eq(fixture_walk(&fixture, "d/z", NULL), -ENOENT);
	cr_expect_str_eq(fixture_ls(&fixture, inode_of("d")), "x y");
	cr_expect_str_eq(fixture_asked(&fixture), "s:d l:d/");
	cr_expect_neq(x, inode_of("d/y"));
}

Test(tree, a_deep_cold_path_costs_at_most_two_requests_a_component)
{
	memory_store_set_page(fixture.store, 1); /* No LIST is whole. */
	fixture_put(&fixture, "a/1");
	fixture_put(&fixture, "a/b/1");
	fixture_put(&fixture, "a/b/f");
	inode_of("a/b/f");
	cr_expect_str_eq(fixture_asked(&fixture),
			"s:a l:a/ s:a/b l:a/b/ s:a/b/f l:a/b/f/");
}

Test(tree, a_known_path_is_renewed_by_its_directory)
{
	fixture_put(&fixture, "a");
	const uint64_t a = inode_of("a");
	fixture_asked(&fixture);
	clock_advance_ms(TTL_MS + 1);
	cr_expect_eq(inode_of("a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	clock_advance_ms(TTL_MS + 1);
	cr_expect_eq(inode_of("a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
}

Test(tree, polling_does_not_extend_absence)
{
	struct tree_attr attr;
	cr_assert_eq(fixture_walk(&fixture, "new", &attr), -ENOENT);
	cr_expect_gt(attr.valid_ms, 0);
	fixture_put(&fixture, "new");
	for (int i = 0; i < 10; i++) {
		clock_advance_ms(TTL_MS / 12);
		cr_expect_eq(fixture_walk(&fixture, "new", &attr), -ENOENT);
		cr_expect_leq(attr.valid_ms, TTL_MS * (11 - i) / 12 + 1);
	}
	cr_expect_str_eq(fixture_asked(&fixture), "s:new l:new/");
	clock_advance_ms(TTL_MS / 6 + 1);
	cr_expect_eq(fixture_walk(&fixture, "new", &attr), 0);
}

Test(tree, a_listing_that_lacks_a_name_answers_only_for_its_time)
{
	fixture_put(&fixture, "a");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a");
	fixture_put(&fixture, "new");
	clock_advance_ms(TTL_MS - 1000);
	cr_expect_eq(fixture_walk(&fixture, "new", NULL), -ENOENT);
	clock_advance_ms(1001);
	cr_expect_eq(fixture_walk(&fixture, "new", NULL), 0);
}

Test(tree, misses_in_a_listed_directory_cost_nothing)
{
	fixture_put(&fixture, "a");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	fixture_asked(&fixture);
	for (int i = 0; i < 1000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "m%d", i);
		cr_expect_eq(fixture_walk(&fixture, name, NULL), -ENOENT);
	}
	cr_expect_str_eq(fixture_asked(&fixture), "");
	cr_expect_eq(counters_get(&fixture.counters.inodes), 1);
}

Test(tree, names_that_cannot_be_are_answered_without_a_request)
{
	char name[300];
	memset(name, 'x', sizeof(name));
	name[256] = '\0';
	cr_expect_eq(fixture_walk(&fixture, name, NULL), -ENAMETOOLONG);
	cr_expect_eq(fixture_lookup(&fixture, TREE_ROOT_INODE, "..", NULL),
			-ENOENT);
	cr_expect_eq(fixture_lookup(&fixture, TREE_ROOT_INODE, "a/b", NULL),
			-ENOENT);
	cr_expect_eq(fixture_lookup(&fixture, 999999, "a", NULL), -ESTALE);
	cr_expect_str_eq(fixture_asked(&fixture), "");
	name[255] = '\0';
	cr_expect_eq(fixture_walk(&fixture, name, NULL), -ENOENT);
}

Test(tree, a_file_has_nothing_below_it)
{
	fixture_put(&fixture, "f");
	cr_expect_eq(fixture_lookup(&fixture, inode_of("f"), "x", NULL),
			-ENOTDIR);
	struct tree_dir *dir = NULL;
	cr_expect_eq(fixture_opendir(&fixture, inode_of("f"), &dir), -ENOTDIR);
}

Test(tree, a_directory_hides_the_object_of_its_name)
{
	struct tree_attr attr;
	fixture_put(&fixture, "x");
	fixture_put(&fixture, "x/y");
	cr_assert_eq(fixture_walk(&fixture, "x", &attr), 0);
	cr_expect(attr.is_dir);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "x/");
	cr_expect_eq(inode_of("x"), attr.inode);
}

Test(tree, a_marker_alone_is_an_empty_directory)
{
	struct tree_attr attr;
	fixture_put(&fixture, "d/");
	cr_assert_eq(fixture_walk(&fixture, "d", &attr), 0);
	cr_expect(attr.is_dir);
	cr_expect_str_eq(fixture_ls(&fixture, attr.inode), "");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "d/");
}

Test(tree, a_prefix_is_the_root)
{
	fixture_stop(&fixture);
	memset(&fixture, 0, sizeof(fixture));
	fixture_start(&fixture, "p/q/", TTL_MS);
	fixture_put(&fixture, "p/q/f");
	fixture_put(&fixture, "p/other");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "f");
	struct object *object = NULL;
	const uint64_t f = inode_of("f");
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	cr_expect_str_eq(object->key, "p/q/f");
	char *path = tree_path(fixture.tree, f);
	cr_expect_str_eq(path, "f");
	free(path);
	object_unref(object);
	tree_close(fixture.tree, f);
}

Test(tree, d_ino_is_what_a_lookup_gives)
{
	struct tree_dir *dir = NULL;
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	fixture_put(&fixture, "c/x");
	const uint64_t a = inode_of("a"); /* A probe before the listing. */
	cr_assert_eq(fixture_opendir(&fixture, TREE_ROOT_INODE, &dir), 0);
	cr_expect_eq(tree_dir_parent_inode(dir), TREE_ROOT_INODE);
	cr_assert_eq(tree_dir_count(dir), 3);
	uint64_t seen[3];
	for (size_t i = 0; i < 3; i++) {
		const char *name = NULL;
		struct tree_attr attr;
		cr_assert_eq(tree_dir_entry(dir, i, &name, &attr), 0);
		cr_expect_eq(attr.inode, inode_of(name));
		seen[i] = attr.inode;
	}
	cr_expect_eq(seen[0], a);
	cr_expect(seen[0] != seen[1] && seen[1] != seen[2] &&
			seen[0] != seen[2]);
	tree_dir_close(dir);
	clock_advance_ms(TTL_MS + 1);
	fixture_put(&fixture, "aa");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a aa b c/");
	cr_expect_eq(inode_of("b"), seen[1]);
	cr_expect_eq(inode_of("c"), seen[2]);
}

Test(tree, an_open_directory_is_a_snapshot)
{
	struct tree_dir *dir = NULL;
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	cr_assert_eq(fixture_opendir(&fixture, TREE_ROOT_INODE, &dir), 0);
	memory_store_remove(fixture.store, "a");
	fixture_put(&fixture, "0");
	clock_advance_ms(TTL_MS + 1);
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
	cr_expect_eq(attr.inode, inode_of("b"));
	tree_dir_close(dir);
}

Test(tree, another_version_is_another_inode)
{
	struct tree_attr old;
	struct tree_attr new;
	fixture_put(&fixture, "f");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	cr_assert_eq(fixture_walk(&fixture, "f", &old), 0);
	memory_store_put_pattern(fixture.store, "f", 20, 2, NULL);
	clock_advance_ms(TTL_MS + 1);
	cr_assert_eq(fixture_walk(&fixture, "f", &new), 0);
	cr_expect_neq(new.inode, old.inode);
	cr_expect_eq(new.size, 20);
	struct tree_attr attr;
	cr_assert_eq(tree_getattr(fixture.tree, old.inode, &attr), 0);
	cr_expect_eq(attr.size, 10);
	/* The kernel looks the name up again by itself. */
	struct object *object = NULL;
	cr_expect_eq(tree_open(fixture.tree, old.inode, &object), -ESTALE);
	cr_assert_eq(tree_open(fixture.tree, new.inode, &object), 0);
	cr_expect_eq(object->size, 20);
	object_unref(object);
	tree_close(fixture.tree, new.inode);
}

Test(tree, a_removed_file_is_stale_to_open)
{
	struct object *object = NULL;
	fixture_put(&fixture, "f");
	fixture_put(&fixture, "g");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t f = inode_of("f");
	memory_store_remove(fixture.store, "f");
	clock_advance_ms(TTL_MS + 1);
	cr_expect_eq(fixture_walk(&fixture, "f", NULL), -ENOENT);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
}

Test(tree, open_gives_the_version_and_holds_the_inode)
{
	struct object *object = NULL;
	struct object *again = NULL;
	struct tree_attr attr;
	memory_store_put_pattern(fixture.store, "d/f", 10, 1, "\"v1\"");
	const uint64_t f = inode_of("d/f");
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	cr_assert_eq(tree_open(fixture.tree, f, &again), 0);
	cr_expect_eq(again, object);
	cr_expect_str_eq(object->key, "d/f");
	cr_expect_str_eq(object->etag, "\"v1\"");
	cr_expect(object->cacheable);
	tree_forget(fixture.tree, f, 1);
	cr_expect_eq(tree_getattr(fixture.tree, f, &attr), 0);
	tree_close(fixture.tree, f);
	tree_close(fixture.tree, f);
	cr_expect_eq(tree_getattr(fixture.tree, f, &attr), -ESTALE);
	object_unref(object);
	object_unref(again);
	cr_expect_eq(tree_open(fixture.tree, TREE_ROOT_INODE, &object),
			-EISDIR);
}

static void note_restore(struct tree_restore *restore)
{
	restore->on_done = NULL;
}

static int ask_restore(uint64_t inode)
{
	struct tree_restore restore = {.inode = inode, .on_done = note_restore};

	if (tree_restore_start(fixture.tree, &restore) == 0) {
		return restore.error;
	}
	while (__atomic_load_n(&restore.on_done, __ATOMIC_ACQUIRE) != NULL) {
		(void)usleep(1000);
	}
	return restore.error;
}

Test(tree, an_archived_version_opens_once_it_is_known_to_be_restored)
{
	struct object *object = NULL;

	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v1\"");
	memory_store_set_archived(fixture.store, "cold");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t cold = inode_of("cold");
	cr_expect(tree_is_archived(fixture.tree, cold));
	cr_expect_eq(ask_restore(cold), -EACCES);
	cr_expect_eq(tree_open(fixture.tree, cold, &object), -EACCES);
	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v1\"");
	memory_store_fail(fixture.store, "stat", 0, 1, -EIO, STORE_FINAL, 0);
	cr_expect_eq(ask_restore(cold), -EIO);
	cr_expect_eq(ask_restore(cold), 0);
	cr_expect_not(tree_is_archived(fixture.tree, cold));
	cr_assert_eq(tree_open(fixture.tree, cold, &object), 0);
	object_unref(object);
	tree_close(fixture.tree, cold);
	cr_expect_eq(ask_restore(12345), -ESTALE);
}

Test(tree, another_version_of_an_archived_object_is_stale)
{
	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v1\"");
	memory_store_set_archived(fixture.store, "cold");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t cold = inode_of("cold");
	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v2\"");
	cr_expect_eq(ask_restore(cold), -ESTALE);
	memory_store_remove(fixture.store, "cold");
	cr_expect_eq(ask_restore(cold), -ESTALE);
}

Test(tree, archived_and_unsettled_are_passed_on)
{
	struct object *object = NULL;
	fixture_put(&fixture, "cold");
	fixture_put(&fixture, "fresh");
	memory_store_set_archived(fixture.store, "cold");
	memory_store_set_unsettled(fixture.store, "fresh", true);
	cr_expect_eq(tree_open(fixture.tree, inode_of("cold"), &object),
			-EACCES);
	const uint64_t fresh = inode_of("fresh");
	cr_assert_eq(tree_open(fixture.tree, fresh, &object), 0);
	cr_expect(!object->cacheable);
	object_unref(object);
	tree_close(fixture.tree, fresh);
}

Test(tree, lookups_are_counted_and_forgotten)
{
	fixture_put(&fixture, "a/b/c");
	struct tree_attr c;
	cr_assert_eq(fixture_walk(&fixture, "a/b/c", &c), 0);
	cr_assert_eq(fixture_walk(&fixture, "a/b/c", &c), 0);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 4);
	const uint64_t b = inode_of("a/b");
	const uint64_t a = inode_of("a");
	/* In any order: a path goes through what is above it. */
	tree_forget(fixture.tree, a, 4);
	tree_forget(fixture.tree, b, 3);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 4);
	tree_forget(fixture.tree, c.inode, 1);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 4);
	tree_forget(fixture.tree, c.inode, 1);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 1);
	fixture_asked(&fixture);
	/* What was listed is still known, inodes too. */
	cr_expect_eq(inode_of("a/b"), b);
	cr_expect_eq(inode_of("a/b/c"), c.inode);
	cr_expect_str_eq(fixture_asked(&fixture), "");
	tree_forget(fixture.tree, 424242, 1);
	tree_forget(fixture.tree, TREE_ROOT_INODE, 1000);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 4);
}

Test(tree, a_changed_object_is_looked_up_again)
{
	uint64_t parent = 0;
	char *name = NULL;
	struct object *object = NULL;
	fixture_put(&fixture, "d/f");
	fixture_put(&fixture, "d/g");
	const uint64_t f = inode_of("d/f");
	fixture_asked(&fixture);
	memory_store_put_pattern(fixture.store, "d/f", 20, 2, NULL);
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	cr_expect_eq(parent, inode_of("d"));
	cr_expect_str_eq(name, "f");
	free(name);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
	struct tree_attr attr;
	cr_assert_eq(fixture_lookup(&fixture, parent, "f", &attr), 0);
	cr_expect_eq(attr.size, 20);
	cr_expect_neq(attr.inode, f);
	cr_expect_str_eq(fixture_asked(&fixture), "l:d/");
	/* Later readers of the old version cost nothing more. */
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	free(name);
	inode_of("d/f");
	cr_expect_str_eq(fixture_asked(&fixture), "");
	cr_expect_eq(tree_mark_changed(fixture.tree, 424242, &parent, &name),
			-ENOENT);
	cr_expect_eq(tree_mark_changed(fixture.tree, TREE_ROOT_INODE, &parent,
				     &name),
			-ENOENT);
}

Test(tree, a_version_that_is_listed_again_opens_again)
{
	uint64_t parent = 0;
	char *name = NULL;
	struct object *object = NULL;
	fixture_put(&fixture, "f");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t f = inode_of("f");
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	free(name);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
	cr_expect_eq(inode_of("f"), f);
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	object_unref(object);
	tree_close(fixture.tree, f);
}

Test(tree, a_silent_store_is_an_error_not_absence)
{
	fixture_put(&fixture, "a");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	clock_advance_ms(TTL_MS + 1);
	memory_store_fail(fixture.store, NULL, 0, 3, -EIO, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), -EIO);
	cr_expect_eq(fixture_walk(&fixture, "b", NULL), -EIO);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EIO");
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), 0);
}

Test(tree, a_listing_that_failed_in_the_middle_is_not_used)
{
	memory_store_set_page(fixture.store, 1);
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	fixture_put(&fixture, "c");
	memory_store_fail(fixture.store, "list", 2, 1, -EIO, STORE_FINAL, 0);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EIO");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a b c");
}

Test(tree, a_failed_probe_is_not_remembered)
{
	fixture_put(&fixture, "a");
	memory_store_fail(fixture.store, "stat", 0, 1, -EIO, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), -EIO);
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), 0);
	memory_store_fail(fixture.store, "list", 0, 1, -EIO, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "b", NULL), -EIO);
	cr_expect_eq(fixture_walk(&fixture, "b", NULL), -ENOENT);
}

Test(tree, without_list_permission_known_keys_open_by_head)
{
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	memory_store_fail(fixture.store, "list", 0, 1000, -EACCES, STORE_FINAL,
			0);
	struct tree_attr a;
	struct tree_attr attr;
	cr_assert_eq(fixture_walk(&fixture, "a", &a), 0);
	cr_assert_eq(fixture_walk(&fixture, "b", &attr), 0);
	cr_expect_eq(attr.size, 10);
	cr_expect_eq(fixture_walk(&fixture, "none", NULL), -EACCES);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EACCES");
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_eq(attr.inode, a.inode);
	clock_advance_ms(TTL_MS + 1);
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_eq(attr.inode, a.inode);
}

Test(tree, without_list_permission_a_version_that_is_back_opens)
{
	struct object *object = NULL;
	uint64_t parent = 0;
	char *name = NULL;

	fixture_put(&fixture, "f");
	memory_store_fail(fixture.store, "list", 0, 1000, -EACCES, STORE_FINAL,
			0);
	const uint64_t f = inode_of("f");
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	free(name);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
	cr_expect_eq(inode_of("f"), f);
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	object_unref(object);
	tree_close(fixture.tree, f);
}

/* What may not be listed may be on the way to a key that is known. */
Test(tree, unlisted_directories_are_traversed_when_asked_for)
{
	struct tree_attr attr;

	fixture_put(&fixture, "a/b/c");
	fixture_put(&fixture, "f");
	memory_store_fail(fixture.store, "list", 0, 100000, -EACCES,
			STORE_FINAL, 0);
	tree_guess_directories(fixture.tree);
	cr_assert_eq(fixture_walk(&fixture, "f", &attr), 0);
	cr_expect(!attr.is_dir);
	const uint64_t f = attr.inode;
	cr_assert_eq(fixture_walk(&fixture, "a/b/c", &attr), 0);
	cr_expect(!attr.is_dir);
	cr_expect_eq(attr.size, 10);
	cr_assert_eq(fixture_walk(&fixture, "a/b", &attr), 0);
	cr_expect_str_eq(fixture_ls(&fixture, attr.inode), "EACCES");
	/* A missing key cannot be told from a directory: it does not open. */
	cr_assert_eq(fixture_walk(&fixture, "none", &attr), 0);
	cr_expect(attr.is_dir);
	cr_expect_str_eq(fixture_ls(&fixture, attr.inode), "EACCES");
	/* Credentials that run out make no directory of an object. */
	clock_advance_ms(TTL_MS + 1);
	memory_store_fail(fixture.store, NULL, 0, 3, -EACCES, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "f", &attr), -EACCES);
	memory_store_fail(fixture.store, "list", 0, 100000, -EACCES,
			STORE_FINAL, 0);
	cr_assert_eq(fixture_walk(&fixture, "f", &attr), 0);
	cr_expect_eq(attr.inode, f);
}

Test(tree, without_list_permission_memory_is_bounded_and_inodes_stay)
{
	char name[16];
	uint64_t inodes[200];
	memory_store_fail(fixture.store, "list", 0, 100000, -EACCES,
			STORE_FINAL, 0);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		fixture_put(&fixture, name);
		inodes[i] = inode_of(name);
	}
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		cr_expect_eq(inode_of(name), inodes[i]);
	}
}

Test(tree, zero_asks_each_time)
{
	fixture_restart(&fixture, 0);
	struct tree_attr attr;
	fixture_put(&fixture, "a");
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_eq(attr.valid_ms, 0);
	fixture_asked(&fixture);
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	fixture_put(&fixture, "b");
	cr_assert_eq(fixture_walk(&fixture, "b", &attr), 0);
	memory_store_remove(fixture.store, "b");
	cr_expect_eq(fixture_walk(&fixture, "b", &attr), -ENOENT);
	cr_expect_eq(attr.valid_ms, 0);
	memory_store_fail(
			fixture.store, "list", 0, 10, -EACCES, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "a", &attr), 0);
}

Test(tree, forever_holds)
{
	fixture_restart(&fixture, DURATION_FOREVER);
	struct tree_attr attr;
	fixture_put(&fixture, "a");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	fixture_asked(&fixture);
	clock_advance_ms(1000ULL * 86400 * 400);
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_eq(attr.valid_ms, DURATION_FOREVER);
	cr_expect_eq(fixture_walk(&fixture, "b", &attr), -ENOENT);
	cr_expect_eq(attr.valid_ms, DURATION_FOREVER);
	cr_expect_str_eq(fixture_asked(&fixture), "");
}

Test(tree, refresh_forgets_what_is_below)
{
	fixture_put(&fixture, "d/a");
	fixture_put(&fixture, "e/a");
	inode_of("d/a");
	fixture_ls(&fixture, inode_of("e"));
	const uint64_t a = inode_of("d/a");
	fixture_asked(&fixture);
	fixture_put(&fixture, "d/new");
	fixture_put(&fixture, "e/new");
	cr_assert_eq(tree_refresh(fixture.tree, "d"), 0);
	cr_expect_eq(fixture_walk(&fixture, "d/new", NULL), 0);
	cr_expect_eq(fixture_walk(&fixture, "e/new", NULL), -ENOENT);
	cr_expect_eq(inode_of("d/a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "l:d/");
	/* Of a name that was not there: the directory that lacks it. */
	cr_assert_eq(tree_refresh(fixture.tree, "/e/new"), 0);
	cr_expect_eq(fixture_walk(&fixture, "e/new", NULL), 0);
	fixture_asked(&fixture);
	cr_assert_eq(tree_refresh(fixture.tree, ""), 0);
	inode_of("d/a");
	cr_expect_str_eq(fixture_asked(&fixture), "l: l:d/");
}

Test(tree, a_store_that_knows_no_such_prefix_says_so)
{
	/* Of a directory that is absence, of the source it is a failure. */
	memory_store_fail(fixture.store, "list", 0, 1, -ENOENT, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "none", NULL), -ENOENT);
	memory_store_fail(fixture.store, "list", 0, 1, -ENOENT, STORE_FINAL, 0);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EIO");
	fixture_put(&fixture, "d/x");
	const uint64_t d = inode_of("d");
	clock_advance_ms(TTL_MS + 1);
	memory_store_fail(fixture.store, "list", 0, 1, -ENOENT, STORE_FINAL, 0);
	cr_expect_str_eq(fixture_ls(&fixture, d), "");
}

Test(tree, hidden_keys_are_counted_once)
{
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "/b");
	fixture_put(&fixture, "..");
	for (int i = 0; i < 3; i++) {
		cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a");
		clock_advance_ms(TTL_MS + 1);
	}
	cr_expect_eq(counters_get(&fixture.counters.hidden_keys), 2);
}

static size_t allocated(void)
{
	const struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* 512 bytes per known entry: its place in the listing and its inode. */
Test(tree, a_hundred_thousand_known_entries_are_small)
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

/* ---- Flights ---- */

struct counted_lookup {
	struct tree_lookup lookup;
	_Atomic int done;
};

static void count_done(struct tree_lookup *lookup)
{
	((struct counted_lookup *)lookup)->done++;
}

static void start_lookups(
		struct counted_lookup *lookups, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		lookups[i] = (struct counted_lookup){
				.lookup = {.parent = TREE_ROOT_INODE,
						.name = name,
						.on_done = count_done},
		};
		cr_assert_eq(tree_lookup_start(
					     fixture.tree, &lookups[i].lookup),
				-EINPROGRESS);
	}
}

static void wait_lookups(struct counted_lookup *lookups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		while (lookups[i].done == 0) {
			sched_yield();
		}
	}
}

Test(tree, sixteen_workers_share_one_flight)
{
	struct counted_lookup lookups[16];
	fixture_put(&fixture, "a");
	memory_store_hold(fixture.store);
	start_lookups(lookups, 16, "a");
	memory_store_release(fixture.store);
	wait_lookups(lookups, 16);
	for (size_t i = 0; i < 16; i++) {
		cr_expect_eq(lookups[i].lookup.error, 0);
		cr_expect_eq(lookups[i].lookup.attr.inode,
				lookups[0].lookup.attr.inode);
	}
	cr_expect_str_eq(fixture_asked(&fixture), "s:a l:a/");
	tree_forget(fixture.tree, lookups[0].lookup.attr.inode, 16);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 1);
}

Test(tree, a_listing_under_way_answers_all_names)
{
	struct counted_lookup lookups[2];
	struct counted_lookup others[2];
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	memory_store_hold(fixture.store);
	start_lookups(lookups, 1, "a");
	start_lookups(&lookups[1], 1, "b");
	start_lookups(others, 1, "c");
	start_lookups(&others[1], 1, "a");
	memory_store_release(fixture.store);
	wait_lookups(lookups, 2);
	wait_lookups(others, 2);
	cr_expect_eq(lookups[1].lookup.error, 0);
	cr_expect_eq(others[0].lookup.error, -ENOENT);
	cr_expect_eq(others[1].lookup.attr.inode, lookups[0].lookup.attr.inode);
	cr_expect_str_eq(fixture_asked(&fixture), "s:a l:a/ l:");
}

Test(tree, what_was_asked_before_a_change_is_no_answer)
{
	struct counted_lookup lookup;
	uint64_t parent = 0;
	char *name = NULL;
	fixture_put(&fixture, "f");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t f = inode_of("f");
	clock_advance_ms(TTL_MS + 1);
	fixture_asked(&fixture);
	memory_store_hold(fixture.store);
	start_lookups(&lookup, 1, "f");
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	free(name);
	memory_store_release(fixture.store);
	wait_lookups(&lookup, 1);
	cr_expect_eq(lookup.lookup.error, 0);
	cr_expect_str_eq(fixture_asked(&fixture), "l: l:");
}

Test(tree, is_destroyed_only_after_its_questions_ended)
{
	struct counted_lookup lookup;
	start_lookups(&lookup, 1, "a");
	fixture_restart(&fixture, TTL_MS);
	cr_expect_eq(lookup.done, 1);
}

/* ---- The check at mount ---- */

Test(tree, probe_keeps_the_first_page_if_it_is_whole)
{
	bool is_file = true;
	fixture_put(&fixture, "a");
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), 0);
	cr_expect(!is_file);
	inode_of("a");
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
}

Test(tree, probe_takes_one_page_only)
{
	bool is_file = true;
	memory_store_set_page(fixture.store, 2);
	for (int i = 0; i < 10; i++) {
		char name[8];
		snprintf(name, sizeof(name), "%d", i);
		fixture_put(&fixture, name);
	}
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), 0);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE),
			"0 1 2 3 4 5 6 7 8 9");
}

Test(tree, probe_tells_nothing_a_file_and_errors_apart)
{
	bool is_file = true;
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), -ENOENT);
	cr_expect(!is_file);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	fixture_stop(&fixture);
	memset(&fixture, 0, sizeof(fixture));
	fixture_start(&fixture, "p/", TTL_MS);
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), -ENOENT);
	cr_expect(!is_file);
	cr_expect_str_eq(fixture_asked(&fixture), "l:p/ s:p");
	fixture_put(&fixture, "p");
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), -ENOENT);
	cr_expect(is_file);
	memory_store_fail(fixture.store, "list", 0, 1, -EACCES, STORE_FINAL, 0);
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), -EACCES);
	cr_expect(!is_file);
}

Test(tree, probe_waits_no_longer_than_told)
{
	bool is_file = true;
	memory_store_hold(fixture.store);
	cr_expect_eq(tree_probe(fixture.tree, 20, &is_file), -ETIMEDOUT);
	memory_store_release(fixture.store);
}
