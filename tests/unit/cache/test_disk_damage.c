#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "disk_rig.h"

/* What others may do to the cache: no wrong byte, and never an error that a
 * reader sees as anything but "not here". */

#define SIZE (3 * RIG_MIB + 100)
#define BLOCKS 49

static struct disk_rig rig;
static struct disk_object *object;

static void set_up(void)
{
	disk_rig_init(&rig);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	object = disk_rig_object(&rig, "a", SIZE);
	cr_assert_eq(disk_rig_write(object, "a", SIZE, 0, BLOCKS), 0);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
}

static void tear_down(void)
{
	disk_object_close(object);
	disk_rig_finish(&rig);
}

TestSuite(disk_damage, .init = set_up, .fini = tear_down);

static void reopen(void)
{
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	object = disk_rig_object(&rig, "a", SIZE);
	cr_assert_not_null(object);
}

static const char *data_file(void)
{
	static char path[256];
	cr_assert(disk_rig_data_file(&rig, path, sizeof(path)));
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

/* All of it can be stored and read again. */
static void expect_works(void)
{
	cr_expect_eq(disk_rig_write(object, "a", SIZE, 0, BLOCKS), 0);
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS);
}

Test(disk_damage, a_flipped_bit_costs_one_block)
{
	flip_bit(data_file(), 5 * (off_t)BLOCK_SIZE + 77);
	flip_bit(data_file(), SIZE - 1);
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS - 2);
	cr_expect_not(disk_object_has(object, 5));
	cr_expect_not(disk_object_has(object, BLOCKS - 1));
	cr_expect_eq(counters_get(&rig.counters.cache_damaged), 2);
	reopen();
	cr_expect_not(disk_object_has(object, 5), "the index knows");
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS - 2);
	expect_works();
	reopen();
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS);
}

Test(disk_damage, a_checked_block_is_checked_again_if_the_file_was_touched)
{
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS);
	reopen();
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS);
	flip_bit(data_file(), 0);
	reopen();
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS - 1);
}

Test(disk_damage, always_checks_each_read)
{
	rig.settings.verify = DISK_VERIFY_ALWAYS;
	reopen();
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS);
	flip_bit(data_file(), 0);
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS - 1);
}

Test(disk_damage, a_cut_file_is_not_here_and_is_made_anew)
{
	cr_assert_eq(truncate(data_file(), RIG_MIB), 0);
	cr_expect_eq(disk_rig_read(object, "a", SIZE, 40, 2), -EIO);
	cr_expect_eq(disk_object_bytes(object), 0);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	expect_works();
	reopen();
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS);
}

