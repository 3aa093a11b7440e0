#include <criterion/criterion.h>
#include <errno.h>

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

TestSuite(failure, .init = setup, .fini = teardown);

Test(failure, a_silent_store_is_an_error_not_absence)
{
	fixture_put(&fixture, "a");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	memory_store_fail(fixture.store, NULL, 0, 3, -EIO, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), -EIO);
	cr_expect_eq(fixture_walk(&fixture, "b", NULL), -EIO);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EIO");
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), 0);
}

Test(failure, a_listing_that_failed_in_the_middle_is_not_used)
{
	memory_store_set_page(fixture.store, 1);
	fixture_put(&fixture, "a");
	fixture_put(&fixture, "b");
	fixture_put(&fixture, "c");
	memory_store_fail(fixture.store, "list", 2, 1, -EIO, STORE_FINAL, 0);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EIO");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a b c");
}

Test(failure, a_failed_probe_is_not_remembered)
{
	fixture_put(&fixture, "a");
	memory_store_fail(fixture.store, "stat", 0, 1, -EIO, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), -EIO);
	cr_expect_eq(fixture_walk(&fixture, "a", NULL), 0);
	memory_store_fail(fixture.store, "list", 0, 1, -EIO, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "b", NULL), -EIO);
	cr_expect_eq(fixture_walk(&fixture, "b", NULL), -ENOENT);
}

Test(failure, a_store_that_knows_no_such_prefix_says_so)
{
	/* Of a directory that is absence, of the source it is a failure. */
	memory_store_fail(fixture.store, "list", 0, 1, -ENOENT, STORE_FINAL, 0);
	cr_expect_eq(fixture_walk(&fixture, "none", NULL), -ENOENT);
	memory_store_fail(fixture.store, "list", 0, 1, -ENOENT, STORE_FINAL, 0);
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "EIO");
	fixture_put(&fixture, "d/x");
	const uint64_t d = fixture_inode(&fixture, "d");
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	memory_store_fail(fixture.store, "list", 0, 1, -ENOENT, STORE_FINAL, 0);
	cr_expect_str_eq(fixture_ls(&fixture, d), "");
}
