#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "main/env_file.h"

static char message[512];
static char path[] = "/tmp/shardfs-env-XXXXXX";

static int load(const char *text, mode_t mode)
{
	char name[sizeof(path)];

	memcpy(name, path, sizeof(path));
	int fd = mkstemp(name);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	cr_assert_eq(fchmod(fd, mode), 0);
	(void)close(fd);
	message[0] = '\0';
	int error = env_file_load(name, message, sizeof(message));

	(void)unlink(name);
	return error;
}

Test(env_file, lines_win_over_the_environment)
{
	(void)setenv("AWS_PROFILE", "old", 1);
	cr_assert_eq(load("# keys\n"
			  "AWS_PROFILE=new\n"
			  "export AWS_SECRET_ACCESS_KEY='a=b#c'\n"
			  "AZURE_STORAGE_KEY=\"x y\"\n"
			  "https_proxy = http://p:1\n"
			  "GOOGLE_APPLICATION_CREDENTIALS=/f\n",
				     0600),
			0, "%s", message);
	cr_assert_str_eq(getenv("AWS_PROFILE"), "new");
	cr_assert_str_eq(getenv("AWS_SECRET_ACCESS_KEY"), "a=b#c");
	cr_assert_str_eq(getenv("AZURE_STORAGE_KEY"), "x y");
	cr_assert_str_eq(getenv("https_proxy"), "http://p:1");
}

Test(env_file, a_file_that_others_can_read_is_refused)
{
	cr_assert_eq(load("AWS_PROFILE=x\n", 0604), -EPERM);
	cr_assert(strstr(message, "chmod") != NULL, "%s", message);
	cr_assert_eq(load("AWS_PROFILE=x\n", 0640), 0);
}

Test(env_file, bad_lines_are_refused_without_their_text)
{
	cr_assert_eq(load("AWS_A=1\nsecret text\n", 0600), -EINVAL);
	cr_assert(strstr(message, "line 2") != NULL, "%s", message);
	cr_assert(strstr(message, "secret") == NULL, "%s", message);
	cr_assert_eq(load("LD_PRELOAD=/x\n", 0600), -EINVAL);
	cr_assert_null(getenv("LD_PRELOAD"));
	cr_assert_eq(env_file_load("/no/such", message, sizeof(message)),
			-ENOENT);
}
