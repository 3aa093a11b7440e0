#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/disk_fs_private.h"
#include "cache/disk_place_private.h"
#include "disk_rig.h"

/* Which directory is used, and which is refused. */

static struct disk_rig rig;

static void set_up(void)
{
	disk_rig_init(&rig);
}

static void tear_down(void)
{
	disk_rig_finish(&rig);
}

TestSuite(disk_place, .init = set_up, .fini = tear_down);

static const char *inside(const char *name)
{
	static char path[2][256];
	static int turn;
	turn = !turn;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", rig.dir, name);
	return path[turn];
}

static int mode_of(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 ? (int)(status.st_mode & 07777) : -1;
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	cr_assert_geq(fd, 0);
	(void)close(fd);
}

Test(disk_place, a_missing_directory_is_made)
{
	rig.settings.dir = inside("new/");
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_eq(mode_of(inside("new")), 0700);
	cr_expect_eq(mode_of(inside("new/v1/index.sqlite")), 0600);
	cr_expect_str_eq(disk_tier_dir(rig.tier), inside("new"));
}

Test(disk_place, only_its_last_component_is_made)
{
	rig.settings.dir = inside("no/such");
	cr_expect_eq(disk_rig_open(&rig), -ENOENT);
	cr_expect_neq(strstr(rig.message, "/no/such"), NULL);
	cr_expect_neq(strstr(rig.message, "cache_dir"), NULL);
}

Test(disk_place, an_empty_directory_is_adopted_and_closed_to_others)
{
	(void)chmod(rig.dir, 0755);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_eq(mode_of(rig.dir), 0700);
	cr_expect_eq(mode_of(inside("v1")), 0700);
}

Test(disk_place, a_directory_with_other_things_is_not_touched)
{
	make_file(inside("precious.txt"));
	(void)chmod(rig.dir, 0755);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_eq(mode_of(rig.dir), 0755);
	cr_expect_str_eq(disk_tier_dir(rig.tier), inside("shardfs"));
	cr_expect_eq(mode_of(inside("shardfs")), 0700);
	cr_expect_eq(access(inside("v1"), F_OK), -1);
	disk_rig_close(&rig);
	cr_assert_eq(disk_rig_open(&rig), 0, "the second time too");
	cr_expect_str_eq(disk_tier_dir(rig.tier), inside("shardfs"));
	cr_expect_eq(mode_of(inside("precious.txt")), 0644);
}

Test(disk_place, things_put_beside_a_cache_do_not_move_it)
{
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	disk_rig_close(&rig);
	make_file(inside("precious.txt"));
	make_file(inside("v1/objects/precious.txt"));
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_str_eq(disk_tier_dir(rig.tier), rig.dir);
	for (int i = 0; i < 12; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		struct disk_object *object =
				disk_rig_object(&rig, key, 4 * RIG_MIB);
		cr_expect_eq(disk_rig_write(object, key, 4 * RIG_MIB, 0, 64),
				0);
		disk_object_close(object);
	}
	cr_expect_gt(counters_get(&rig.counters.cache_evictions), 0);
	cr_expect_eq(access(inside("precious.txt"), F_OK), 0);
	cr_expect_eq(access(inside("v1/objects/precious.txt"), F_OK), 0);
}

Test(disk_place, precious_files_survive_an_index_set_aside)
{
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	struct disk_object *object = disk_rig_object(&rig, "a", RIG_MIB);
	cr_assert_eq(disk_rig_write(object, "a", RIG_MIB, 0, 16), 0);
	disk_object_close(object);
	disk_rig_close(&rig);
	make_file(inside("v1/objects/precious.txt"));
	cr_assert_eq(truncate(inside("v1/index.sqlite"), 0), 0);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	for (int i = 0; i < 50 && disk_rig_file_count(&rig) > 0; i++) {
		(void)usleep(20000);
	}
	cr_expect_eq(disk_rig_file_count(&rig), 0, "data files are removed");
	char command[256];
	(void)snprintf(command, sizeof(command),
			"find %s -name precious.txt | grep -q precious",
			rig.dir);
	cr_expect_eq(system(command), 0);
}

Test(disk_place, a_cache_killed_while_it_was_made_is_taken_up)
{
	make_file(inside("lock"));
	cr_assert_eq(mkdir(inside("v1.new"), 0700), 0);
	(void)unlink(inside("lock"));
	make_file(inside("lock"));
	int fd = open(inside("lock"), O_WRONLY);
	cr_assert_eq(write(fd, DISK_PLACE_MARK, strlen(DISK_PLACE_MARK)),
			(ssize_t)strlen(DISK_PLACE_MARK));
	(void)close(fd);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_str_eq(disk_tier_dir(rig.tier), rig.dir);
	cr_expect_not(disk_rig_exists(&rig, "v1.new"));
}

