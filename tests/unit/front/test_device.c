#include <criterion/criterion.h>
#include <errno.h>

#include "front/device_private.h"

static const char table[] =
		"21 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
		"36 27 98:1 / /mnt rw shared:1 - ext4 /dev/sda1 rw\n"
		"90 36 0:52 / /mnt/data ro,nosuid - fuse.shardfs "
		"s3://b/train ro,user_id=0\n"
		"91 36 0:53 / /mnt/my\\040data\\134x ro master:2 - "
		"fuse.shardfs s3://b/a\\040b ro\n"
		"92 36 0:54 / /mnt/old ro - fuse.shardfs s3://b/1 ro\n"
		"93 92 0:55 / /mnt/old rw - tmpfs tmpfs rw\n";

Test(device, finds_the_device_of_a_mount_point)
{
	struct device device;

	cr_assert_eq(device_find(table, "/mnt/data", &device), 0);
	cr_expect_eq(device.major, 0);
	cr_expect_eq(device.minor, 52);
	cr_assert_eq(device_find(table, "/mnt", &device), 0);
	cr_expect_eq(device.major, 98);
	cr_expect_eq(device.minor, 1);
}

Test(device, decodes_escaped_names)
{
	struct device device;

	cr_assert_eq(device_find(table, "/mnt/my data\\x", &device), 0);
	cr_expect_eq(device.minor, 53);
}

Test(device, takes_the_topmost_of_stacked_mounts)
{
	struct device device;

	cr_assert_eq(device_find(table, "/mnt/old", &device), 0);
	cr_expect_eq(device.minor, 55);
}

Test(device, says_when_nothing_is_mounted_there)
{
	struct device device;

	cr_expect_eq(device_find(table, "/mnt/dat", &device), -ENOENT);
	cr_expect_eq(device_find(table, "/mnt/data/", &device), -ENOENT);
	cr_expect_eq(device_find("", "/mnt", &device), -ENOENT);
	cr_expect_eq(device_find("nonsense\n- \n1 2 3\n", "/mnt", &device),
			-ENOENT);
}

Test(device, reads_this_processes_own_table)
{
	struct device device;

	cr_expect_eq(device_read("/proc", &device), 0);
}
