#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "filled_rig.h"

/* What others may do to the index: no wrong byte, and in the end a cache that
 * works. */

static struct filled_rig rig;

static void set_up(void)
{
	filled_rig_init(&rig);
}

static void tear_down(void)
{
	filled_rig_finish(&rig);
}

TestSuite(disk_index_damage, .init = set_up, .fini = tear_down);

static void index_path(char *out, size_t size)
{
	(void)snprintf(out, size, "%s/v1/index.sqlite", rig.disk.dir);
}

/* Opens again with the index as `damage` left it: empty, and working. */
static void expect_set_aside(void (*damage)(const char *path))
{
	char path[256];
	index_path(path, sizeof(path));
	filled_rig_close(&rig);
	damage(path);
	cr_assert_eq(disk_rig_open(&rig.disk), 0, "%s", rig.disk.message);
	cr_expect(disk_rig_exists(&rig.disk, "v1.bad-"));
	rig.object = disk_rig_object(&rig.disk, "a", FILLED_SIZE);
	cr_expect_eq(disk_object_bytes(rig.object), 0);
	filled_rig_expect_works(&rig);
	disk_object_close(rig.object);
	rig.object = NULL;
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(disk_tier_flush(rig.disk.tier), 0);
	}
	disk_rig_close(&rig.disk);
	cr_expect_eq(disk_rig_file_count(&rig.disk), 1,
			"the old ones are gone");
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
	cr_assert_eq(disk_rig_sql(&rig.disk, "PRAGMA user_version = 2"), 0);
}

static void make_foreign(const char *path)
{
	(void)path;
	cr_assert_eq(disk_rig_sql(&rig.disk, "PRAGMA application_id = 7"), 0);
}

static void drop_table(const char *path)
{
	(void)path;
	cr_assert_eq(disk_rig_sql(&rig.disk, "DROP TABLE chunk"), 0);
}

static void make_missing(const char *path)
{
	cr_assert_eq(unlink(path), 0);
}

Test(disk_index_damage, an_empty_index_is_set_aside)
{
	expect_set_aside(make_empty);
}

Test(disk_index_damage, garbage_for_an_index_is_set_aside)
{
	expect_set_aside(make_garbage);
}

Test(disk_index_damage, an_index_of_another_release_is_set_aside)
{
	expect_set_aside(make_future);
}

Test(disk_index_damage, an_index_of_another_program_is_set_aside)
{
	expect_set_aside(make_foreign);
}

Test(disk_index_damage, an_index_without_its_tables_is_set_aside)
{
	expect_set_aside(drop_table);
}

Test(disk_index_damage, objects_without_an_index_are_set_aside)
{
	expect_set_aside(make_missing);
}

Test(disk_index_damage, garbage_inside_the_index_is_never_a_wrong_byte)
{
	char path[256];
	index_path(path, sizeof(path));
	filled_rig_close(&rig);
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
		cr_assert_eq(disk_rig_open(&rig.disk), 0, "%s",
				rig.disk.message);
		rig.object = disk_rig_object(&rig.disk, "a", FILLED_SIZE);
		if (rig.object != NULL) {
			cr_expect_geq(disk_rig_check(rig.object, "a",
						      FILLED_SIZE),
					0);
			(void)disk_rig_write(rig.object, "a", FILLED_SIZE, 0,
					FILLED_BLOCKS);
			cr_expect_geq(disk_rig_check(rig.object, "a",
						      FILLED_SIZE),
					0);
			disk_object_close(rig.object);
		}
		rig.object = NULL;
		disk_rig_close(&rig.disk);
	}
	/* Whatever was found, in the end there is a cache again. */
	filled_rig_open(&rig);
	filled_rig_expect_works(&rig);
}

Test(disk_index_damage, reads_go_on_while_another_process_locks_the_index)
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
	cr_expect_eq(disk_rig_check(rig.object, "a", FILLED_SIZE),
			FILLED_BLOCKS);
	struct disk_object *other =
			disk_rig_object(&rig.disk, "b", FILLED_SIZE);
	cr_expect_not_null(other);
	cr_expect_neq(disk_rig_write(other, "b", FILLED_SIZE, 0, FILLED_BLOCKS),
			0);
	disk_object_close(other);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	clock_advance_ms(60000);
	other = disk_rig_object(&rig.disk, "b", FILLED_SIZE);
	cr_expect_eq(disk_rig_write(other, "b", FILLED_SIZE, 0, FILLED_BLOCKS),
			0);
	cr_expect_eq(disk_rig_check(other, "b", FILLED_SIZE), FILLED_BLOCKS);
	disk_object_close(other);
}