Test(disk_place, a_lock_without_its_mark_is_taken_up)
{
	make_file(inside("lock"));
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_str_eq(disk_tier_dir(rig.tier), rig.dir);
}

Test(disk_place, a_link_is_refused)
{
	cr_assert_eq(mkdir(inside("real"), 0700), 0);
	cr_assert_eq(symlink("real", inside("link")), 0);
	cr_assert_eq(symlink("nowhere", inside("dangling")), 0);
	static const char *const names[] = {"link", "link/", "dangling"};
	for (size_t i = 0; i < 3; i++) {
		rig.settings.dir = inside(names[i]);
		cr_expect_eq(disk_rig_open(&rig), -ELOOP, "%s", names[i]);
		cr_expect_neq(strstr(rig.message, "link"), NULL);
	}
	cr_expect_eq(access(inside("nowhere"), F_OK), -1);
}

Test(disk_place, a_link_on_the_way_is_fine)
{
	cr_assert_eq(mkdir(inside("real"), 0700), 0);
	cr_assert_eq(symlink("real", inside("link")), 0);
	rig.settings.dir = inside("link/cache");
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_str_eq(disk_tier_dir(rig.tier), inside("real/cache"));
}

Test(disk_place, a_file_is_refused)
{
	make_file(inside("file"));
	rig.settings.dir = inside("file");
	cr_expect_eq(disk_rig_open(&rig), -ENOTDIR);
}

Test(disk_place, a_directory_of_another_user_is_refused)
{
	cr_assert_eq(mkdir(inside("theirs"), 0777), 0);
	if (chown(inside("theirs"), 12345, 12345) != 0) {
		cr_skip_test("only root can give files away");
	}
	rig.settings.dir = inside("theirs");
	cr_expect_eq(disk_rig_open(&rig), -EPERM);
	cr_expect_neq(strstr(rig.message, "another user"), NULL);
}

Test(disk_place, a_directory_that_cannot_be_written_is_refused)
{
	if (geteuid() != 0) {
		cr_skip_test("needs another user");
	}
	cr_assert_eq(mkdir(inside("closed"), 0555), 0);
	cr_assert_eq(chown(inside("closed"), 12345, 12345), 0);
	(void)chmod(rig.dir, 0755);
	pid_t child = fork();
	if (child == 0) {
		_exit(setuid(12345) == 0 ? 0 : 1);
	}
	int status = 0;
	(void)waitpid(child, &status, 0);
	child = fork();
	if (child == 0) {
		rig.settings.dir = inside("closed");
		bool told = setuid(12345) == 0 &&
			    disk_rig_open(&rig) == -EACCES &&
			    strstr(rig.message, "closed") != NULL;
		_exit(told ? 0 : 1);
	}
	(void)waitpid(child, &status, 0);
	cr_expect_eq(status, 0);
}

Test(disk_place, network_file_systems_are_known_by_number)
{
	cr_expect_str_eq(disk_fs_network_name(0x6969), "NFS");
	cr_expect_str_eq(disk_fs_network_name(0xff534d42), "CIFS");
	cr_expect_null(disk_fs_network_name(0xef53), "ext4");
	cr_expect_null(disk_fs_network_name(0x01021994), "tmpfs");
	cr_expect(disk_fs_is_memory(0x01021994));
	cr_expect_not(disk_fs_is_memory(0xef53));
}

Test(disk_place, a_default_in_memory_is_poor_and_a_named_one_is_not)
{
	cr_expect(disk_place_is_poor(rig.dir), "it is on tmpfs");
	cr_expect(disk_place_is_poor(inside("missing")), "so is its parent");
	cr_expect_eq(disk_rig_open(&rig), 0, "named, it is accepted");
}

Test(disk_place, another_user_of_the_directory_sees_no_half_made_index)
{
	/* Eight processes begin at once on an empty directory. */
	pid_t children[8];
	for (int i = 0; i < 8; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			int error = disk_rig_open(&rig);
			disk_rig_close(&rig);
			_exit(error == 0 ? 0 : 1);
		}
	}
	for (int i = 0; i < 8; i++) {
		int status = -1;
		(void)waitpid(children[i], &status, 0);
		cr_expect_eq(status, 0);
	}
	cr_expect_not(disk_rig_exists(&rig, "v1.bad-"));
	cr_expect_not(disk_rig_exists(&rig, "shardfs"));
}
