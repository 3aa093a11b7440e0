#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/headers_private.h"

static struct headers headers;

static int add(const char *line)
{
	return headers_add_line(&headers, line, strlen(line));
}

static void init(void)
{
	headers_init(&headers);
}

static void finish(void)
{
	headers_finish(&headers);
}

TestSuite(headers, .init = init, .fini = finish);

Test(headers, are_complete_after_the_blank_line)
{
	cr_assert_eq(add("HTTP/1.1 206 Partial Content\r\n"), 0);
	cr_assert_eq(headers.status, 206);
	cr_assert_eq(add("ETag: \"x\"\r\n"), 0);
	cr_assert_not(headers.complete);
	cr_assert_eq(add("\r\n"), 0);
	cr_assert(headers.complete);
}

Test(headers, are_found_in_any_case_and_trimmed)
{
	add("HTTP/1.1 200\r\n");
	add("ETag:  \t\"a b\" \t\r\n");
	add("Empty:\r\n");
	add("Colons: a:b: c\n");
	add("\r\n");
	cr_assert_str_eq(headers_find(&headers, "etag"), "\"a b\"");
	cr_assert_str_eq(headers_find(&headers, "EMPTY"), "");
	cr_assert_str_eq(headers_find(&headers, "Colons"), "a:b: c");
	cr_assert_null(headers_find(&headers, "eta"));
	cr_assert_null(headers_find(&headers, "etagg"));
	cr_assert_null(headers_find(&headers, "a"));
}

Test(headers, of_one_name_the_last_counts)
{
	add("HTTP/1.1 200 OK\r\n");
	add("X: one\r\n");
	add("Y: two\r\n");
	add("x: three\r\n");
	cr_assert_str_eq(headers_find(&headers, "X"), "three");
}

Test(headers, of_interim_answers_are_forgotten)
{
	add("HTTP/1.1 103 Early Hints\r\n");
	add("ETag: early\r\n");
	add("\r\n");
	cr_assert_not(headers.complete);
	cr_assert_eq(headers.status, 0);
	cr_assert_null(headers_find(&headers, "ETag"));
	add("HTTP/1.1 200 OK\r\n");
	add("\r\n");
	cr_assert(headers.complete);
	cr_assert_eq(headers.status, 200);
	cr_assert_null(headers_find(&headers, "ETag"));
}

Test(headers, begin_anew_with_another_status_line)
{
	add("HTTP/1.1 200 OK\r\n");
	add("ETag: old\r\n");
	add("HTTP/1.1 404 Not Found\r\n");
	add("\r\n");
	cr_assert_eq(headers.status, 404);
	cr_assert_null(headers_find(&headers, "ETag"));
}

Test(headers, in_a_trailer_are_left_out)
{
	add("HTTP/1.1 200 OK\r\n");
	add("ETag: good\r\n");
	add("\r\n");
	cr_assert_eq(add("ETag: evil\r\n"), 0);
	cr_assert_eq(add("HTTP/1.1 500 Evil\r\n"), 0);
	cr_assert_eq(headers.status, 200);
	cr_assert_str_eq(headers_find(&headers, "ETag"), "good");
}

Test(headers, without_a_status_line_are_not_http)
{
	cr_assert_eq(add("220 mail ESMTP\r\n"), -EPROTO);
	cr_assert_eq(add("\r\n"), -EPROTO);
	cr_assert_eq(add("ETag: x\r\n"), -EPROTO);
}

Test(headers, status_lines)
{
	static const struct {
		const char *line;
		int result;
		int status;
	} table[] = {
			{"HTTP/1.1 200 OK\r\n", 0, 200},
			{"HTTP/1.1 404\r\n", 0, 404},
			{"HTTP/1.0 503 Slow Down\r\n", 0, 503},
			{"HTTP/1.1  200 OK\r\n", 0, 200},
			{"HTTP/1.1 099 Low\r\n", -EPROTO, 0},
			{"HTTP/1.1 2000 OK\r\n", -EPROTO, 0},
			{"HTTP/1.1 20 OK\r\n", -EPROTO, 0},
			{"HTTP/1.1 2x0 OK\r\n", -EPROTO, 0},
			{"HTTP/1.1 -20 OK\r\n", -EPROTO, 0},
			{"HTTP/1.1\r\n", -EPROTO, 0},
			{"HTTP/\r\n", -EPROTO, 0},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		finish();
		init();
		cr_assert_eq(add(table[i].line), table[i].result, "for %s",
				table[i].line);
		if (table[i].result == 0) {
			cr_assert_eq(headers.status, table[i].status);
		}
	}
}

