#include <criterion/criterion.h>
#include <errno.h>

#include "fake_fetch.h"
#include "rig.h"

Test(read, a_missing_block_is_fetched_whole_and_only_it)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	cr_assert_eq(rig_start(&rig, &read, 3 * BLOCK_SIZE + 100, 200),
			-EINPROGRESS);
	cr_assert_eq(fake_fetch_count(), 1);
	cr_assert_eq(fake_fetch_offset(0), 3 * BLOCK_SIZE);
	cr_assert_eq(fake_fetch_length(0), BLOCK_SIZE);
	cr_assert(fake_fetch_demand(0));
	fake_fetch_finish(0);
	cr_assert_eq(rig_done(&read), 1);
	cr_assert(rig_right(&read));
	cr_assert(read.read.from_store);
	cr_assert_gt(read.read.wait_us, 0);
	cache_read_release(&read.read);
	cr_assert_eq(counters_get(&rig.counters.cache_misses), 1);
	cr_assert_eq(counters_get(&rig.counters.bytes_read), 200);
	rig_close(&rig, 0);
}

Test(read, a_full_read_that_is_not_aligned_has_17_parts)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	cr_assert_eq(rig_start(&rig, &read, 4096, MIB), -EINPROGRESS);
	cr_assert_eq(fake_fetch_count(), 1);
	cr_assert_eq(fake_fetch_length(0), 17 * BLOCK_SIZE);
	fake_fetch_finish(0);
	cr_assert(rig_right(&read));
	cr_assert_eq(read.read.part_count, 17);
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read, the_last_block_is_as_long_as_the_object)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 2 * BLOCK_SIZE + 10, false);
	cr_assert_eq(rig_start(&rig, &read, BLOCK_SIZE + 1, BLOCK_SIZE + 9),
			-EINPROGRESS);
	cr_assert_eq(fake_fetch_length(0), BLOCK_SIZE + 10);
	fake_fetch_finish(0);
	cr_assert(rig_right(&read));
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read, readers_of_a_block_share_one_request)
{
	struct rig rig;
	struct rig_read reads[3];

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(rig_start(&rig, &reads[i], i * 1000, 5000),
				-EINPROGRESS);
	}
	cr_assert_eq(fake_fetch_count(), 1);
	fake_fetch_finish(0);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(rig_done(&reads[i]), 1);
		cr_assert(rig_right(&reads[i]));
		cache_read_release(&reads[i].read);
	}
	rig_close(&rig, 0);
}

Test(read, only_what_is_missing_is_asked_for)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	rig_read_through(&rig, 2 * BLOCK_SIZE, BLOCK_SIZE);
	rig_read_through(&rig, 5 * BLOCK_SIZE, BLOCK_SIZE);
	cr_assert_eq(rig_start(&rig, &read, 0, 8 * BLOCK_SIZE), -EINPROGRESS);
	cr_assert_eq(fake_fetch_count(), 5);
	uint64_t sum = 0;
	for (size_t i = 2; i < 5; i++) {
		sum += fake_fetch_length(i);
		fake_fetch_finish(i);
	}
	cr_assert_eq(sum, 6 * BLOCK_SIZE);
	cr_assert(rig_right(&read));
	cr_assert_eq(counters_get(&rig.counters.bytes_memory), 2 * BLOCK_SIZE);
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read, without_a_disk_it_is_answered_from_memory_at_once)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	rig_read_through(&rig, 0, MIB);
	cr_assert_eq(rig_start(&rig, &read, 1000, 100000), 0);
	cr_assert(rig_right(&read));
	cr_assert_eq(read.read.wait_us, 0);
	cr_assert_not(read.read.from_store);
	cr_assert_eq(rig_done(&read), 0);
	cr_assert_eq(fake_fetch_count(), 1);
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

Test(read, ends_with_its_own_last_byte_not_that_of_the_request)
{
	struct rig rig;
	struct rig_read first;
	struct rig_read second;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	cr_assert_eq(cache_prefetch(rig.object, 0, MIB, MIB), MIB);
	cr_assert_eq(rig_start(&rig, &first, 0, BLOCK_SIZE), -EINPROGRESS);
	cr_assert_eq(rig_start(&rig, &second, BLOCK_SIZE, 2 * BLOCK_SIZE),
			-EINPROGRESS);
	cr_assert_eq(fake_fetch_count(), 1);
	fake_fetch_give(0, BLOCK_SIZE - 1);
	cr_assert_eq(rig_done(&first), 0);
	fake_fetch_give(0, 1);
	cr_assert_eq(rig_done(&first), 1);
	cr_assert(rig_right(&first));
	cr_assert_eq(rig_done(&second), 0);
	fake_fetch_finish(0);
	cr_assert(rig_right(&second));
	cache_read_release(&first.read);
	cache_read_release(&second.read);
	rig_close(&rig, 0);
}

