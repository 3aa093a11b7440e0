#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/store/s3_error_private.h"

static struct s3_error parse(const char *text)
{
	struct s3_error error;
	s3_error_parse(text, strlen(text), &error);
	return error;
}

Test(s3_error, code_message_and_region_are_read_and_nothing_else)
{
	struct s3_error error =
			parse("<?xml version=\"1.0\"?>\n<Error xmlns=\"x\">"
			      "<Code>AuthorizationHeaderMalformed</Code>"
			      "<Message>It &lt;is&gt; wrong</Message>"
			      "<Region>eu-west-1</Region><StringToSign>secret"
			      "</StringToSign></Error>");
	cr_expect_str_eq(error.code, "AuthorizationHeaderMalformed");
	cr_expect_str_eq(error.message, "It <is> wrong");
	cr_expect_str_eq(error.region, "eu-west-1");
}

Test(s3_error, region_is_found_in_the_message_of_a_malformed_header_only)
{
	cr_expect_str_eq(parse("<Error><Code>AuthorizationHeaderMalformed"
			       "</Code><Message>the region 'a' is wrong; "
			       "expecting 'eu-1'</Message></Error>")
					 .region,
			"eu-1");
	cr_expect_str_eq(parse("<Error><Code>Other</Code><Message>expecting "
			       "'eu-1'</Message></Error>")
					 .region,
			"");
	cr_expect_str_eq(parse("<Error><Code>AuthorizationHeaderMalformed"
			       "</Code><Message>expecting 'eu-1</Message>"
			       "</Error>")
					 .region,
			"");
}

Test(s3_error, what_was_read_before_a_cut_holds)
{
	struct s3_error error = parse("<Error><Code>SlowDown</Code><Mess");
	cr_expect_str_eq(error.code, "SlowDown");
	cr_expect_str_eq(error.message, "");
}

Test(s3_error, anything_else_has_empty_fields)
{
	static const char *const texts[] = {"", "<html><body>502</body></html>",
			"plain",
			"<!DOCTYPE x [<!ENTITY a \"b\">]><Error><Code>"
			"&a;</Code></Error>",
			"<Error><a><b><Code>deep</Code></b></a></Error>"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_expect_str_eq(parse(texts[i]).code, "", "%s", texts[i]);
	}
}

Test(s3_error, long_texts_are_cut_and_control_characters_are_blanks)
{
	char text[2000] = "<Error><Message>a\nb&#x1b;c";
	memset(text + strlen(text), 'x', 1000);
	strcat(text, "</Message></Error>");
	struct s3_error error = parse(text);
	cr_expect_eq(strlen(error.message), sizeof(error.message) - 1);
	cr_expect_eq(strncmp(error.message, "a b cx", 6), 0);
}

Test(s3_error, no_more_than_64_kib_are_looked_at)
{
	const size_t size = 2 * S3_ERROR_MAX_BODY;
	char *text = malloc(size);
	struct s3_error error;
	memset(text, ' ', size);
	memcpy(text, "<Error>", 7);
	memcpy(text + S3_ERROR_MAX_BODY, "<Code>x</Code></Error>", 22);
	s3_error_parse(text, size, &error);
	cr_expect_str_eq(error.code, "");
	free(text);
}
