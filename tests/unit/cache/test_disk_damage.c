#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filled_rig.h"

/* What others may do to a data file: no wrong byte, and never an error that a
 * reader sees as anything but "not here". */

static struct filled_rig rig;

static void set_up(void)
{
	filled_rig_init(&rig);
}

static void tear_down(void)
{
	filled_rig_finish(&rig);
}

TestSuite(disk_damage, .init = set_up, .fini = tear_down);

static const char *data_file(void)
{
	static char path[256];
	cr_assert(disk_rig_data_file(&rig.disk, path, sizeof(path)));
	return path;
}

static void flip_bit(const char *path, off_t offset)
{
	int fd = open(path, O_RDWR);
	char byte = 0;
	cr_assert_eq(pread(fd, &byte, 1, offset), 1);
	byte ^= 4;
	cr_assert_eq(pwrite(fd, &byte, 1, offset), 1);
	(void)close(fd);
}

Test(disk_damage, a_flipped_bit_costs_one_block)
{
	flip_bit(data_file(), 5 * (off_t)BLOCK_SIZE + 77);
	flip_bit(data_file(), FILLED_SIZE - 1);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS - 2);
	cr_expect_not(disk_object_has(rig.object, 5));
	cr_expect_not(disk_object_has(rig.object, FILLED_BLOCKS - 1));
	cr_expect_eq(counters_get(&rig.disk.counters.cache_damaged), 2);
	filled_rig_reopen(&rig);
	cr_expect_not(disk_object_has(rig.object, 5), "the index knows");
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS - 2);
	filled_rig_expect_works(&rig);
	filled_rig_reopen(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS);
}

Test(disk_damage, a_checked_block_is_checked_again_if_the_file_was_touched)
{
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS);
	filled_rig_reopen(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS);
	flip_bit(data_file(), 0);
	filled_rig_reopen(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS - 1);
}

Test(disk_damage, always_checks_each_read)
{
	rig.disk.settings.verify = DISK_VERIFY_ALWAYS;
	filled_rig_reopen(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS);
	flip_bit(data_file(), 0);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS - 1);
}

Test(disk_damage, a_cut_file_is_not_here_and_is_made_anew)
{
	cr_assert_eq(truncate(data_file(), RIG_MIB), 0);
	cr_expect_eq(disk_rig_read(rig.object, "a", FILLED_SIZE, 40, 2), -EIO);
	cr_expect_eq(disk_object_bytes(rig.object), 0);
	cr_assert_eq(disk_tier_flush(rig.disk.tier), 0);
	filled_rig_expect_works(&rig);
	filled_rig_reopen(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS);
}

Test(disk_damage, a_file_cut_while_closed_is_not_here)
{
	const char *path = data_file();
	filled_rig_close(&rig);
	cr_assert_eq(truncate(path, RIG_MIB), 0);
	filled_rig_open(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.disk.tier), 0);
	filled_rig_expect_works(&rig);
}

static void replace_while_closed(void (*replace)(const char *path))
{
	const char *path = data_file();
	filled_rig_close(&rig);
	cr_assert_eq(unlink(path), 0);
	replace(path);
	filled_rig_open(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.disk.tier), 0);
}

static void put_nothing(const char *path)
{
	(void)path;
}

static void put_directory(const char *path)
{
	cr_assert_eq(mkdir(path, 0755), 0);
}

static void put_link(const char *path)
{
	cr_assert_eq(symlink("/etc/passwd", path), 0);
}

static void put_pipe(const char *path)
{
	cr_assert_eq(mkfifo(path, 0600), 0);
}

static void put_zeros(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(ftruncate(fd, FILLED_SIZE), 0);
	cr_assert_eq(pwrite(fd, "", 1, 0), 1);
	(void)close(fd);
}

Test(disk_damage, a_missing_file_is_not_here_and_is_made_anew)
{
	replace_while_closed(put_nothing);
	filled_rig_expect_works(&rig);
}

Test(disk_damage, a_directory_in_its_place_is_left_alone)
{
	replace_while_closed(put_directory);
	cr_expect_neq(disk_rig_write(rig.object, "a", FILLED_SIZE, 0,
				      FILLED_BLOCKS),
			0);
	struct disk_object *other =
			disk_rig_object(&rig.disk, "b", FILLED_SIZE);
	cr_expect_eq(disk_rig_write(other, "b", FILLED_SIZE, 0, FILLED_BLOCKS),
			0);
	cr_expect_eq(disk_rig_check(other, "b", FILLED_SIZE), FILLED_BLOCKS);
	disk_object_close(other);
}

Test(disk_damage, a_link_in_its_place_is_not_followed)
{
	replace_while_closed(put_link);
	filled_rig_expect_works(&rig);
	struct stat status;
	cr_expect_eq(stat("/etc/passwd", &status), 0);
	cr_expect_neq(status.st_size, (off_t)FILLED_SIZE);
}

Test(disk_damage, a_pipe_in_its_place_blocks_nobody)
{
	replace_while_closed(put_pipe);
}

Test(disk_damage, another_file_in_its_place_is_found_out)
{
	replace_while_closed(put_zeros);
	cr_expect_eq(counters_get(&rig.disk.counters.cache_damaged),
			FILLED_BLOCKS);
	filled_rig_expect_works(&rig);
}

/* Nothing is checked; a file made anew must not bring the old rows back. */
Test(disk_damage, a_missing_file_is_not_taken_for_zeros_without_checks)
{
	rig.disk.settings.verify = DISK_VERIFY_NEVER;
	cr_assert_eq(unlink(data_file()), 0);
	filled_rig_reopen(&rig);
	(void)disk_rig_write(rig.object, "a", FILLED_SIZE, 5, 1);
	cr_expect_geq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.disk.tier), 0);
	filled_rig_reopen(&rig);
	cr_expect_geq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	filled_rig_expect_works(&rig);
}

Test(disk_damage, a_file_removed_under_an_open_object_gives_no_wrong_byte)
{
	cr_assert_eq(unlink(data_file()), 0);
	cr_expect_geq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	filled_rig_reopen(&rig);
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.disk.tier), 0);
	filled_rig_expect_works(&rig);
}
