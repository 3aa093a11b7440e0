#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "filled_rig.h"

/* What may become of the directory and its file system: no wrong byte, and
 * never an error that a reader sees as anything but "not here". */

static struct filled_rig rig;

static void set_up(void)
{
	filled_rig_init(&rig);
}

static void tear_down(void)
{
	filled_rig_finish(&rig);
}

TestSuite(disk_directory, .init = set_up, .fini = tear_down);

/* Runs "COMMAND DIR AFTER". */
static int shell(const char *command, const char *after)
{
	char line[512];
	(void)snprintf(line, sizeof(line), "%s %s%s", command, rig.disk.dir,
			after);
	return system(line);
}

Test(disk_directory, a_wiped_directory_turns_the_cache_off)
{
	cr_assert_eq(shell("rm -rf", "/*"), 0);
	(void)disk_rig_write(rig.object, "a", FILLED_SIZE, 0, 1);
	cr_expect_geq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	for (int i = 0; i < 100 && disk_object_has(rig.object, 0); i++) {
		(void)disk_tier_flush(rig.disk.tier);
		(void)usleep(10000);
	}
	cr_expect_not(disk_object_has(rig.object, 0));
	cr_expect_neq(disk_rig_write(rig.object, "a", FILLED_SIZE, 0,
				      FILLED_BLOCKS),
			0);
	filled_rig_reopen(&rig);
	cr_expect_eq(disk_object_bytes(rig.object), 0);
	filled_rig_expect_works(&rig);
}

Test(disk_directory, a_moved_directory_turns_the_cache_off)
{
	char moved[160];
	(void)snprintf(moved, sizeof(moved), "%s-moved", rig.disk.dir);
	cr_assert_eq(rename(rig.disk.dir, moved), 0);
	(void)disk_rig_write(rig.object, "a", FILLED_SIZE, 0, 1);
	cr_expect_geq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	for (int i = 0; i < 100 && disk_object_has(rig.object, 0); i++) {
		(void)disk_tier_flush(rig.disk.tier);
		(void)usleep(10000);
	}
	cr_expect_not(disk_object_has(rig.object, 0));
	cr_assert_eq(rename(moved, rig.disk.dir), 0);
}

Test(disk_directory, a_full_disk_is_no_error_and_filling_goes_on_later)
{
	filled_rig_close(&rig);
	if (shell("mount -t tmpfs -o size=24m tmpfs", " 2>&1") != 0) {
		cr_skip_test("mounting is not allowed here");
	}
	rig.disk.settings.limit_bytes = 1024 * RIG_MIB;
	cr_assert_eq(disk_rig_open(&rig.disk), 0, "%s", rig.disk.message);
	for (int i = 0; i < 12; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		struct disk_object *one =
				disk_rig_object(&rig.disk, key, 4 * RIG_MIB);
		int error = disk_rig_write(one, key, 4 * RIG_MIB, 0, 64);
		cr_expect(error == 0 || error == -ENOSPC, "%d", error);
		cr_expect_geq(disk_rig_check(one, key, 4 * RIG_MIB), 0);
		disk_object_close(one);
	}
	cr_expect_gt(counters_get(&rig.disk.counters.cache_evictions), 0,
			"a disk smaller than the limit is lived with");
	char ballast[256];
	(void)snprintf(ballast, sizeof(ballast), "%s/ballast", rig.disk.dir);
	int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	static char zeros[65536];
	while (write(fd, zeros, sizeof(zeros)) > 0) {
	}
	(void)close(fd);
	rig.object = disk_rig_object(&rig.disk, "a", FILLED_SIZE);
	(void)disk_rig_write(rig.object, "a", FILLED_SIZE, 0, FILLED_BLOCKS);
	cr_expect_geq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	cr_assert_eq(unlink(ballast), 0);
	clock_advance_ms(60000);
	filled_rig_expect_works(&rig);
	filled_rig_close(&rig);
	cr_expect_eq(shell("umount", ""), 0);
}

Test(disk_directory, a_file_system_short_of_files_keeps_some_for_others)
{
	filled_rig_close(&rig);
	if (shell("mount -t tmpfs -o size=64m,nr_inodes=600 tmpfs", " 2>&1") !=
			0) {
		cr_skip_test("mounting is not allowed here");
	}
	rig.disk.settings.min_free_percent = 10;
	cr_assert_eq(disk_rig_open(&rig.disk), 0, "%s", rig.disk.message);
	for (int i = 0; i < 1000; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		struct disk_object *one = disk_rig_object(&rig.disk, key, 100);
		cr_expect_eq(disk_rig_write(one, key, 100, 0, 1), 0, "%d", i);
		disk_object_close(one);
	}
	struct statvfs status;
	cr_assert_eq(statvfs(rig.disk.dir, &status), 0);
	cr_expect_geq(status.f_favail, 55);
	cr_expect_gt(disk_rig_file_count(&rig.disk), 100);
	disk_rig_close(&rig.disk);
	cr_expect_eq(shell("umount", ""), 0);
}
