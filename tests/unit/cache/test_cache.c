#include <criterion/criterion.h>
#include <errno.h>

#include "fake_disk.h"
#include "fake_fetch.h"
#include "rig.h"

static bool same(struct rig *rig, struct object *a, struct object *b)
{
	struct cache_object *one;
	struct cache_object *two;

	cr_assert_eq(cache_open(rig->cache, a, &one), 0);
	cr_assert_eq(cache_open(rig->cache, b, &two), 0);
	bool equal = one == two;
	cache_close(one);
	cache_close(two);
	return equal;
}

Test(cache, one_version_is_one_object_however_often_it_is_opened)
{
	struct rig rig;
	struct object *a = rig_version("a", "\"1\"", MIB);
	struct object *twin = rig_version("a", "\"1\"", MIB);
	struct object *changed = rig_version("a", "\"2\"", MIB);
	struct object *longer = rig_version("a", "\"1\"", 2 * MIB);
	struct object *other = rig_version("b", "\"1\"", MIB);

	rig_open(&rig, 16 * MIB, MIB, false);
	cr_assert(same(&rig, a, a));
	cr_assert(same(&rig, a, twin));
	cr_assert_not(same(&rig, a, changed));
	cr_assert_not(same(&rig, a, longer));
	cr_assert_not(same(&rig, a, other));
	a->cacheable = twin->cacheable = false;
	cr_assert(same(&rig, a, a));
	cr_assert_not(same(&rig, a, twin));
	rig_close(&rig, 0);
	object_unref(a);
	object_unref(twin);
	object_unref(changed);
	object_unref(longer);
	object_unref(other);
}

Test(cache, without_a_disk_memory_outlives_the_close)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, false);
	rig_read_through(&rig, 0, MIB);
	cache_close(rig.object);
	cr_assert_eq(cache_open(rig.cache, rig.version, &rig.object), 0);
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), 0);
	cr_assert(rig_right(&read));
	cache_read_release(&read.read);
	cr_assert_eq(fake_fetch_count(), 1);
	rig_close(&rig, 0);
}

Test(cache, lives_on_after_close_until_its_requests_end)
{
	struct rig rig;

	rig_open(&rig, 16 * MIB, 10 * MIB, true);
	(void)cache_prefetch(rig.object, 0, MIB, MIB);
	cache_close(rig.object);
	rig.object = NULL;
	cr_assert(fake_fetch_canceled(0));
	/* It was under way and comes all the same: it was paid for. */
	fake_fetch_finish(0);
	cr_assert(fake_disk_wait_written(16));
	cr_assert(fake_disk_wait_closed());
	rig_close(&rig, 1000);
}

Test(cache, may_be_closed_before_a_read_is_released)
{
	struct rig rig;
	struct rig_read read;

	rig_open(&rig, 16 * MIB, 10 * MIB, true);
	cr_assert_eq(rig_start(&rig, &read, 0, MIB), -EINPROGRESS);
	fake_fetch_end(0, -EIO);
	cr_assert_eq(read.read.error, -EIO);
	cache_close(rig.object);
	rig.object = NULL;
	cache_read_release(&read.read);
	cr_assert(fake_disk_wait_closed());
	rig_close(&rig, 1000);
}

Test(cache, opens_the_disk_object_once_at_a_time)
{
	struct rig rig;
	struct cache_object *objects[10];

	rig_open(&rig, 16 * MIB, 10 * MIB, true);
	for (size_t i = 0; i < 10; i++) {
		cr_assert_eq(cache_open(rig.cache, rig.version, &objects[i]),
				0);
		cr_assert_eq(objects[i], rig.object);
	}
	cr_assert_eq(fake_disk_opens(), 1);
	for (size_t i = 0; i < 10; i++) {
		cache_close(objects[i]);
	}
	fake_disk_put(0, 3);
	cr_assert_eq(cache_object_disk_bytes(rig.object), 3 * BLOCK_SIZE);
	cr_assert_eq(cache_object_version(rig.object), rig.version);
	rig_close(&rig, 1000);
}

Test(cache, is_not_made_without_memory)
{
	struct counters counters = {.inodes = 0};
	struct cache *cache;
	struct cache_settings settings = {
			.counters = &counters,
			.memory_bytes = 0,
	};

	cr_assert_eq(cache_create(&settings, &cache), -EINVAL);
}
