#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "main/mountinfo.h"

static const char table[] =
		"21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
		"36 21 0:40 / /mnt/a\\040b rw shared:7 master:1 - fuse.shardfs "
		"s3://b/x\\040y ro\n"
		"37 21 0:41 / /mnt rw - tmpfs tmpfs rw\n"
		"38 37 0:42 / /mnt rw - fuse.shardfs s3://top ro\n"
		"39 21 0:43 / /mnt/back\\134slash\\011tab rw - fuse.x y rw\n"
		"40 21 bad line\n"
		"41 21 0:44 / /last rw - xfs z rw";

static int find(const char *path, bool inside, struct mountinfo *out_info)
{
	return mountinfo_find(table, path, inside, out_info);
}

Test(mountinfo, escapes_are_put_back)
{
	struct mountinfo info;

	cr_assert_eq(find("/mnt/a b", false, &info), 0);
	cr_assert_str_eq(info.mountpoint, "/mnt/a b");
	cr_assert_str_eq(info.type, "fuse.shardfs");
	cr_assert_str_eq(info.source, "s3://b/x y");
	mountinfo_finish(&info);
	cr_assert_eq(find("/mnt/back\\slash\ttab", false, &info), 0);
	cr_assert_str_eq(info.type, "fuse.x");
	mountinfo_finish(&info);
}

Test(mountinfo, the_later_mount_of_a_place_is_on_top)
{
	struct mountinfo info;

	cr_assert_eq(find("/mnt", false, &info), 0);
	cr_assert_str_eq(info.source, "s3://top");
	mountinfo_finish(&info);
}

Test(mountinfo, inside_finds_the_innermost)
{
	struct mountinfo info;

	cr_assert_eq(find("/mnt/a b/c/d", true, &info), 0);
	cr_assert_str_eq(info.mountpoint, "/mnt/a b");
	mountinfo_finish(&info);
	cr_assert_eq(find("/mnt/a bc", true, &info), 0);
	cr_assert_str_eq(info.mountpoint, "/mnt");
	mountinfo_finish(&info);
	cr_assert_eq(find("/usr", true, &info), 0);
	cr_assert_str_eq(info.mountpoint, "/");
	mountinfo_finish(&info);
	cr_assert_eq(find("/last", false, &info), 0);
	cr_assert_str_eq(info.type, "xfs");
	mountinfo_finish(&info);
}

Test(mountinfo, a_place_without_a_mount_is_not_found)
{
	struct mountinfo info;

	cr_assert_eq(find("/usr", false, &info), -ENOENT);
	cr_assert_eq(mountinfo_find("", "/", true, &info), -ENOENT);
}

static char *absolute(const char *path)
{
	char *result = NULL;

	return mountinfo_absolute(path, &result) == 0 ? result : NULL;
}

Test(mountinfo, paths_become_absolute_without_their_last_part)
{
	CLEANUP_FREE char *a = NULL;
	CLEANUP_FREE char *b = NULL;
	CLEANUP_FREE char *c = NULL;
	CLEANUP_FREE char *d = NULL;

	cr_assert_eq(chdir("/usr"), 0);
	a = absolute("no_such");
	cr_assert_str_eq(a, "/usr/no_such");
	b = absolute("/usr/./share/../no_such//");
	cr_assert_str_eq(b, "/usr/no_such");
	c = absolute(".");
	cr_assert_str_eq(c, "/usr");
	d = absolute("/");
	cr_assert_str_eq(d, "/");
	cr_assert_null(absolute("/no_such/dir/x"));
}

Test(mountinfo, links_are_followed_and_loops_end)
{
	char dir[] = "/tmp/shardfs-links-XXXXXX";
	CLEANUP_FREE char *got = NULL;

	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	cr_assert_eq(symlink("b", "a"), 0);
	cr_assert_eq(symlink("/usr", "b"), 0);
	cr_assert_eq(symlink("loop", "loop"), 0);
	got = absolute("a");
	cr_assert_str_eq(got, "/usr");
	cr_assert_null(absolute("loop"));
	(void)unlink("a");
	(void)unlink("b");
	(void)unlink("loop");
	(void)rmdir(dir);
}
