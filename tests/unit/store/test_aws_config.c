#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/store/aws_config_private.h"

static struct aws_profile profile;

static void finish(void)
{
	aws_profile_finish(&profile);
}

TestSuite(aws_config, .fini = finish);

static void read_as(enum aws_file file, const char *name, const char *text)
{
	cr_assert_eq(aws_config_parse(text, strlen(text), file, name, &profile),
			0);
}

static void read_config(const char *name, const char *text)
{
	read_as(AWS_FILE_CONFIG, name, text);
}

#define EXPECT_TEXT(field, text)                                               \
	do {                                                                   \
		cr_assert_not_null(profile.field);                             \
		cr_expect_str_eq(profile.field, text);                         \
	} while (0)

Test(aws_config, credentials_file_has_bare_profile_names)
{
	read_as(AWS_FILE_CREDENTIALS, "x",
			"[default]\naws_access_key_id = no\n"
			"[x]\naws_access_key_id = A\n"
			"aws_secret_access_key=B/+=\n"
			"aws_session_token =   C==\n[profile x]\n"
			"aws_access_key_id = no\n");
	EXPECT_TEXT(access_key_id, "A");
	EXPECT_TEXT(secret_access_key, "B/+=");
	EXPECT_TEXT(session_token, "C==");
	cr_expect(profile.found);
}

Test(aws_config, config_file_has_profile_before_the_name)
{
	read_config("x", "[x]\nregion = no\n[profile x]\nregion = eu-1\n"
			 "[profile \"y z\"]\nregion = no\n");
	EXPECT_TEXT(region, "eu-1");
	aws_profile_finish(&profile);
	read_config("y z", "[profile \"y z\"]\nregion = eu-2\n");
	EXPECT_TEXT(region, "eu-2");
	aws_profile_finish(&profile);
	read_config("z", "[profile x]\nregion = no\n");
	cr_expect_null(profile.region);
	cr_expect_not(profile.found);
}

Test(aws_config, default_gives_way_to_profile_default)
{
	read_config("default", "[default]\nregion = a\n");
	EXPECT_TEXT(region, "a");
	aws_profile_finish(&profile);
	read_config("default", "[default]\nregion = a\noutput = b\n"
			       "endpoint_url = no\n"
			       "[profile default]\nregion = c\n[default]\n"
			       "region = no\n");
	EXPECT_TEXT(region, "c");
	cr_expect_null(profile.endpoint_url);
}

Test(aws_config, comments_blanks_and_line_ends_do_not_matter)
{
	read_config("default",
			"\xEF\xBB\xBF# c\n; c\n\r\n  [ default ]  # c\r\n"
			"\tregion\t=\teu-1 # c\r\n  # region = no\r\n"
			"\tendpoint_url: http://h:1/#x ; c\r\nno sense\n"
			"= no\n\tAWS_ACCESS_KEY_ID = A;B\n");
	EXPECT_TEXT(region, "eu-1");
	EXPECT_TEXT(endpoint_url, "http://h:1/#x");
	EXPECT_TEXT(access_key_id, "A;B");
}

Test(aws_config, deeper_lines_belong_to_the_setting_above)
{
	read_config("default", "[default]\ns3 =\n  region = no\n"
			       "  endpoint_url = http://nested\n"
			       "output = text\n    region = no\nregion = a\n");
	EXPECT_TEXT(region, "a");
	EXPECT_TEXT(s3_endpoint_url, "http://nested");
	cr_expect_null(profile.endpoint_url);
}

Test(aws_config, services_section_of_the_profile_has_the_endpoint)
{
	read_config("default",
			"[services other]\ns3 =\n  endpoint_url = http://no\n"
			"[services mine]\ndynamodb =\n  endpoint_url = "
			"http://no\ns3 =\n  endpoint_url = http://yes\n"
			"[default]\nservices = mine\nendpoint_url = http://e\n"
			"[services mine2]\ns3 =\n endpoint_url = http://no\n");
	EXPECT_TEXT(s3_endpoint_url, "http://yes");
	EXPECT_TEXT(endpoint_url, "http://e");
}

Test(aws_config, keys_of_one_file_are_never_mixed_with_the_others)
{
	read_config("default", "[default]\naws_access_key_id = A\n"
			       "aws_secret_access_key = B\n"
			       "aws_session_token = C\nregion = r\n");
	read_as(AWS_FILE_CREDENTIALS, "default",
			"[default]\naws_access_key_id = D\n"
			"aws_secret_access_key = E\n");
	EXPECT_TEXT(access_key_id, "D");
	EXPECT_TEXT(secret_access_key, "E");
	cr_expect_null(profile.session_token);
	EXPECT_TEXT(region, "r");
}

Test(aws_config, ways_that_are_not_followed_are_noticed)
{
	static const struct {
		const char *text, *instead, *without;
	} rows[] = {
			{"role_arn = x", "role_arn", NULL},
			{"web_identity_token_file = x",
					"web_identity_token_file", NULL},
			{"credential_process = x", NULL, "credential_process"},
			{"sso_session = x", NULL, "sso_session"},
			{"role_arn =", NULL, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];
		snprintf(text, sizeof(text), "[default]\n%s\n", rows[i].text);
		aws_profile_finish(&profile);
		read_config("default", text);
		cr_expect_eq(profile.instead_of_keys == NULL,
				rows[i].instead == NULL);
		cr_expect_eq(profile.without_keys == NULL,
				rows[i].without == NULL);
		if (rows[i].instead != NULL) {
			cr_expect_str_eq(profile.instead_of_keys,
					rows[i].instead);
		}
		if (rows[i].without != NULL) {
			cr_expect_str_eq(profile.without_keys, rows[i].without);
		}
	}
}

Test(aws_config, session_tokens_may_be_long)
{
	const size_t size = 20000;
	char *text = malloc(size + 100);
	strcpy(text, "[default]\naws_session_token = ");
	const size_t start = strlen(text);
	memset(text + start, 'T', size);
	strcpy(text + start + size, "\nregion = a\n");
	read_as(AWS_FILE_CREDENTIALS, "default", text);
	cr_expect_eq(strlen(profile.session_token), size);
	EXPECT_TEXT(region, "a");
	free(text);
}

Test(aws_config, text_needs_no_end_and_may_be_nonsense)
{
	static const char *const texts[] = {"", "[", "[default", "]", "=",
			"[default]\n=", "[default]\nregion", "[profile",
			"[default]\n\n  \n[]\n[ ]\n[profile ]\nregion=x"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_config("default", texts[i]);
		cr_expect_null(profile.region, "%s", texts[i]);
	}
	cr_assert_eq(aws_config_parse("[default]\nregion = abc", 20,
				     AWS_FILE_CONFIG, "default", &profile),
			0);
	EXPECT_TEXT(region, "a");
}
