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
