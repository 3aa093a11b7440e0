#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

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

TestSuite(mount, .init = setup, .fini = teardown);

Test(mount, probe_keeps_the_first_page_if_it_is_whole)
{
	bool is_file = true;
	fixture_put(&fixture, "a");
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), 0);
	cr_expect(!is_file);
	fixture_inode(&fixture, "a");
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
}

Test(mount, probe_takes_one_page_only)
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

Test(mount, probe_tells_nothing_a_file_and_errors_apart)
{
	bool is_file = true;
	cr_expect_eq(tree_probe(fixture.tree, 5000, &is_file), -ENOENT);
	cr_expect(!is_file);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	fixture_stop(&fixture);
	fixture = (struct fixture){0};
	fixture_start(&fixture, "p/", FIXTURE_TTL_MS);
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

Test(mount, probe_waits_no_longer_than_told)
{
	bool is_file = true;
	memory_store_hold(fixture.store);
	cr_expect_eq(tree_probe(fixture.tree, 20, &is_file), -ETIMEDOUT);
	memory_store_release(fixture.store);
}
