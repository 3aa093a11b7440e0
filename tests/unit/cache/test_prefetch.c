#include <criterion/criterion.h>

#include "fake_fetch.h"
#include "rig.h"

Test(prefetch, asks_in_parts_for_what_is_missing)
{
	struct rig rig;

	rig_open(&rig, 64 * MIB, 10 * MIB, false);
	rig_read_through(&rig, MIB, MIB);
	cr_assert_eq(cache_prefetch(rig.object, 0, 5 * MIB, 2 * MIB), 5 * MIB);
	cr_assert_eq(fake_fetch_count(), 4);
	cr_assert_eq(fake_fetch_offset(1), 0);
	cr_assert_eq(fake_fetch_length(1), MIB);
	cr_assert_eq(fake_fetch_offset(2), 2 * MIB);
	cr_assert_eq(fake_fetch_length(2), 2 * MIB);
	cr_assert_eq(fake_fetch_offset(3), 4 * MIB);
	cr_assert_eq(fake_fetch_length(3), MIB);
	cr_assert_eq(cache_prefetch(rig.object, 0, 5 * MIB, 2 * MIB), 5 * MIB);
	cr_assert_eq(fake_fetch_count(), 4);
	for (size_t i = 1; i < 4; i++) {
		fake_fetch_finish(i);
	}
	rig_close(&rig, 0);
}

Test(prefetch, ends_with_the_object)
{
	struct rig rig;

	rig_open(&rig, 64 * MIB, MIB + 10, false);
	cr_assert_eq(cache_prefetch(rig.object, MIB, 64 * MIB, MIB), MIB + 10);
	cr_assert_eq(fake_fetch_length(0), 10);
	fake_fetch_finish(0);
	cr_assert_eq(cache_prefetch(rig.object, 5 * MIB, MIB, MIB), MIB + 10);
	cr_assert_eq(fake_fetch_count(), 1);
	rig_close(&rig, 0);
}

Test(prefetch, leaves_the_last_4_mib_to_demand)
{
	struct rig rig;

	rig_open(&rig, 6 * MIB, 100 * MIB, false);
	cr_assert_eq(cache_prefetch(rig.object, 0, 64 * MIB, MIB), 2 * MIB);
	cr_assert_eq(fake_fetch_count(), 2);
	fake_fetch_finish(0);
	fake_fetch_finish(1);
	/* Unread blocks are not given up for more prefetch. */
	cr_assert_eq(cache_prefetch(rig.object, 0, 64 * MIB, MIB), 2 * MIB);
	cr_assert_eq(fake_fetch_count(), 2);
	rig_close(&rig, 0);
}

Test(prefetch, takes_the_memory_of_blocks_that_were_read)
{
	struct rig rig;

	rig_open(&rig, 6 * MIB, 100 * MIB, false);
	for (size_t i = 0; i < 6; i++) {
		rig_read_through(&rig, i * MIB, MIB);
	}
	cr_assert_eq(cache_prefetch(rig.object, 50 * MIB, MIB, MIB), 51 * MIB);
	fake_fetch_finish(6);
	rig_close(&rig, 0);
}

Test(prefetch, of_a_closed_object_no_longer_keeps_memory_from_others)
{
	struct rig rig;
	struct object *other = rig_version("other", "\"o\"", 100 * MIB);
	struct cache_object *object;

	rig_open(&rig, 6 * MIB, 100 * MIB, false);
	cr_assert_eq(cache_open(rig.cache, other, &object), 0);
	cr_assert_eq(cache_prefetch(object, 0, 2 * MIB, 2 * MIB), 2 * MIB);
	fake_fetch_finish(0);
	cr_assert_eq(cache_prefetch(rig.object, 0, MIB, MIB), 0);
	cache_close(object);
	cr_assert_eq(cache_prefetch(rig.object, 0, MIB, MIB), MIB);
	fake_fetch_finish(1);
	object_unref(other);
	rig_close(&rig, 0);
}
