#include <criterion/criterion.h>

#include <stdio.h>

#include "main/one_line.h"

Test(one_line, control_characters_are_shown_as_marks)
{
	char text[] = "a\nb\tc\x1b[31m\x7f \xc3\xbc";

	one_line(text);
	cr_assert_str_eq(text, "a?b?c?[31m? \xc3\xbc");
}

Test(one_line, users_and_passwords_of_urls_are_hidden)
{
	static const struct {
		const char *text, *hidden;
	} rows[] = {
			{"--proxy=http://u:p@h:1", "--proxy=http://***@h:1"},
			{"proxy=http://u:p@h,x=s3://b/a@b",
					"proxy=http://***@h,x=s3://b/a@b"},
			{"s3://b/k", "s3://b/k"},
			{"http://h/?x=a@b", "http://h/?x=a@b"},
			{"://", "://"},
			{"://@", "://@"},
			{"a@b", "a@b"},
			{"", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "%s", rows[i].text);
		one_line_hide_users(text);
		cr_assert_str_eq(text, rows[i].hidden);
	}
}
