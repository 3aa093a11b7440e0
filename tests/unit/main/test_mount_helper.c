#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "main/arguments.h"
#include "main/mount_helper.h"
#include "main/options.h"

static char message[512];
static struct options options;
static struct arguments arguments;

#define PARSE(...) parse((char *[]){"mount.shardfs", __VA_ARGS__, NULL})

static int parse(char **argv)
{
	int count = 0;

	while (argv[count] != NULL) {
		count++;
	}
	/* What the parse before this one left. */
	arguments_finish(&arguments);
	options_finish(&options);
	options_init(&options);
	mount_helper_defaults(&options);
	message[0] = '\0';
	return mount_helper_parse(count, argv, &options, &arguments, message,
			sizeof(message));
}

Test(mount_helper, it_is_known_by_its_name)
{
	cr_assert(mount_helper_called_as("/sbin/mount.shardfs"));
	cr_assert(mount_helper_called_as("mount.shardfs"));
	cr_assert(mount_helper_called_as("/usr/sbin/mount.fuse.shardfs"));
	cr_assert_not(mount_helper_called_as("/usr/bin/shardfs"));
	cr_assert_not(mount_helper_called_as("mount.shardfs/shardfs"));
}

Test(mount_helper, the_words_of_mount_are_taken)
{
	cr_assert_eq(PARSE("s3://b", "/mnt", "-n", "-v", "-t", "shardfs", "-N",
				     "123", "-o", "rw,_netdev,region=eu"),
			0, "%s", message);
	cr_assert_eq(arguments.word_count, 2);
	cr_assert_str_eq(arguments.words[0], "s3://b");
	cr_assert_str_eq(arguments.words[1], "/mnt");
	cr_assert(arguments.verbose);
	cr_assert_not(arguments.fake);
	cr_assert_str_eq(options.region, "eu");
}

Test(mount_helper, it_waits_a_minute_unless_told_otherwise)
{
	cr_assert_eq(PARSE("s3://b", "/mnt"), 0);
	cr_assert_eq(options.mount_wait_ms, 60000);
	cr_assert_eq(PARSE("s3://b", "/mnt", "-o", "mount_wait=0"), 0);
	cr_assert_eq(options.mount_wait_ms, 0);
}

Test(mount_helper, sloppy_counts_wherever_it_stands)
{
	cr_assert_eq(PARSE("s3://b", "/mnt", "-o", "no_such"), -EINVAL);
	cr_assert(strstr(message, "no_such") != NULL);
	cr_assert_eq(PARSE("s3://b", "/mnt", "-o", "no_such,region=eu", "-s"),
			0);
	cr_assert_str_eq(options.region, "eu");
	cr_assert_eq(PARSE("s3://b", "/mnt", "-sfo", "no_such"), 0);
	cr_assert(arguments.fake);
	cr_assert(arguments.sloppy);
}

Test(mount_helper, bad_values_are_refused_even_when_sloppy)
{
	cr_assert_eq(PARSE("s3://b", "/mnt", "-s", "-o", "retries=x"), -EINVAL);
	cr_assert_eq(PARSE("s3://b", "/mnt", "-s", "-o", "remount"), -EINVAL);
}

Test(mount_helper, unknown_flags_and_missing_values_show_the_usage)
{
	cr_assert_eq(PARSE("s3://b", "/mnt", "-x"), -EINVAL);
	cr_assert(strstr(message, "usage:") != NULL);
	cr_assert_eq(PARSE("s3://b", "/mnt", "-o"), -EINVAL);
}

Test(mount_helper, every_list_counts)
{
	char *argv[64] = {"mount.shardfs", "s3://b", "/mnt"};
	size_t count = 3;

	while (count < 43) {
		argv[count++] = "-o";
		argv[count++] = "rw";
	}
	argv[count++] = "-o";
	argv[count] = "region=eu";
	cr_assert_eq(parse(argv), 0, "%s", message);
	cr_assert_str_eq(options.region, "eu");
}

/* It is read a second time behind a configuration file. */
Test(mount_helper, what_a_file_said_of_waiting_stays)
{
	char *argv[] = {"mount.shardfs", "/etc/x.conf", "/mnt", NULL};
	struct arguments again;

	options_init(&options);
	mount_helper_defaults(&options);
	options.mount_wait_ms = 5000;
	cr_assert_eq(mount_helper_parse(3, argv, &options, &again, message,
				     sizeof(message)),
			0);
	cr_assert_eq(options.mount_wait_ms, 5000);
	arguments_finish(&again);
}