Test(headers, that_are_no_fields_are_skipped)
{
	add("HTTP/1.1 200 OK\r\n");
	cr_assert_eq(add("no colon\r\n"), 0);
	cr_assert_eq(add(": no name\r\n"), 0);
	cr_assert_eq(add("ETag: a\r\n"), 0);
	cr_assert_eq(add(" ETag: folded\r\n"), 0);
	cr_assert_eq(headers.count, 1);
	cr_assert_str_eq(headers_find(&headers, "ETag"), "a");
}

Test(headers, with_a_nul_are_refused)
{
	add("HTTP/1.1 200 OK\r\n");
	const char line[] = "ETag: a\0b\r\n";
	cr_assert_eq(headers_add_line(&headers, line, sizeof(line) - 1),
			-EPROTO);
}

Test(headers, beyond_the_count_are_refused_and_the_others_kept)
{
	add("HTTP/1.1 200 OK\r\n");
	add("First: 1\r\n");
	for (size_t i = 1; i < HEADERS_MAX_COUNT; i++) {
		cr_assert_eq(add("X: y\r\n"), 0);
	}
	cr_assert_eq(add("X: z\r\n"), -EMSGSIZE);
	cr_assert_str_eq(headers_find(&headers, "X"), "y");
	cr_assert_str_eq(headers_find(&headers, "First"), "1");
}

Test(headers, beyond_the_bytes_are_refused_and_the_others_kept)
{
	char line[HEADERS_MAX_BYTES];
	memset(line, 'v', sizeof(line));
	memcpy(line, "N:", 2);
	add("HTTP/1.1 200 OK\r\n");
	add("A: b\r\n");
	cr_assert_eq(headers_add_line(&headers, line, HEADERS_MAX_BYTES - 4),
			-EMSGSIZE);
	cr_assert_null(headers_find(&headers, "N"));
	cr_assert_str_eq(headers_find(&headers, "A"), "b");
	/* The name, the value, a NUL after each: "A", "b" and this one. */
	cr_assert_eq(headers_add_line(&headers, line, HEADERS_MAX_BYTES - 5),
			0);
	cr_assert_eq(strlen(headers_find(&headers, "N")),
			HEADERS_MAX_BYTES - 7);
}

Test(headers, interim_answers_have_a_limit)
{
	for (size_t i = 0; i < HEADERS_MAX_INTERIM; i++) {
		add("HTTP/1.1 103 Early Hints\r\n");
		cr_assert_eq(add("\r\n"), 0);
	}
	add("HTTP/1.1 103 Early Hints\r\n");
	cr_assert_eq(add("\r\n"), -EMSGSIZE);
}

Test(headers, content_length_is_a_plain_number_or_unknown)
{
	static const struct {
		const char *line;
		int64_t length;
	} table[] = {
			{"Content-Length: 0\r\n", 0},
			{"content-length: 9223372036854775807\r\n", INT64_MAX},
			{"Content-Length: 9223372036854775808\r\n", -1},
			{"Content-Length: -1\r\n", -1},
			{"Content-Length: +1\r\n", -1},
			{"Content-Length: 1, 1\r\n", -1},
			{"Content-Length: 0x10\r\n", -1},
			{"Content-Length:\r\n", -1},
			{"Other: 5\r\n", -1},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		finish();
		init();
		add("HTTP/1.1 200 OK\r\n");
		add(table[i].line);
		cr_assert_eq(headers_content_length(&headers), table[i].length,
				"for %s", table[i].line);
	}
}

Test(headers, transfer_encoding_overrules_content_length)
{
	add("HTTP/1.1 200 OK\r\n");
	add("Content-Length: 5\r\n");
	add("Transfer-Encoding: chunked\r\n");
	cr_assert_eq(headers_content_length(&headers), -1);
}
