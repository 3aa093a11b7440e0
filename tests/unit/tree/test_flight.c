#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

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

TestSuite(flight, .init = setup, .fini = teardown);

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

Test(flight, sixteen_workers_share_one_flight)
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

Test(flight, a_listing_under_way_answers_all_names)
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

Test(flight, what_was_asked_before_a_change_is_no_answer)
{
	struct counted_lookup lookup;
	uint64_t parent = 0;
	char *name = NULL;
	fixture_put(&fixture, "f");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t f = fixture_inode(&fixture, "f");
	clock_advance_ms(FIXTURE_TTL_MS + 1);
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

Test(flight, is_destroyed_only_after_its_questions_ended)
{
	struct counted_lookup lookup;
	start_lookups(&lookup, 1, "a");
	fixture_restart(&fixture, FIXTURE_TTL_MS);
	cr_expect_eq(lookup.done, 1);
}
