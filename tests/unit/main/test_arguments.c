#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "main/arguments.h"
#include "main/options.h"

static char message[512];
static struct options options;
static struct arguments arguments;

#define PARSE(...) parse((char *[]){"shardfs", __VA_ARGS__, NULL})

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
	message[0] = '\0';
	return arguments_parse(count, argv, &options, &arguments, message,
			sizeof(message));
}

Test(arguments, options_may_stand_anywhere)
{
	cr_assert_eq(PARSE("s3://b", "--cache-dir", "/c", "-fv", "/mnt", "-o",
				     "ro,region=eu", "--anonymous"),
			0, "%s", message);
	cr_assert_eq(arguments.word_count, 2);
	cr_assert_str_eq(arguments.words[0], "s3://b");
	cr_assert_str_eq(arguments.words[1], "/mnt");
	cr_assert(arguments.foreground);
	cr_assert(arguments.verbose);
	cr_assert_not(arguments.debug);
	cr_assert_str_eq(options.cache_dir, "/c");
	cr_assert_str_eq(options.region, "eu");
	cr_assert(options.anonymous);
}

Test(arguments, a_flag_takes_no_word_after_it)
{
	cr_assert_eq(PARSE("--anonymous", "s3://b", "/mnt"), 0);
	cr_assert_eq(arguments.word_count, 2);
	cr_assert_eq(PARSE("--anonymous=no", "s3://b", "/mnt"), 0);
	cr_assert_not(options.anonymous);
}

Test(arguments, the_list_may_follow_without_a_blank)
{
	cr_assert_eq(PARSE("-oregion=eu,allow_other", "s3://b", "/mnt"), 0);
	cr_assert_str_eq(options.region, "eu");
	cr_assert(options.allow_other);
	cr_assert_eq(PARSE("-fo", "region=us"), 0);
	cr_assert(arguments.foreground);
	cr_assert_str_eq(options.region, "us");
}

Test(arguments, two_hyphens_end_the_options)
{
	cr_assert_eq(PARSE("s3://b", "--", "-odd"), 0);
	cr_assert_eq(arguments.word_count, 2);
	cr_assert_str_eq(arguments.words[1], "-odd");
}

Test(arguments, words_of_the_subcommands_are_kept)
{
	cr_assert_eq(PARSE("stats", "/mnt", "--json", "--every", "2"), 0);
	cr_assert(arguments.json);
	cr_assert_eq(arguments.every_ms, 2000);
	cr_assert_eq(PARSE("ls", "-lv", "s3://b"), 0);
	cr_assert(arguments.long_listing);
	cr_assert(arguments.verbose);
	cr_assert_eq(PARSE("--help"), 0);
	cr_assert(arguments.help);
}

Test(arguments, bad_ones_are_refused_with_a_reason)
{
	cr_assert_eq(PARSE("-x"), -EINVAL);
	cr_assert(strstr(message, "-x") != NULL);
	cr_assert_eq(PARSE("-o"), -EINVAL);
	cr_assert_eq(PARSE("--cache-dir"), -EINVAL);
	cr_assert(strstr(message, "cache_dir") != NULL, "%s", message);
	cr_assert_eq(PARSE("--every", "soon"), -EINVAL);
	cr_assert_eq(PARSE("--every"), -EINVAL);
	cr_assert_eq(PARSE("--no-such"), -EINVAL);
	cr_assert_eq(PARSE("--json=yes"), -EINVAL);
}