Test(read, makes_prefetch_that_it_waits_for_urgent_once)
{
	struct rig rig;
	struct rig_read reads[2];

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	cr_assert_eq(cache_prefetch(rig.object, 0, 2 * MIB, MIB), 2 * MIB);
	cr_assert_eq(fake_fetch_count(), 2);
	cr_assert_not(fake_fetch_demand(0));
	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(rig_start(&rig, &reads[i], 0, 1000), -EINPROGRESS);
	}
	cr_assert_eq(fake_fetch_promotions(0), 1);
	cr_assert_eq(fake_fetch_promotions(1), 0);
	fake_fetch_finish(0);
	fake_fetch_finish(1);
	for (size_t i = 0; i < 2; i++) {
		cr_assert(rig_right(&reads[i]));
		cache_read_release(&reads[i].read);
	}
	rig_close(&rig, 0);
}

Test(read, of_a_prefetched_block_does_not_wait)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	(void)cache_prefetch(rig.object, 0, MIB, MIB);
	fake_fetch_finish(0);
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), 0);
	cr_assert(rig_right(&read));
	cr_assert(read.read.from_store);
	cr_assert_eq(counters_get(&rig.counters.bytes_memory), 0);
	cache_read_release(&read.read);
	rig_close(&rig, 0);
}

/* ---- Failures ---- */

Test(read, ends_with_the_error_of_its_request_and_asks_anew_later)
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

Test(read, is_not_harmed_by_an_error_in_blocks_of_others)
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

Test(read, of_failed_prefetch_is_asked_for_again_in_demand)
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

Test(read, of_promoted_prefetch_ends_with_its_error)
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

Test(read, of_canceled_prefetch_asks_for_just_its_own_blocks)
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

Test(read, failed_prefetch_without_readers_is_silent)
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

/* ---- Memory ---- */

Test(read, without_memory_waits_its_turn_and_holds_nothing)
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

Test(read, that_would_fit_does_not_overtake_one_that_waits)
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

Test(read, of_present_blocks_does_not_queue_for_memory)
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

Test(read, takes_the_memory_of_unread_prefetch)
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

Test(read, without_memory_cancels_prefetch_that_has_not_begun)
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

/* ---- Prefetch ---- */

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

/* ---- Stop ---- */

Test(stop, ends_every_read_that_waits_and_every_later_one)
{
	struct rig rig;
	struct rig_read fetching;
	struct rig_read queued;
	struct rig_read late;
	struct rig_read hit;

	rig_open(&rig, 2 * MIB, 100 * MIB, false);
	rig_read_through(&rig, 0, MIB);
	cr_assert_eq(rig_start(&rig, &hit, 0, MIB), 0);
	cr_assert_eq(rig_start(&rig, &fetching, MIB, MIB), -EINPROGRESS);
	cr_assert_eq(rig_start(&rig, &queued, 2 * MIB, MIB), -EINPROGRESS);
	cache_stop(rig.cache, -EIO);
	cr_assert(rig_wait(&fetching));
	cr_assert(rig_wait(&queued));
	cr_assert_eq(fetching.read.error, -EIO);
	cr_assert_eq(queued.read.error, -EIO);
	cr_assert_eq(rig_start(&rig, &late, MIB, MIB), 0);
	cr_assert_eq(late.read.error, -EIO);
	cache_read_release(&late.read);
	cr_assert_eq(rig_start(&rig, &late, 3 * MIB, MIB), 0);
	cr_assert_eq(late.read.error, -EIO);
	cache_read_release(&late.read);
	cr_assert_eq(rig_start(&rig, &late, 0, 1000), 0);
	cr_assert(rig_right(&late));
	cache_read_release(&late.read);
	cr_assert_eq(cache_prefetch(rig.object, 9 * MIB, MIB, MIB), 9 * MIB);
	cache_read_release(&hit.read);
	cache_read_release(&fetching.read);
	cache_read_release(&queued.read);
	fake_fetch_end(1, -EIO);
	cr_assert_eq(fake_fetch_count(), 2);
	rig_close(&rig, 0);
}
