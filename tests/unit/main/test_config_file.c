#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "main/config_file.h"
#include "main/options.h"

static char message[512];

static int parse(struct options *options, const char *text)
{
	CLEANUP_FREE char *copy = strdup(text);

	options_init(options);
	message[0] = '\0';
	return config_file_parse(
			"/etc/x.conf", copy, options, message, sizeof(message));
}

Test(config_file, lines_comments_and_blanks_are_read)
{
	struct options options;

	cr_assert_eq(parse(&options, "# training data\n"
				     "source = s3://b/train\n"
				     "\n"
				     "  cache_size=200G # of the local disk\r\n"
				     "\tanonymous\n"
				     "cache-dir = /data/my cache\n"
				     "profile = a#b"),
			0, "%s", message);
	cr_assert_str_eq(options.source, "s3://b/train");
	cr_assert_eq(options.cache_size.bytes, 200ULL << 30);
	cr_assert(options.anonymous);
	cr_assert_str_eq(options.cache_dir, "/data/my cache");
	cr_assert_str_eq(options.profile, "a#b");
	options_finish(&options);
}

Test(config_file, an_error_names_file_and_line)
{
	struct options options;

	cr_assert_eq(parse(&options, "region = eu\n\nno_such = 1\n"), -EINVAL);
	cr_assert(strstr(message, "/etc/x.conf line 3: ") == message, "%s",
			message);
	cr_assert(strstr(message, "no_such") != NULL);
	options_finish(&options);
}

Test(config_file, a_directory_is_told_to_be_a_source)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(config_file_read("/usr", &options, message,
				     sizeof(message)),
			-EISDIR);
	cr_assert(strstr(message, "file:///usr") != NULL, "%s", message);
	cr_assert_eq(config_file_read("/no/such", &options, message,
				     sizeof(message)),
			-ENOENT);
	cr_assert(strstr(message, "/no/such") != NULL, "%s", message);
}

/* A line of fstab, spread over lines. */
Test(config_file, words_of_mount_are_passed_over)
{
	struct options options;

	cr_assert_eq(parse(&options, "ro\nnoatime\n_netdev\ncomment = x\n"
				     "x-systemd.automount\nregion = eu\n"),
			0, "%s", message);
	cr_assert_str_eq(options.region, "eu");
	options_finish(&options);
}
