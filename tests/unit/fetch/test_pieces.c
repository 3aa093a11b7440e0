#include <criterion/criterion.h>
#include <errno.h>

#include "base/clock.h"
#include "fixture.h"

/* A range of more than part_size: pieces, one after the other. */

#define PART MIB
#define PIECES 6

static struct fixture fixture;

static void set_up(void)
{
	fixture_init(&fixture);
	fixture.settings.part_size = PART;
	fixture.settings.retries = 3;
	fixture.settings.timeout_ms = 60000;
	fixture_start(&fixture);
	fixture_use_object(&fixture);
}

static void tear_down(void)
{
	fixture_finish(&fixture);
}

TestSuite(pieces, .init = set_up, .fini = tear_down);

Test(pieces, have_attempts_of_their_own)
{
	struct wanted wanted;
	for (unsigned i = 0; i < PIECES; i++) {
		memory_store_fail(fixture.store, "get", 2 * i, 1, -EIO,
				STORE_RETRY, 0);
	}
	fixture_want(&fixture, &wanted, 0, PIECES * PART, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 2 * PIECES);
}

Test(pieces, are_silent_since_the_last_byte_only)
{
	struct wanted wanted;
	memory_store_hold(fixture.store);
	memory_store_fail(fixture.store, "get", 1, 1, -EIO, STORE_RETRY, 0);
	fixture_want(&fixture, &wanted, 0, 2 * PART, true);
	wanted_submit(&wanted);
	cr_assert_eq(memory_store_wait_held(fixture.store, 1), 0);
	clock_advance_ms(70000); /* The first piece takes long, and comes. */
	memory_store_release(fixture.store);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	cr_expect_eq(memory_store_count(fixture.store, 'g'), 3);
}
