#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "front/options_private.h"

/* Whether `option` is one of the comma separated list as libfuse reads it. */
static bool has(const char *text, const char *option)
{
	char list[512];
	char *rest = NULL;

	cr_assert_lt(strlen(text), sizeof(list));
	memcpy(list, text, strlen(text) + 1);
	for (char *one = strtok_r(list, ",", &rest); one != NULL;
			one = strtok_r(NULL, ",", &rest)) {
		if (strcmp(one, option) == 0) {
			return true;
		}
	}
	return false;
}

Test(options, a_mount_is_never_less_than_read_only_and_harmless)
{
	char *text = options_text("s3://b/p", 1048576, false);

	cr_expect(has(text, "ro"));
	cr_expect(has(text, "nosuid"));
	cr_expect(has(text, "nodev"));
	cr_expect(has(text, "default_permissions"));
	cr_expect(has(text, "max_read=1048576"));
	cr_expect(has(text, "subtype=shardfs"));
	cr_expect(has(text, "fsname=s3://b/p"));
	cr_expect_not(has(text, "allow_other"));
	free(text);
}

Test(options, others_are_let_in_only_when_asked)
{
	char *text = options_text("s3://b/p", 4096, true);

	cr_expect(has(text, "allow_other"));
	free(text);
}

Test(options, a_source_cannot_add_options)
{
	char *text = options_text("s3://b/x,suid,dev\\y", 4096, false);

	cr_expect_not_null(strstr(text, "fsname=s3://b/x\\,suid\\,dev\\\\y"));
	free(text);
}
