#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/store/s3_address_private.h"

static char message[256];

Test(s3_address, style_and_host_follow_endpoint_and_bucket)
{
	static const struct {
		const char *endpoint, *bucket, *region;
		int path_style;
		const char *scheme, *host, *path;
	} rows[] = {
			{NULL, "data", "eu-west-1", -1, "https",
					"data.s3.eu-west-1.amazonaws.com", "/"},
			{NULL, "data", "cn-north-1", -1, "https",
					"data.s3.cn-north-1.amazonaws.com.cn",
					"/"},
			{NULL, "data", "us-east-1", 1, "https",
					"s3.us-east-1.amazonaws.com", "/data/"},
			{NULL, "a.b.c", "us-east-1", -1, "https",
					"s3.us-east-1.amazonaws.com",
					"/a.b.c/"},
			{NULL, "Data", "us-east-1", -1, "https",
					"s3.us-east-1.amazonaws.com", "/Data/"},
			{NULL, "a_b", "us-east-1", -1, "https",
					"s3.us-east-1.amazonaws.com", "/a_b/"},
			{NULL, "a.b.c", "us-east-1", 0, "https",
					"a.b.c.s3.us-east-1.amazonaws.com",
					"/"},
			{"http://127.0.0.1:9000", "data", "us-east-1", -1,
					"http", "127.0.0.1:9000", "/data/"},
			{"http://h:9000", "data", "RegionOne", -1, "http",
					"h:9000", "/data/"},
			{"http://localhost:80", "data", "us-east-1", -1, "http",
					"localhost", "/data/"},
			{"https://localhost:443/", "data", "us-east-1", -1,
					"https", "localhost", "/data/"},
			{"http://[::1]:9000", "data", "us-east-1", -1, "http",
					"[::1]:9000", "/data/"},
			{"HTTP://LocalHost:9000/", "data", "us-east-1", -1,
					"http", "localhost:9000", "/data/"},
			{"http://h:9/s3/v1", "data", "us-east-1", -1, "http",
					"h:9", "/s3/v1/data/"},
			{"http://h:9/s3/v1//", "data", "us-east-1", -1, "http",
					"h:9", "/s3/v1/data/"},
			{"http://h/a%20b//c/", "data", "us-east-1", -1, "http",
					"h", "/a%20b//c/data/"},
			{"http://h:9/s3", "data", "us-east-1", 0, "http",
					"data.h:9", "/s3/"},
			{"http://h", "t:data", "us-east-1", -1, "http", "h",
					"/t%3Adata/"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct s3_place place = {rows[i].endpoint, rows[i].bucket,
				rows[i].region, rows[i].path_style};
		struct s3_address address;
		cr_assert_eq(s3_address_make(&place, &address, message,
					     sizeof(message)),
				0, "row %zu: %s", i, message);
		cr_expect_str_eq(address.scheme, rows[i].scheme);
		cr_expect_str_eq(address.host, rows[i].host);
		cr_expect_str_eq(address.path, rows[i].path);
		cr_expect_eq(address.is_aws, rows[i].endpoint == NULL);
		s3_address_finish(&address);
	}
}

Test(s3_address, what_cannot_be_reached_is_refused_with_the_reason)
{
	static const struct {
		const char *endpoint, *bucket, *region;
		int path_style;
		const char *word;
	} rows[] = {
			{"http://h?x=1", "data", "us-east-1", -1, "query"},
			{"ftp://h", "data", "us-east-1", -1, "http"},
			{"h:9000", "data", "us-east-1", -1, "http"},
			{"http://u:p@h", "data", "us-east-1", -1, "password"},
			{"http://127.0.0.1:1", "data", "us-east-1", 0, "IP"},
			{"http://[::1]:1", "data", "us-east-1", 0, "IP"},
			{"http://h/%zz", "data", "us-east-1", -1, "escape"},
			{NULL, "", "us-east-1", -1, "bucket"},
			{NULL, "a/b", "us-east-1", -1, "bucket"},
			{NULL, "-a", "us-east-1", -1, "bucket"},
			{NULL, "a b", "us-east-1", -1, "bucket"},
			{NULL, "arn:aws:s3:x", "us-east-1", -1, "bucket"},
			{NULL, "a:b", "us-east-1", 0, "host name"},
			{NULL, "a..b", "us-east-1", 0, "host name"},
			{NULL, "data", "evil.com/", -1, "region"},
			{NULL, "data", "", -1, "region"},
			{NULL, "data", "evil.com", -1, "region"},
			{NULL, "data", "RegionOne", -1, "region RegionOne"},
			{"http://h", "data", "a/b", -1, "region a/b"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct s3_place place = {rows[i].endpoint, rows[i].bucket,
				rows[i].region, rows[i].path_style};
		struct s3_address address;
		cr_expect_eq(s3_address_make(&place, &address, message,
					     sizeof(message)),
				-EINVAL, "row %zu", i);
		cr_expect(strstr(message, rows[i].word) != NULL, "row %zu: %s",
				i, message);
	}
}

Test(s3_address, name_is_the_same_for_all_ways_to_one_bucket)
{
	static const struct {
		const char *endpoint, *region;
		int path_style;
		const char *name;
	} rows[] = {
			{NULL, "eu-west-1", -1,
					"https://s3.amazonaws.com/data"},
			{NULL, "us-east-1", 1, "https://s3.amazonaws.com/data"},
			{NULL, "cn-north-1", 0,
					"https://s3.amazonaws.com.cn/data"},
			{"HTTP://H:80/x/", "us-east-1", 0, "http://h/x/data"},
			{"http://h/x", "eu-west-1", 1, "http://h/x/data"},
			{"http://127.0.0.1:9000", "us-east-1", -1,
					"http://127.0.0.1:9000/data"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct s3_place place = {rows[i].endpoint, "data",
				rows[i].region, rows[i].path_style};
		char *name = s3_address_name(&place);
		cr_expect_str_eq(name, rows[i].name);
		free(name);
	}
}

Test(s3_address, only_this_machine_is_loopback)
{
	static const struct {
		const char *host;
		bool is_loopback;
	} rows[] = {
			{"127.0.0.1:9000", true},
			{"127.8.0.1", true},
			{"localhost:1", true},
			{"[::1]:9", true},
			{"127.evil.com", false},
			{"localhost.evil.com", false},
			{"10.0.0.1", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct s3_address address = {.host = (char *)rows[i].host};
		cr_expect_eq(s3_address_is_loopback(&address),
				rows[i].is_loopback, "%s", rows[i].host);
	}
}
