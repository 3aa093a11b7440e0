#include <criterion/criterion.h>
#include <errno.h>

#include "fake_fetch.h"
#include "rig.h"

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
