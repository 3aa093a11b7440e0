#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "main/mount_check.h"

static char message[512];

Test(mount_check, descriptors_of_dev_fuse_are_known_by_their_form)
{
	cr_assert(mount_check_is_descriptor("/dev/fd/7"));
	cr_assert_not(mount_check_is_descriptor("/dev/fd/"));
	cr_assert_not(mount_check_is_descriptor("/dev/fd/7/x"));
	cr_assert_not(mount_check_is_descriptor("/mnt"));
	cr_assert_not(mount_check_is_descriptor("/d"));
}

Test(mount_check, the_number_of_a_descriptor_is_read)
{
	cr_expect_eq(mount_check_descriptor("/dev/fd/7"), 7);
	cr_expect_eq(mount_check_descriptor("/dev/fd/99999999999"), -1);
	cr_expect_eq(mount_check_descriptor("/mnt"), -1);
}

Test(mount_check, what_is_no_directory_is_refused_with_a_remedy)
{
	bool not_empty = false;

	cr_assert_eq(mount_check_directory("/no/such", &not_empty, message,
				     sizeof(message)),
			-ENOENT);
	cr_assert(strstr(message, "mkdir /no/such") != NULL, "%s", message);
	cr_assert_eq(mount_check_directory("/etc/passwd", &not_empty, message,
				     sizeof(message)),
			-ENOTDIR);
}

Test(mount_check, files_in_the_way_are_told)
{
	char dir[] = "/tmp/shardfs-check-XXXXXX";
	char file[64];
	bool not_empty = true;

	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(mount_check_directory(
				     dir, &not_empty, message, sizeof(message)),
			0);
	cr_assert_not(not_empty);
	(void)snprintf(file, sizeof(file), "%s/f", dir);
	int fd = open(file, O_CREAT | O_WRONLY, 0600);

	cr_assert_geq(fd, 0);
	(void)close(fd);
	cr_assert_eq(mount_check_directory(
				     dir, &not_empty, message, sizeof(message)),
			0);
	cr_assert(not_empty);
	(void)unlink(file);
	(void)rmdir(dir);
}

Test(mount_check, allow_other_needs_root_or_the_line)
{
	char path[] = "/tmp/shardfs-conf-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "#user_allow_other\n", 18), 18);
	cr_assert_eq(mount_check_allow_other(
				     false, path, message, sizeof(message)),
			-EPERM);
	cr_assert(strstr(message, "user_allow_other") != NULL);
	cr_assert_eq(mount_check_allow_other(
				     true, path, message, sizeof(message)),
			0);
	cr_assert_eq(write(fd, " user_allow_other \n", 19), 19);
	(void)close(fd);
	cr_assert_eq(mount_check_allow_other(
				     false, path, message, sizeof(message)),
			0);
	(void)unlink(path);
	cr_assert_eq(mount_check_allow_other(
				     false, path, message, sizeof(message)),
			-EPERM);
}

Test(mount_check, a_mount_over_its_own_source_is_refused)
{
	static const struct {
		const char *source, *mountpoint;
		int error;
	} rows[] = {
			{"file:///usr/lib", "/usr/lib", -ELOOP},
			{"file:///usr/lib/", "/usr/lib/x", -ELOOP},
			{"FILE:///usr/lib/../lib", "/usr", -ELOOP},
			{"file:///", "/mnt", -ELOOP},
			{"file:///usr/lib", "/usr/libexec", 0},
			{"file:///usr/lib", "/mnt", 0},
			{"file:///no/such", "/no/such", 0},
			{"s3://b/usr", "/usr", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(mount_check_source(rows[i].source,
					     rows[i].mountpoint, message,
					     sizeof(message)),
				rows[i].error, "row %zu", i);
	}
}
