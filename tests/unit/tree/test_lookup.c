#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

TestSuite(lookup, .init = setup, .fini = teardown);

Test(lookup, a_cold_path_costs_one_head_and_one_list)
{
	struct tree_attr attr;
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect(!attr.is_dir);
	cr_expect_eq(attr.size, 10);
	cr_expect_eq(attr.mtime, MEMORY_STORE_MTIME);
	cr_expect_geq(attr.inode, TREE_FIRST_INODE);
	cr_expect_leq(attr.valid_ms, FIXTURE_TTL_MS);
	cr_expect_gt(attr.valid_ms, FIXTURE_TTL_MS - 5000);
	cr_expect_str_eq(fixture_asked(&fixture), "s:a l:a/");
	cr_assert_eq(fixture_walk(&fixture, "a", &attr), 0);
	cr_expect_str_eq(fixture_asked(&fixture), "");
}

Test(lookup, a_second_path_lists_the_directory)
{
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	fixture_put(&fixture, "c");
	const uint64_t a = fixture_inode(&fixture, "a");
	fixture_asked(&fixture);
	fixture_inode(&fixture, "b");
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	fixture_inode(&fixture, "c");
	cr_expect_eq(fixture_walk(&fixture, "d", NULL), -ENOENT);
	cr_expect_eq(fixture_inode(&fixture, "a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "");
}

Test(lookup, a_probed_directory_is_listed_with_the_same_request)
{
	fixture_put(&fixture, "d/x");
	fixture_put(&fixture, "d/y");
	const uint64_t x = fixture_inode(&fixture, "d/x");
	cr_expect_eq(fixture_walk(&fixture, "d/z", NULL), -ENOENT);
	cr_expect_str_eq(fixture_ls(&fixture, fixture_inode(&fixture, "d")),
			"x y");
	cr_expect_str_eq(fixture_asked(&fixture), "s:d l:d/");
	cr_expect_neq(x, fixture_inode(&fixture, "d/y"));
}

Test(lookup, a_deep_cold_path_costs_at_most_two_requests_a_component)
{
	memory_store_set_page(fixture.store, 1); /* No LIST is whole. */
	fixture_put(&fixture, "a/1");
	fixture_put(&fixture, "a/b/1");
	fixture_put(&fixture, "a/b/f");
	fixture_inode(&fixture, "a/b/f");
	cr_expect_str_eq(fixture_asked(&fixture),
			"s:a l:a/ s:a/b l:a/b/ s:a/b/f l:a/b/f/");
}

Test(lookup, misses_in_a_listed_directory_cost_nothing)
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

Test(lookup, names_that_cannot_be_are_answered_without_a_request)
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

Test(lookup, a_file_has_nothing_below_it)
{
	fixture_put(&fixture, "f");
	cr_expect_eq(fixture_lookup(&fixture, fixture_inode(&fixture, "f"), "x",
				     NULL),
			-ENOTDIR);
	struct tree_dir *dir = NULL;
	cr_expect_eq(fixture_opendir(&fixture, fixture_inode(&fixture, "f"),
				     &dir),
			-ENOTDIR);
}

Test(lookup, a_directory_hides_the_object_of_its_name)
{
	struct tree_attr attr;
	fixture_put(&fixture, "x");
	fixture_put(&fixture, "x/y");
	cr_assert_eq(fixture_walk(&fixture, "x", &attr), 0);
	cr_expect(attr.is_dir);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "x/");
	cr_expect_eq(fixture_inode(&fixture, "x"), attr.inode);
}

Test(lookup, a_marker_alone_is_an_empty_directory)
{
	struct tree_attr attr;
	fixture_put(&fixture, "d/");
	cr_assert_eq(fixture_walk(&fixture, "d", &attr), 0);
	cr_expect(attr.is_dir);
	cr_expect_str_eq(fixture_ls(&fixture, attr.inode), "");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "d/");
}

Test(lookup, a_prefix_is_the_root)
{
	fixture_stop(&fixture);
	fixture = (struct fixture){0};
	fixture_start(&fixture, "p/q/", FIXTURE_TTL_MS);
	fixture_put(&fixture, "p/q/f");
	fixture_put(&fixture, "p/other");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "f");
	struct object *object = NULL;
	const uint64_t f = fixture_inode(&fixture, "f");
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	cr_expect_str_eq(object->key, "p/q/f");
	char *path = tree_path(fixture.tree, f);
	cr_expect_str_eq(path, "f");
	free(path);
	object_unref(object);
	tree_close(fixture.tree, f);
}

Test(lookup, lookups_are_counted_and_forgotten)
{
	fixture_put(&fixture, "a/b/c");
	struct tree_attr c;
	cr_assert_eq(fixture_walk(&fixture, "a/b/c", &c), 0);
	cr_assert_eq(fixture_walk(&fixture, "a/b/c", &c), 0);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 4);
	const uint64_t b = fixture_inode(&fixture, "a/b");
	const uint64_t a = fixture_inode(&fixture, "a");
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
	cr_expect_eq(fixture_inode(&fixture, "a/b"), b);
	cr_expect_eq(fixture_inode(&fixture, "a/b/c"), c.inode);
	cr_expect_str_eq(fixture_asked(&fixture), "");
	tree_forget(fixture.tree, 424242, 1);
	tree_forget(fixture.tree, TREE_ROOT_INODE, 1000);
	cr_expect_eq(counters_get(&fixture.counters.inodes), 4);
}
