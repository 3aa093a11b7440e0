#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "front/mountinfo_private.h"

static const char table[] =
		"21 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
		"36 27 98:1 / /mnt rw shared:1 - ext4 /dev/sda1 rw\n"
		"90 36 0:52 / /mnt/data ro,nosuid - fuse.shardfs "
		"s3://b/train ro,user_id=0\n"
		"91 36 0:53 / /mnt/my\\040data\\134x ro master:2 - "
		"fuse.shardfs s3://b/a\\040b ro\n"
		"92 36 0:54 / /mnt/old ro - fuse.shardfs s3://b/1 ro\n"
		"93 92 0:55 / /mnt/old rw - tmpfs tmpfs rw\n"
		"94 36 0:56 / /mnt/other ro - fuse.shardfsx s3://b/1 ro\n";

Test(mountinfo, finds_the_device_of_a_mount_point)
{
	struct mountinfo info;

	cr_assert_eq(mountinfo_find(table, "/mnt/data", &info), 0);
	cr_expect_eq(info.major, 0);
	cr_expect_eq(info.minor, 52);
	cr_expect(info.is_shardfs);
	cr_assert_eq(mountinfo_find(table, "/mnt", &info), 0);
	cr_expect_eq(info.major, 98);
	cr_expect_eq(info.minor, 1);
	cr_expect_not(info.is_shardfs);
}

Test(mountinfo, decodes_escaped_names)
{
	struct mountinfo info;

	cr_assert_eq(mountinfo_find(table, "/mnt/my data\\x", &info), 0);
	cr_expect_eq(info.minor, 53);
}

Test(mountinfo, takes_the_topmost_of_stacked_mounts)
{
	struct mountinfo info;

	cr_assert_eq(mountinfo_find(table, "/mnt/old", &info), 0);
	cr_expect_eq(info.minor, 55);
	cr_expect_not(info.is_shardfs);
}

Test(mountinfo, knows_its_own_type_exactly)
{
	struct mountinfo info;

	cr_assert_eq(mountinfo_find(table, "/mnt/other", &info), 0);
	cr_expect_not(info.is_shardfs);
}

Test(mountinfo, says_when_nothing_is_mounted_there)
{
	struct mountinfo info;

	cr_expect_eq(mountinfo_find(table, "/mnt/dat", &info), -ENOENT);
	cr_expect_eq(mountinfo_find(table, "/mnt/data/", &info), -ENOENT);
	cr_expect_eq(mountinfo_find("", "/mnt", &info), -ENOENT);
	cr_expect_eq(mountinfo_find("nonsense\n- \n1 2 3\n", "/mnt", &info),
			-ENOENT);
}

Test(mountinfo, reads_this_processes_own_table)
{
	struct mountinfo info;

	cr_expect_eq(mountinfo_read("/proc", &info), 0);
}

Test(mountinfo, a_target_must_be_a_directory_that_is_there)
{
	char message[256] = "";
	char file[] = "/tmp/shardfs-test-XXXXXX";
	int fd = mkstemp(file);

	cr_expect_eq(mountinfo_check_target("/tmp", message, sizeof(message)),
			0);
	cr_expect_eq(mountinfo_check_target("/nonexistent/x", message,
				     sizeof(message)),
			-ENOENT);
	cr_expect_not_null(strstr(message, "/nonexistent/x: "));
	cr_expect_not_null(strstr(message, "mkdir"));
	cr_expect_eq(mountinfo_check_target(file, message, sizeof(message)),
			-ENOTDIR);
	(void)close(fd);
	(void)unlink(file);
}