Test(disk_damage, a_file_cut_while_closed_is_not_here)
{
	const char *path = data_file();
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	cr_assert_eq(truncate(path, RIG_MIB), 0);
	cr_assert_eq(disk_rig_open(&rig), 0);
	object = disk_rig_object(&rig, "a", SIZE);
	cr_expect_eq(disk_rig_check(object, "a", SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	expect_works();
}

static void replace_while_closed(void (*replace)(const char *path))
{
	const char *path = data_file();
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	cr_assert_eq(unlink(path), 0);
	replace(path);
	cr_assert_eq(disk_rig_open(&rig), 0);
	object = disk_rig_object(&rig, "a", SIZE);
	cr_expect_eq(disk_rig_check(object, "a", SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
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
	cr_assert_eq(ftruncate(fd, SIZE), 0);
	cr_assert_eq(pwrite(fd, "", 1, 0), 1);
	(void)close(fd);
}

Test(disk_damage, a_missing_file_is_not_here_and_is_made_anew)
{
	replace_while_closed(put_nothing);
	expect_works();
}

Test(disk_damage, a_directory_in_its_place_is_left_alone)
{
	replace_while_closed(put_directory);
	cr_expect_neq(disk_rig_write(object, "a", SIZE, 0, BLOCKS), 0);
	struct disk_object *other = disk_rig_object(&rig, "b", SIZE);
	cr_expect_eq(disk_rig_write(other, "b", SIZE, 0, BLOCKS), 0);
	cr_expect_eq(disk_rig_check(other, "b", SIZE), BLOCKS);
	disk_object_close(other);
}

Test(disk_damage, a_link_in_its_place_is_not_followed)
{
	replace_while_closed(put_link);
	expect_works();
	struct stat status;
	cr_expect_eq(stat("/etc/passwd", &status), 0);
	cr_expect_neq(status.st_size, (off_t)SIZE);
}

Test(disk_damage, a_pipe_in_its_place_blocks_nobody)
{
	replace_while_closed(put_pipe);
}

Test(disk_damage, another_file_in_its_place_is_found_out)
{
	replace_while_closed(put_zeros);
	cr_expect_eq(counters_get(&rig.counters.cache_damaged), BLOCKS);
	expect_works();
}

/* Nothing is checked; a file made anew must not bring the old rows back. */
Test(disk_damage, a_missing_file_is_not_taken_for_zeros_without_checks)
{
	rig.settings.verify = DISK_VERIFY_NEVER;
	cr_assert_eq(unlink(data_file()), 0);
	reopen();
	(void)disk_rig_write(object, "a", SIZE, 5, 1);
	cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	reopen();
	cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
	expect_works();
}

Test(disk_damage, a_file_removed_under_an_open_object_gives_no_wrong_byte)
{
	cr_assert_eq(unlink(data_file()), 0);
	cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
	reopen();
	cr_expect_eq(disk_rig_check(object, "a", SIZE), 0);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	expect_works();
}

static void index_path(char *out, size_t size)
{
	(void)snprintf(out, size, "%s/v1/index.sqlite", rig.dir);
}

/* Opens again with the index as `damage` left it: empty, and working. */
static void expect_set_aside(void (*damage)(const char *path))
{
	char path[256];
	index_path(path, sizeof(path));
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	damage(path);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect(disk_rig_exists(&rig, "v1.bad-"));
	object = disk_rig_object(&rig, "a", SIZE);
	cr_expect_eq(disk_object_bytes(object), 0);
	expect_works();
	disk_object_close(object);
	object = NULL;
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(disk_tier_flush(rig.tier), 0);
	}
	disk_rig_close(&rig);
	cr_expect_eq(disk_rig_file_count(&rig), 1, "the old ones are gone");
}

static void make_empty(const char *path)
{
	cr_assert_eq(truncate(path, 0), 0);
}

static void make_garbage(const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	for (int i = 0; i < 4096; i++) {
		cr_assert_eq(write(fd, "shardfs?", 8), 8);
	}
	(void)close(fd);
}

static void make_future(const char *path)
{
	(void)path;
	cr_assert_eq(disk_rig_sql(&rig, "PRAGMA user_version = 2"), 0);
}

static void make_foreign(const char *path)
{
	(void)path;
	cr_assert_eq(disk_rig_sql(&rig, "PRAGMA application_id = 7"), 0);
}

static void drop_table(const char *path)
{
	(void)path;
	cr_assert_eq(disk_rig_sql(&rig, "DROP TABLE chunk"), 0);
}

static void make_missing(const char *path)
{
	cr_assert_eq(unlink(path), 0);
}

Test(disk_damage, an_empty_index_is_set_aside)
{
	expect_set_aside(make_empty);
}

Test(disk_damage, garbage_for_an_index_is_set_aside)
{
	expect_set_aside(make_garbage);
}

Test(disk_damage, an_index_of_another_release_is_set_aside)
{
	expect_set_aside(make_future);
}

Test(disk_damage, an_index_of_another_program_is_set_aside)
{
	expect_set_aside(make_foreign);
}

Test(disk_damage, an_index_without_its_tables_is_set_aside)
{
	expect_set_aside(drop_table);
}

Test(disk_damage, objects_without_an_index_are_set_aside)
{
	expect_set_aside(make_missing);
}

Test(disk_damage, garbage_inside_the_index_is_never_a_wrong_byte)
{
	char path[256];
	index_path(path, sizeof(path));
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	struct stat status;
	cr_assert_eq(stat(path, &status), 0);
	char garbage[4096];
	memset(garbage, 0xa5, sizeof(garbage));
	for (off_t at = 4096; at < status.st_size; at += 4096) {
		int fd = open(path, O_RDWR);
		char saved[4096];
		cr_assert_eq(pread(fd, saved, 4096, at), 4096);
		cr_assert_eq(pwrite(fd, garbage, 4096, at), 4096);
		(void)close(fd);
		cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
		object = disk_rig_object(&rig, "a", SIZE);
		if (object != NULL) {
			cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
			(void)disk_rig_write(object, "a", SIZE, 0, BLOCKS);
			cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
			disk_object_close(object);
		}
		object = NULL;
		disk_rig_close(&rig);
	}
	/* Whatever was found, in the end there is a cache again. */
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	object = disk_rig_object(&rig, "a", SIZE);
	expect_works();
}

Test(disk_damage, reads_go_on_while_another_process_locks_the_index)
{
	char path[256];
	index_path(path, sizeof(path));
	int ready[2];
	cr_assert_eq(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		sqlite3 *database = NULL;
		(void)sqlite3_open_v2(
				path, &database, SQLITE_OPEN_READWRITE, NULL);
		int result = sqlite3_exec(
				database, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
		(void)!write(ready[1], &result, sizeof(result));
		pause();
		_exit(0);
	}
	int result = -1;
	cr_assert_eq(read(ready[0], &result, sizeof(result)),
			(ssize_t)sizeof(result));
	cr_assert_eq(result, SQLITE_OK);
	cr_expect_eq(disk_rig_check(object, "a", SIZE), BLOCKS);
	struct disk_object *other = disk_rig_object(&rig, "b", SIZE);
	cr_expect_not_null(other);
	cr_expect_neq(disk_rig_write(other, "b", SIZE, 0, BLOCKS), 0);
	disk_object_close(other);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	clock_advance_ms(60000);
	other = disk_rig_object(&rig, "b", SIZE);
	cr_expect_eq(disk_rig_write(other, "b", SIZE, 0, BLOCKS), 0);
	cr_expect_eq(disk_rig_check(other, "b", SIZE), BLOCKS);
	disk_object_close(other);
}

/* Runs "COMMAND DIR AFTER". */
static int shell(const char *command, const char *after)
{
	char line[512];
	(void)snprintf(line, sizeof(line), "%s %s%s", command, rig.dir, after);
	return system(line);
}

Test(disk_damage, a_wiped_directory_turns_the_cache_off)
{
	cr_assert_eq(shell("rm -rf", "/*"), 0);
	(void)disk_rig_write(object, "a", SIZE, 0, 1);
	cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
	for (int i = 0; i < 100 && disk_object_has(object, 0); i++) {
		(void)disk_tier_flush(rig.tier);
		(void)usleep(10000);
	}
	cr_expect_not(disk_object_has(object, 0));
	cr_expect_neq(disk_rig_write(object, "a", SIZE, 0, BLOCKS), 0);
	reopen();
	cr_expect_eq(disk_object_bytes(object), 0);
	expect_works();
}

Test(disk_damage, a_moved_directory_turns_the_cache_off)
{
	char moved[160];
	(void)snprintf(moved, sizeof(moved), "%s-moved", rig.dir);
	cr_assert_eq(rename(rig.dir, moved), 0);
	(void)disk_rig_write(object, "a", SIZE, 0, 1);
	cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
	for (int i = 0; i < 100 && disk_object_has(object, 0); i++) {
		(void)disk_tier_flush(rig.tier);
		(void)usleep(10000);
	}
	cr_expect_not(disk_object_has(object, 0));
	cr_assert_eq(rename(moved, rig.dir), 0);
}

Test(disk_damage, a_full_disk_is_no_error_and_filling_goes_on_later)
{
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	if (shell("mount -t tmpfs -o size=24m tmpfs", " 2>&1") != 0) {
		cr_skip_test("mounting is not allowed here");
	}
	rig.settings.limit_bytes = 1024 * RIG_MIB;
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	for (int i = 0; i < 12; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		struct disk_object *one =
				disk_rig_object(&rig, key, 4 * RIG_MIB);
		int error = disk_rig_write(one, key, 4 * RIG_MIB, 0, 64);
		cr_expect(error == 0 || error == -ENOSPC, "%d", error);
		cr_expect_geq(disk_rig_check(one, key, 4 * RIG_MIB), 0);
		disk_object_close(one);
	}
	cr_expect_gt(counters_get(&rig.counters.cache_evictions), 0,
			"a disk smaller than the limit is lived with");
	char ballast[256];
	(void)snprintf(ballast, sizeof(ballast), "%s/ballast", rig.dir);
	int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	static char zeros[65536];
	while (write(fd, zeros, sizeof(zeros)) > 0) {
	}
	(void)close(fd);
	object = disk_rig_object(&rig, "a", SIZE);
	(void)disk_rig_write(object, "a", SIZE, 0, BLOCKS);
	cr_expect_geq(disk_rig_check(object, "a", SIZE), 0);
	cr_assert_eq(unlink(ballast), 0);
	clock_advance_ms(60000);
	expect_works();
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	cr_expect_eq(shell("umount", ""), 0);
}

Test(disk_damage, a_file_system_short_of_files_keeps_some_for_others)
{
	disk_object_close(object);
	object = NULL;
	disk_rig_close(&rig);
	if (shell("mount -t tmpfs -o size=64m,nr_inodes=600 tmpfs", " 2>&1") !=
			0) {
		cr_skip_test("mounting is not allowed here");
	}
	rig.settings.min_free_percent = 10;
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	for (int i = 0; i < 1000; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		struct disk_object *one = disk_rig_object(&rig, key, 100);
		cr_expect_eq(disk_rig_write(one, key, 100, 0, 1), 0, "%d", i);
		disk_object_close(one);
	}
	struct statvfs status;
	cr_assert_eq(statvfs(rig.dir, &status), 0);
	cr_expect_geq(status.f_favail, 55);
	cr_expect_gt(disk_rig_file_count(&rig), 100);
	disk_rig_close(&rig);
	cr_expect_eq(shell("umount", ""), 0);
}
