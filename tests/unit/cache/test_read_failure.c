#include <criterion/criterion.h>
#include <errno.h>

#include "fake_fetch.h"
#include "rig.h"

Test(read_failure, ends_with_the_error_of_its_request_and_asks_anew_later)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), -EINPROGRESS);
	fake_fetch_give(0, 3 * BLOCK_SIZE + 5);
	fake_fetch_end(0, -ESTALE);
	cr_assert_eq(rig_done(&read), 1);
	cr_assert_eq(read.read.error, -ESTALE);
	cr_assert_eq(read.read.part_count, 0);
	cache_read_release(&read.read);
	/* What came before the error is kept. */
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), -EINPROGRESS);
	cr_assert_eq(fake_fetch_offset(1), 3 * BLOCK_SIZE);
	fake_fetch_finish(1);
	cr_assert(rig_right(&read));
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read_failure, is_not_harmed_by_an_error_in_blocks_of_others)
{
	struct rig rig;
	struct rig_read near;
	struct rig_read far;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	cr_assert_eq(rig_start(&rig, &far, 0, MIB), -EINPROGRESS);
	cr_assert_eq(rig_start(&rig, &near, 0, BLOCK_SIZE), -EINPROGRESS);
	fake_fetch_give(0, BLOCK_SIZE);
	fake_fetch_end(0, -EIO);
	cr_assert(rig_right(&near));
	cr_assert_eq(far.read.error, -EIO);
	cache_read_release(&near.read);
	cache_read_release(&far.read);
	rig_close(&rig, 0);
}

Test(read_failure, of_failed_prefetch_is_asked_for_again_in_demand)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	(void)cache_prefetch(rig.object, 0, MIB, MIB);
	fake_fetch_give(0, 2 * BLOCK_SIZE + 7);
	fake_fetch_be_deaf(true); /* It is given up as the reader comes. */
	cr_assert_eq(rig_start(&rig, &read, BLOCK_SIZE, 4 * BLOCK_SIZE),
			-EINPROGRESS);
	fake_fetch_end(0, -EIO);
	cr_assert_eq(rig_done(&read), 0);
	cr_assert_eq(fake_fetch_count(), 2);
	cr_assert(fake_fetch_demand(1));
	cr_assert_eq(fake_fetch_offset(1), 2 * BLOCK_SIZE);
	cr_assert_eq(fake_fetch_length(1), 3 * BLOCK_SIZE);
	fake_fetch_finish(1);
	cr_assert(rig_right(&read));
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read_failure, of_promoted_prefetch_ends_with_its_error)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	(void)cache_prefetch(rig.object, 0, MIB, MIB);
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), -EINPROGRESS);
	fake_fetch_end(0, -EIO);
	cr_assert_eq(rig_done(&read), 1);
	cr_assert_eq(read.read.error, -EIO);
	cr_assert_eq(fake_fetch_count(), 1);
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read_failure, of_canceled_prefetch_asks_for_just_its_own_blocks)
{
	struct rig rig;
	struct rig_read read;
	struct cache_object *again;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	(void)cache_prefetch(rig.object, 0, MIB, MIB);
	cr_assert_eq(cache_open(rig.cache, rig.version, &again), 0);
	cache_close(again);
	cr_assert_not(fake_fetch_canceled(0));
	cache_close(rig.object);
	cr_assert(fake_fetch_canceled(0));
	cr_assert_eq(cache_open(rig.cache, rig.version, &rig.object), 0);
	fake_fetch_be_deaf(true);
	cr_assert_eq(rig_start(&rig, &read, 2 * BLOCK_SIZE, 2 * BLOCK_SIZE),
			-EINPROGRESS);
	fake_fetch_end(0, -ECANCELED);
	cr_assert_eq(rig_done(&read), 0);
	cr_assert_eq(fake_fetch_count(), 2);
	cr_assert(fake_fetch_demand(1));
	cr_assert_eq(fake_fetch_offset(1), 2 * BLOCK_SIZE);
	cr_assert_eq(fake_fetch_length(1), 2 * BLOCK_SIZE);
	fake_fetch_finish(1);
	cr_assert(rig_right(&read));
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read_failure, failed_prefetch_without_readers_is_silent)
{
	struct rig rig;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	(void)cache_prefetch(rig.object, 0, MIB, MIB);
	fake_fetch_give(0, BLOCK_SIZE);
	fake_fetch_end(0, -EIO);
	cr_assert_eq(fake_fetch_count(), 1);
	cr_assert_eq(counters_get(&rig.counters.memory_used_bytes), BLOCK_SIZE);
	cr_assert_eq(cache_take_dropped(rig.object), 15);
	cr_assert_eq(cache_take_dropped(rig.object), 0);
	rig_close(&rig, 0);
}
