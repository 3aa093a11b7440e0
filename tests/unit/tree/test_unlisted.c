#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "fixture.h"
#include "store/object.h"
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

TestSuite(unlisted, .init = setup, .fini = teardown);

Test(unlisted, without_list_permission_known_keys_open_by_head)
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
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_eq(attr.inode, a.inode);
}

Test(unlisted, without_list_permission_a_version_that_is_back_opens)
{
	struct object *object = NULL;
	uint64_t parent = 0;
	char *name = NULL;

	fixture_put(&fixture, "f");
	memory_store_fail(fixture.store, "list", 0, 1000, -EACCES, STORE_FINAL,
			0);
	const uint64_t f = fixture_inode(&fixture, "f");
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	free(name);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
	cr_expect_eq(fixture_inode(&fixture, "f"), f);
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	object_unref(object);
	tree_close(fixture.tree, f);
}

/* What may not be listed may be on the way to a key that is known. */
Test(unlisted, unlisted_directories_are_traversed_when_asked_for)
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
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	memory_store_fail(fixture.store, NULL, 0, 3, -EACCES, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "f", &attr), -EACCES);
	memory_store_fail(fixture.store, "list", 0, 100000, -EACCES,
			STORE_FINAL, 0);
	cr_assert_eq(fixture_walk(&fixture, "f", &attr), 0);
	cr_expect_eq(attr.inode, f);
}

Test(unlisted, without_list_permission_memory_is_bounded_and_inodes_stay)
{
	char name[16];
	uint64_t inodes[200];
	memory_store_fail(fixture.store, "list", 0, 100000, -EACCES,
			STORE_FINAL, 0);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		fixture_put(&fixture, name);
		inodes[i] = fixture_inode(&fixture, name);
	}
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		cr_expect_eq(fixture_inode(&fixture, name), inodes[i]);
	}
}
