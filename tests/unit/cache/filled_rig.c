#include "filled_rig.h"

#include <criterion/criterion.h>

void filled_rig_init(struct filled_rig *rig)
{
	disk_rig_init(&rig->disk);
	filled_rig_open(rig);
	cr_assert_eq(disk_rig_write(rig->object, "a", FILLED_SIZE, 0,
				     FILLED_BLOCKS),
			0);
	cr_assert_eq(disk_tier_flush(rig->disk.tier), 0);
}

void filled_rig_finish(struct filled_rig *rig)
{
	disk_object_close(rig->object);
	disk_rig_finish(&rig->disk);
}

void filled_rig_close(struct filled_rig *rig)
{
	disk_object_close(rig->object);
	rig->object = NULL;
	disk_rig_close(&rig->disk);
}

void filled_rig_open(struct filled_rig *rig)
{
	cr_assert_eq(disk_rig_open(&rig->disk), 0, "%s", rig->disk.message);
	rig->object = disk_rig_object(&rig->disk, "a", FILLED_SIZE);
	cr_assert_not_null(rig->object);
}

void filled_rig_reopen(struct filled_rig *rig)
{
	filled_rig_close(rig);
	filled_rig_open(rig);
}

void filled_rig_expect_works(struct filled_rig *rig)
{
	cr_expect_eq(disk_rig_write(rig->object, "a", FILLED_SIZE, 0,
				     FILLED_BLOCKS),
			0);
	cr_expect_eq(disk_rig_check(rig->object, "a", FILLED_SIZE),
			FILLED_BLOCKS);
}
