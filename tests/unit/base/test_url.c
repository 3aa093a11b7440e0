#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/url.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(url, parts_of_good_ones)
{
	static const struct {
		const char *text;
		const char *scheme;
		const char *host;
		uint16_t port;
		const char *path;
		const char *query;
		const char *host_header;
	} table[] = {
			{"http://h", "http", "h", 80, "", NULL, "h"},
			{"HTTPS://Ex.COM/", "https", "ex.com", 443, "/", NULL,
					"ex.com"},
			{"https://h:443/a", "https", "h", 443, "/a", NULL, "h"},
			{"https://h:80/a", "https", "h", 80, "/a", NULL,
					"h:80"},
			{"http://127.0.0.1:9000/a/../b//c?x=/?y", "http",
					"127.0.0.1", 9000, "/a/../b//c",
					"x=/?y", "127.0.0.1:9000"},
			{"http://[::1]:8/%2F", "http", "[::1]", 8, "/%2F", NULL,
					"[::1]:8"},
			{"http://[FE80::A]", "http", "[fe80::a]", 80, "", NULL,
					"[fe80::a]"},
			{"http://h?q", "http", "h", 80, "", "q", "h"},
			{"http://h/?", "http", "h", 80, "/", "", "h"},
			{"http://a_b.c-d./@:", "http", "a_b.c-d.", 80,
					"/@:", NULL, "a_b.c-d."},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		struct url url;
		struct strbuf header;
		strbuf_init(&header, 300);
		cr_assert_eq(url_parse(table[i].text, &url), 0, "refused %s",
				table[i].text);
		cr_assert_str_eq(url.scheme, table[i].scheme);
		cr_assert_str_eq(url.host, table[i].host);
		cr_assert_eq(url.port, table[i].port);
		cr_assert_str_eq(url.path, table[i].path);
		if (table[i].query == NULL) {
			cr_assert_null(url.query);
		} else {
			cr_assert_str_eq(url.query, table[i].query);
		}
		cr_assert_eq(url_host_header(&url, &header), 0);
		cr_assert_str_eq(header.text, table[i].host_header);
		strbuf_finish(&header);
		url_finish(&url);
	}
}

Test(url, refuses_what_may_mislead)
{
	static const char *const table[] = {"", "h", "//h/", "ftp://h/",
			"http:/h", "http:h", "http://", "http:///a",
			"http://u@h/", "http://u:p@h/", "http://h/#f",
			"http://h#f", "http://h:/", "http://h:0/",
			"http://h:65536/", "http://h:1a/", "http://h:-1/",
			"http://h:999999999999/", "http://h h/", "http://h/ a",
			"http://h/a\r\nX: y", "http://h/\x7f", "http://h\\a/",
			"http://.h/", "http://[::1", "http://[]/",
			"http://[::1]x/", "http://[::g]/", "http://h%41/",
			"http://h*/", "http://\xc3\xa9/", "http://h;a/",
			" http://h/"};

	for (size_t i = 0; i < COUNT(table); i++) {
		struct url url = {.port = 77};
		cr_assert_eq(url_parse(table[i], &url), -EINVAL, "took \"%s\"",
				table[i]);
		cr_assert_eq(url.port, 77);
	}
}

Test(url, refuses_a_host_that_is_too_long)
{
	char text[300] = "http://";
	struct url url;
	memset(text + 7, 'a', 253);
	cr_assert_eq(url_parse(text, &url), 0);
	url_finish(&url);
	text[7 + 253] = 'a';
	cr_assert_eq(url_parse(text, &url), -EINVAL);
}

Test(url, encodes_as_signature_version_4_asks_for)
{
	struct strbuf out;
	strbuf_init(&out, 1000);
	const char *all = "AZaz09-._~ !*'();:@&=+$,/?#[]%\xc3\xa9\n";
	cr_assert_eq(url_encode(&out, all, strlen(all), false), 0);
	cr_assert_str_eq(out.text,
			"AZaz09-._~%20%21%2A%27%28%29%3B%3A%40%26%3D%2B%24%2C"
			"%2F%3F%23%5B%5D%25%C3%A9%0A");
	strbuf_clear(&out);
	cr_assert_eq(url_encode(&out, "a/\0/b", 5, true), 0);
	cr_assert_str_eq(out.text, "a/%00/b");
	strbuf_finish(&out);
}

Test(url, encode_says_when_the_limit_was_passed)
{
	struct strbuf out;
	strbuf_init(&out, 5);
	cr_assert_eq(url_encode(&out, "ab ", 3, false), 0);
	cr_assert_eq(url_encode(&out, " ", 1, false), -EMSGSIZE);
	strbuf_finish(&out);
}

Test(url, decodes_escapes_and_nothing_else)
{
	struct strbuf out;
	strbuf_init(&out, 1000);
	const char *text = "a%2Fb+c%00d%c3%A9%25";
	cr_assert_eq(url_decode(&out, text, strlen(text)), 0);
	cr_assert_eq(out.length, 10);
	cr_assert_eq(memcmp(out.text, "a/b+c\0d\xc3\xa9%", 10), 0);
	strbuf_finish(&out);
}

Test(url, decode_refuses_bad_escapes)
{
	static const char *const table[] = {
			"%", "a%2", "%zz", "%2g", "%%41", "%+1", "% 1"};

	for (size_t i = 0; i < COUNT(table); i++) {
		struct strbuf out;
		strbuf_init(&out, 100);
		cr_assert_eq(url_decode(&out, table[i], strlen(table[i])),
				-EINVAL, "took %s", table[i]);
		strbuf_finish(&out);
	}
	struct strbuf out;
	strbuf_init(&out, 100);
	cr_assert_eq(url_decode(&out, "%41", 2), -EINVAL);
	strbuf_finish(&out);
}

Test(url, prints_no_query_user_or_password)
{
	static const char *const table[][2] = {
			{"s3://b/p", "s3://b/p"},
			{"s3://b/k@home", "s3://b/k@home"},
			{"https://h/a?sig=SECRET", "https://h/a"},
			{"https://h/a#SECRET", "https://h/a"},
			{"https://h?SECRET@x/", "https://h"},
			{"https://u:SECRET@h/a", "https://***@h/a"},
			{"https://SECRET@h/a@b", "https://***@h/a@b"},
			{"https://u:SEC@RET@h/a", "https://***@h/a"},
			{"https://u:SEC/RET@h/a", "https://***@h/a"},
			{"https://h:9000/a@b", "https://h:9000/a@b"},
			{"https://[::1]:9000/a@b", "https://[::1]:9000/a@b"},
			{"abfss://c@acct.dfs.core.windows.net/p",
					"abfss://c@acct.dfs.core.windows.net/"
					"p"},
			{"s3://AK:SECRET@b/p", "s3://***@b/p"},
			{"u:SECRET@h", "***@h"},
			{"plain/path", "plain/path"},
			{"x?http://SECRET@h", "x"},
			{"", ""},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		char text[100];
		url_print(table[i][0], text, sizeof(text));
		cr_assert_str_eq(text, table[i][1]);
	}
}

Test(url, print_is_cut_at_the_buffers_size)
{
	char text[8];
	url_print("https://host/path", text, sizeof(text));
	cr_assert_str_eq(text, "https:/");
}
