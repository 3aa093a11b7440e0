#include <criterion/criterion.h>
#include <errno.h>

#include "fake_disk.h"
#include "fake_fetch.h"
#include "rig.h"

Test(writer, takes_neighbours_to_the_disk_together_and_frees_them)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	rig_read_through(&rig, 0, MIB);
	rig_read_through(&rig, MIB, MIB);
	cr_assert(fake_disk_wait_written(32));
	cr_assert_leq(fake_disk_writes(), 2);
	cr_assert(rig_wait_used(&rig, 0));
	cr_assert_eq(rig_start(&rig, &read, 1000, MIB), 0);
	cr_assert(rig_right(&read));
	cr_assert_not(read.read.from_store);
	cr_assert_eq(read.read.wait_us, 0);
	cr_assert_eq(fake_disk_reads(), 1);
	cr_assert_eq(fake_fetch_count(), 2);
	cr_assert_eq(counters_get(&rig.counters.cache_hits), 17);
	cache_read_release(&read.read);
	cr_assert_eq(counters_get(&rig.counters.memory_used_bytes), 0);
	rig_close(&rig, 1000);
}

Test(writer, writes_what_was_read_out_of_order_in_one_run)
{
	struct rig rig;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	for (size_t i = 8; i-- > 0;) {
		rig_read_through(&rig, i * BLOCK_SIZE, BLOCK_SIZE);
	}
	cr_assert(fake_disk_wait_written(8));
	cr_assert_leq(fake_disk_writes(), 2);
	rig_close(&rig, 1000);
}

Test(writer, takes_prefetched_blocks_and_keeps_them_for_their_reader)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	(void)cache_prefetch(rig.object, 0, MIB, MIB);
	fake_fetch_finish(0);
	cr_assert(fake_disk_wait_written(16));
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), 0);
	cr_assert(rig_right(&read));
	cr_assert_eq(fake_disk_reads(), 0);
	cache_read_release(&read.read);
	cr_assert(rig_wait_used(&rig, 0));
	rig_close(&rig, 1000);
}

Test(writer, a_damaged_block_alone_is_fetched_again)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	fake_disk_put(0, 16);
	fake_disk_damage(5);
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), -EINPROGRESS);
	cr_assert_eq(fake_fetch_count(), 1);
	cr_assert_eq(fake_fetch_offset(0), 5 * BLOCK_SIZE);
	cr_assert_eq(fake_fetch_length(0), BLOCK_SIZE);
	fake_fetch_finish(0);
	cr_assert(rig_right(&read));
	cr_assert(read.read.from_store);
	cache_read_release(&read.read);
	cr_assert(fake_disk_wait_written(1));
	rig_close(&rig, 1000);
}

Test(writer, only_what_the_disk_lacks_is_fetched)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	fake_disk_put(0, 4);
	fake_disk_put(6, 2);
	cr_assert_eq(rig_start(&rig, &read, 0, 8 * BLOCK_SIZE), -EINPROGRESS);
	cr_assert_eq(fake_fetch_count(), 1);
	cr_assert_eq(fake_fetch_offset(0), 4 * BLOCK_SIZE);
	cr_assert_eq(fake_fetch_length(0), 2 * BLOCK_SIZE);
	cr_assert_eq(fake_disk_reads(), 2);
	fake_fetch_finish(0);
	cr_assert(rig_right(&read));
	cache_read_release(&read.read);
	cr_assert_eq(cache_prefetch(rig.object, 0, 8 * BLOCK_SIZE, MIB),
			8 * BLOCK_SIZE);
	cr_assert_eq(fake_fetch_count(), 1);
	rig_close(&rig, 1000);
}

Test(writer, a_block_that_cannot_be_written_is_served_from_memory)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	fake_disk_fail_writes(-ENOSPC);
	rig_read_through(&rig, 0, MIB);
	while (counters_get(&rig.counters.cache_unwritten) < 16) {
		cr_assert(rig_wait_used(&rig, MIB));
	}
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), 0);
	cr_assert(rig_right(&read));
	cr_assert_eq(fake_fetch_count(), 1);
	cache_read_release(&read.read);
	rig_close(&rig, 1000);
}

Test(writer, that_falls_behind_loses_blocks_not_the_reader)
{
	struct rig rig;

	rig_open(&rig, 2 * MIB, 100 * MIB, true);
	fake_disk_hold();
	for (size_t i = 0; i < 8; i++) {
		rig_read_through(&rig, i * BLOCK_SIZE, BLOCK_SIZE);
	}
	cr_assert(fake_disk_wait_held());
	for (size_t i = 1; i < 10; i++) {
		rig_read_through(&rig, i * MIB, MIB);
	}
	cr_assert_gt(counters_get(&rig.counters.cache_unwritten), 0);
	fake_disk_release();
	cr_assert(rig_wait_used(&rig, 0));
	cr_assert_eq(counters_get(&rig.counters.cache_unwritten) +
					fake_disk_written(),
			8 + 9 * 16);
	rig_close(&rig, 1000);
}

Test(writer, leaves_alone_what_may_not_be_cached)
{
	struct rig rig;
	struct cache_object *object;
	struct object *version = rig_version("now", "", MIB);

	rig_open(&rig, 64 * MIB, MIB, true);
	size_t opens = fake_disk_opens();
	version->cacheable = false;
	cr_assert_eq(cache_open(rig.cache, version, &object), 0);
	cr_assert_eq(fake_disk_opens(), opens);
	(void)cache_prefetch(object, 0, MIB, MIB);
	fake_fetch_finish(0);
	cache_close(object);
	object_unref(version);
	rig_close(&rig, 1000);
	cr_assert_eq(fake_disk_writes(), 0);
}

Test(writer, finishes_before_the_deadline_of_the_end)
{
	struct rig rig;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	rig_read_through(&rig, 0, MIB);
	rig_close(&rig, 5000);
	cr_assert_eq(fake_disk_written(), 16);
	cr_assert_eq(counters_get(&rig.counters.cache_unwritten), 0);
	cr_assert(fake_disk_wait_closed());
}

Test(writer, drops_what_is_left_at_the_deadline)
{
	struct rig rig;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	rig_read_through(&rig, 0, MIB);
	rig_close(&rig, 0);
	cr_assert_eq(counters_get(&rig.counters.cache_unwritten) +
					fake_disk_written(),
			16);
	cr_assert(fake_disk_wait_closed());
}

Test(writer, closes_an_object_when_its_last_block_is_written)
{
	struct rig rig;

	rig_open(&rig, 64 * MIB, 100 * MIB, true);
	fake_disk_hold();
	rig_read_through(&rig, 0, MIB);
	cr_assert(fake_disk_wait_held());
	cache_close(rig.object);
	rig.object = NULL;
	cr_assert_eq(fake_disk_written(), 0);
	fake_disk_release();
	cr_assert(fake_disk_wait_closed());
	cr_assert_eq(fake_disk_written(), 16);
	rig_close(&rig, 1000);
}
