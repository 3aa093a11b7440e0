#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "main/source_args.h"

static char message[512];
static struct source_args args;

static int resolve(const char *const *words, size_t count, const char *source)
{
	message[0] = '\0';
	args = (struct source_args){0};
	return source_args_resolve(
			words, count, source, &args, message, sizeof(message));
}

Test(source_args, the_first_word_has_one_kind)
{
	cr_assert_eq(source_args_kind("s3://b"), SOURCE_URL);
	cr_assert_eq(source_args_kind("file:///d"), SOURCE_URL);
	cr_assert_eq(source_args_kind("/etc/x.conf"), SOURCE_CONFIG);
	cr_assert_eq(source_args_kind("stats"), SOURCE_SUBCOMMAND);
	cr_assert_eq(source_args_kind("snapshot"), SOURCE_SUBCOMMAND);
	cr_assert_eq(source_args_kind("bucket"), SOURCE_OTHER);
}

Test(source_args, source_is_shown_letter_for_letter)
{
	const char *const words[] = {"s3://b/Train/", "/mnt"};

	cr_assert_eq(resolve(words, 2, NULL), 0);
	cr_assert_str_eq(args.source, "s3://b/Train/");
	cr_assert_str_eq(args.shown, "s3://b/Train/");
	cr_assert_str_eq(args.mountpoint, "/mnt");
}

Test(source_args, a_configuration_file_is_shown_by_its_path)
{
	const char *const words[] = {"/etc/x.conf", "/mnt"};

	cr_assert_eq(resolve(words, 2, "s3://b"), 0);
	cr_assert_str_eq(args.source, "s3://b");
	cr_assert_str_eq(args.shown, "/etc/x.conf");
	cr_assert_eq(resolve(words, 2, NULL), -EINVAL);
	cr_assert(strstr(message, "source =") != NULL, "%s", message);
}

Test(source_args, a_source_option_alone_is_shown_as_shardfs)
{
	const char *const words[] = {"/mnt"};

	cr_assert_eq(resolve(words, 1, "s3://b"), 0);
	cr_assert_str_eq(args.shown, "shardfs");
	cr_assert_str_eq(args.mountpoint, "/mnt");
}

Test(source_args, wrong_numbers_of_words_are_refused)
{
	const char *const words[] = {"s3://b", "/mnt", "more"};
	const char *const other[] = {"mnt", "/mnt"};

	cr_assert_eq(resolve(words, 0, NULL), -EINVAL);
	cr_assert_eq(resolve(words, 1, NULL), -EINVAL);
	cr_assert(strstr(message, "MOUNTPOINT") != NULL);
	cr_assert_eq(resolve(words, 3, NULL), -EINVAL);
	cr_assert(strstr(message, "more") != NULL);
	cr_assert_eq(resolve(words, 2, "s3://c"), -EINVAL);
	cr_assert_eq(resolve(other, 2, NULL), -EINVAL);
	cr_assert(strstr(message, "mnt: no such command") != NULL, "%s",
			message);
}
