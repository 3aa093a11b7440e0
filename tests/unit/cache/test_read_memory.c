#include <criterion/criterion.h>
#include <errno.h>

#include "fake_fetch.h"
#include "rig.h"

Test(read_memory, without_memory_waits_its_turn_and_holds_nothing)
{
	struct rig rig;
	struct rig_read reads[4];

	rig_open(&rig, 2 * MIB, 100 * MIB, false);
	for (size_t i = 0; i < 4; i++) {
		cr_assert_eq(rig_start(&rig, &reads[i], i * MIB, MIB),
				-EINPROGRESS);
	}
	cr_assert_eq(fake_fetch_count(), 2);
	cr_assert_eq(counters_get(&rig.counters.memory_waiters), 2);
	/* A small one does not overtake them. */
	struct rig_read small;
	cr_assert_eq(rig_start(&rig, &small, 50 * MIB, 1), -EINPROGRESS);
	for (size_t i = 0; i < 4; i++) {
		cr_assert(fake_fetch_wait_count(i + 1));
		cr_assert_eq(fake_fetch_offset(i), i * MIB);
		fake_fetch_finish(i);
		cr_assert(rig_wait(&reads[i]));
		cr_assert(rig_right(&reads[i]));
		cr_assert_eq(counters_get(&rig.counters.memory_used_bytes),
				2 * MIB);
		cache_read_release(&reads[i].read);
	}
	cr_assert(fake_fetch_wait_count(5));
	fake_fetch_finish(4);
	cr_assert(rig_wait(&small));
	cr_assert(rig_right(&small));
	cache_read_release(&small.read);
	rig_close(&rig, 0);
}

Test(read_memory, that_would_fit_does_not_overtake_one_that_waits)
{
	struct rig rig;
	struct rig_read held;
	struct rig_read large;
	struct rig_read small;

	rig_open(&rig, 20 * BLOCK_SIZE, 100 * MIB, false);
	cr_assert_eq(rig_start(&rig, &held, 0, MIB), -EINPROGRESS);
	cr_assert_eq(rig_start(&rig, &large, MIB, MIB), -EINPROGRESS);
	cr_assert_eq(rig_start(&rig, &small, 50 * MIB, 1), -EINPROGRESS);
	cr_assert_eq(fake_fetch_count(), 1);
	cr_assert_eq(counters_get(&rig.counters.memory_waiters), 2);
	fake_fetch_finish(0);
	cache_read_release(&held.read);
	cr_assert(fake_fetch_wait_count(3));
	cr_assert_eq(fake_fetch_offset(1), MIB);
	fake_fetch_finish(1);
	fake_fetch_finish(2);
	cr_assert(rig_wait(&large));
	cr_assert(rig_wait(&small));
	cr_assert(rig_right(&large));
	cr_assert(rig_right(&small));
	cache_read_release(&large.read);
	cache_read_release(&small.read);
	rig_close(&rig, 0);
}

Test(read_memory, of_present_blocks_does_not_queue_for_memory)
{
	struct rig rig;
	struct rig_read held;
	struct rig_read waits;
	struct rig_read hit;

	rig_open(&rig, MIB, 100 * MIB, false);
	cr_assert_eq(rig_start(&rig, &held, 0, MIB), -EINPROGRESS);
	fake_fetch_finish(0);
	cr_assert_eq(rig_start(&rig, &waits, MIB, MIB), -EINPROGRESS);
	cr_assert_eq(rig_start(&rig, &hit, 1000, 1000), 0);
	cr_assert(rig_right(&hit));
	cache_read_release(&hit.read);
	cache_read_release(&held.read);
	cr_assert(fake_fetch_wait_count(2));
	fake_fetch_finish(1);
	cr_assert(rig_wait(&waits));
	cr_assert(rig_right(&waits));
	cache_read_release(&waits.read);
	rig_close(&rig, 0);
}

Test(read_memory, takes_the_memory_of_unread_prefetch)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 5 * MIB, 100 * MIB, false);
	cr_assert_eq(cache_prefetch(rig.object, 0, MIB, MIB), MIB);
	fake_fetch_finish(0);
	for (size_t i = 0; i < 5; i++) {
		rig_read_through(&rig, (10 + i) * MIB, MIB);
	}
	/* Read blocks go first, the oldest of them. */
	cr_assert_eq(cache_take_dropped(rig.object), 0);
	cr_assert_eq(rig_start(&rig, &read, 14 * MIB, MIB), 0);
	cache_read_release(&read.read);
	struct rig_read reads[5];
	for (size_t i = 0; i < 5; i++) {
		cr_assert_eq(rig_start(&rig, &reads[i], (20 + i) * MIB, MIB),
				-EINPROGRESS);
	}
	cr_assert_eq(cache_take_dropped(rig.object), 16);
	cr_assert_eq(counters_get(&rig.counters.bytes_dropped), MIB);
	for (size_t i = 0; i < 5; i++) {
		fake_fetch_finish(6 + i);
		cr_assert(rig_right(&reads[i]));
		cache_read_release(&reads[i].read);
	}
	rig_close(&rig, 0);
}

Test(read_memory, without_memory_cancels_prefetch_that_has_not_begun)
{
	struct rig rig;
	struct rig_read reads[6];

	rig_open(&rig, 6 * MIB, 100 * MIB, false);
	cr_assert_eq(cache_prefetch(rig.object, 50 * MIB, 2 * MIB, MIB),
			52 * MIB);
	for (size_t i = 0; i < 5; i++) {
		cr_assert_eq(rig_start(&rig, &reads[i], i * MIB, MIB),
				-EINPROGRESS);
	}
	cr_assert_eq(fake_fetch_count(), 6);
	cr_assert(fake_fetch_canceled(1)); /* The newest, and no more. */
	cr_assert_not(fake_fetch_canceled(0));
	fake_fetch_end(1, -ECANCELED);
	cr_assert(fake_fetch_wait_count(7));
	fake_fetch_finish(0);
	for (size_t i = 0; i < 5; i++) {
		fake_fetch_finish(2 + i);
		cr_assert(rig_wait(&reads[i]));
		cr_assert(rig_right(&reads[i]));
		cache_read_release(&reads[i].read);
	}
	rig_close(&rig, 0);
}
