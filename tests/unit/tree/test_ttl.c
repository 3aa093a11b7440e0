#include <criterion/criterion.h>
#include <errno.h>

#include "base/clock.h"
#include "base/size.h"
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

TestSuite(ttl, .init = setup, .fini = teardown);

Test(ttl, a_known_path_is_renewed_by_its_directory)
{
	fixture_put(&fixture, "a");
	const uint64_t a = fixture_inode(&fixture, "a");
	fixture_asked(&fixture);
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	cr_expect_eq(fixture_inode(&fixture, "a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	cr_expect_eq(fixture_inode(&fixture, "a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "l:");
}

Test(ttl, polling_does_not_extend_absence)
{
	struct tree_attr attr;
	cr_assert_eq(fixture_walk(&fixture, "new", &attr), -ENOENT);
	cr_expect_gt(attr.valid_ms, 0);
	fixture_put(&fixture, "new");
	for (int i = 0; i < 10; i++) {
		clock_advance_ms(FIXTURE_TTL_MS / 12);
		cr_expect_eq(fixture_walk(&fixture, "new", &attr), -ENOENT);
		cr_expect_leq(attr.valid_ms,
				FIXTURE_TTL_MS * (11 - i) / 12 + 1);
	}
	cr_expect_str_eq(fixture_asked(&fixture), "s:new l:new/");
	clock_advance_ms(FIXTURE_TTL_MS / 6 + 1);
	cr_expect_eq(fixture_walk(&fixture, "new", &attr), 0);
}

Test(ttl, a_listing_that_lacks_a_name_answers_only_for_its_time)
{
	fixture_put(&fixture, "a");
	cr_expect_str_eq(fixture_ls(&fixture, TREE_ROOT_INODE), "a");
	fixture_put(&fixture, "new");
	clock_advance_ms(FIXTURE_TTL_MS - 1000);
	cr_expect_eq(fixture_walk(&fixture, "new", NULL), -ENOENT);
	clock_advance_ms(1001);
	cr_expect_eq(fixture_walk(&fixture, "new", NULL), 0);
}

Test(ttl, zero_asks_each_time)
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

Test(ttl, forever_holds)
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

Test(ttl, refresh_forgets_what_is_below)
{
	fixture_put(&fixture, "d/a");
	fixture_put(&fixture, "e/a");
	fixture_inode(&fixture, "d/a");
	fixture_ls(&fixture, fixture_inode(&fixture, "e"));
	const uint64_t a = fixture_inode(&fixture, "d/a");
	fixture_asked(&fixture);
	fixture_put(&fixture, "d/new");
	fixture_put(&fixture, "e/new");
	cr_assert_eq(tree_refresh(fixture.tree, "d"), 0);
	cr_expect_eq(fixture_walk(&fixture, "d/new", NULL), 0);
	cr_expect_eq(fixture_walk(&fixture, "e/new", NULL), -ENOENT);
	cr_expect_eq(fixture_inode(&fixture, "d/a"), a);
	cr_expect_str_eq(fixture_asked(&fixture), "l:d/");
	/* Of a name that was not there: the directory that lacks it. */
	cr_assert_eq(tree_refresh(fixture.tree, "/e/new"), 0);
	cr_expect_eq(fixture_walk(&fixture, "e/new", NULL), 0);
	fixture_asked(&fixture);
	cr_assert_eq(tree_refresh(fixture.tree, ""), 0);
	fixture_inode(&fixture, "d/a");
	cr_expect_str_eq(fixture_asked(&fixture), "l: l:d/");
}
