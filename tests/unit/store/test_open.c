#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/store/source_private.h"
#include "base/counters.h"
#include "base/strbuf.h"
#include "store/open.h"
#include "store/store.h"

static char message[1200];
static struct counters counters;
static struct store *store;

/* Nothing is sent by any of these: the loops are not touched. */
static struct store_settings settings = {
		.net = NULL,
		.counters = &counters,
		.path_style = -1,
};

static void start(void)
{
	clearenv();
	setenv("AWS_CONFIG_FILE", "/nonexistent/config", 1);
	setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials", 1);
	setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "marker-of-the-secret", 1);
}

static void finish(void)
{
	store_destroy(store);
}

TestSuite(open, .init = start, .fini = finish);

static void expect_describe(const char *expected)
{
	struct strbuf text;
	strbuf_init(&text, 4096);
	cr_assert_eq(store_open("s3://data/a", &settings, &store, message,
				     sizeof(message)),
			0, "%s", message);
	cr_assert_eq(store_describe(store, &text), 0);
	cr_expect_str_eq(text.text, expected);
	strbuf_finish(&text);
	store_destroy(store);
	store = NULL;
}

Test(open, prefix_is_literal_and_ends_in_a_slash)
{
	static const struct {
		const char *source, *bucket, *prefix;
	} rows[] = {
			{"s3://b", "b", ""},
			{"s3://b/", "b", ""},
			{"s3://b/p", "b", "p/"},
			{"s3://b/p/", "b", "p/"},
			{"S3://b/p/q", "b", "p/q/"},
			{"s3://b//p//", "b", "/p//"},
			{"s3://b/./a/../c", "b", "./a/../c/"},
			{"s3://b/first.last", "b", "first.last/"},
			{"s3://b/a%20b#c d", "b", "a%20b#c d/"},
			{"s3://b/u@h:x/", "b", "u@h:x/"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct source source;
		cr_assert_eq(source_parse(rows[i].source, &source, message,
					     sizeof(message)),
				0, "%s", message);
		cr_expect_eq(source.kind, SOURCE_S3);
		cr_expect_str_eq(source.bucket, rows[i].bucket);
		cr_expect_str_eq(source.prefix, rows[i].prefix);
		source_finish(&source);
	}
}

Test(open, directory_is_an_absolute_path)
{
	struct source source;
	cr_assert_eq(source_parse("file:///a/b", &source, message,
				     sizeof(message)),
			0);
	cr_expect_eq(source.kind, SOURCE_FILE);
	cr_expect_str_eq(source.directory, "/a/b");
	source_finish(&source);
}

Test(open, bad_sources_are_refused_with_the_reason)
{
	static const struct {
		const char *source;
		int error;
		const char *word;
	} rows[] = {
			{"", -EINVAL, "not a source"},
			{"/data", -EINVAL, "not a source"},
			{"data", -EINVAL, "not a source"},
			{"ftp://h/x", -EINVAL, "not a source"},
			{"s3:/b", -EINVAL, "not a source"},
			{"s3://", -EINVAL, "bucket"},
			{"s3:///p", -EINVAL, "bucket"},
			{"s3://a b/p", -EINVAL, "bucket"},
			{"s3://-x", -EINVAL, "bucket"},
			{"s3://b/p?versionId=1", -EINVAL, "query"},
			{"s3://b?x", -EINVAL, "query"},
			{"s3://KEY:marker@b/p", -EINVAL, "password"},
			{"s3://user@b", -EINVAL, "password"},
			{"file://host/a", -EINVAL, "absolute"},
			{"file://", -EINVAL, "absolute"},
			{"file:///a?b", -EINVAL, "query"},
			{"az://account/container", -ENOTSUP, "not supported"},
			{"abfs://c@account/x", -EINVAL, "password"},
			{"gs://b", -ENOTSUP, "not supported"},
			{"https://h/p/", -ENOTSUP, "not supported"},
			{"http://h/p/", -ENOTSUP, "not supported"},
			{"https://h/p/?sig=marker", -EINVAL, "query"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(store_check_source(rows[i].source, message,
					     sizeof(message)),
				rows[i].error, "%s", rows[i].source);
		cr_expect_not_null(strstr(message, rows[i].word), "%s: %s",
				rows[i].source, message);
		cr_expect_null(strstr(message, "marker"), "%s", message);
		cr_expect_null(strchr(message, '\n'));
	}
}

Test(open, prefix_longer_than_a_key_is_refused)
{
	char source[1100] = "s3://b/";
	memset(source + 7, 'p', 1023);
	cr_expect_eq(store_check_source(source, message, sizeof(message)), 0);
	source[7 + 1023] = 'p';
	cr_expect_eq(store_check_source(source, message, sizeof(message)),
			-EINVAL);
}

Test(open, endpoint_and_region_come_from_options_then_the_environment)
{
	expect_describe("s3 bucket=data "
			"endpoint=https://data.s3.us-east-1.amazonaws.com "
			"region=us-east-1 virtual-host signed by environment "
			"(AKIA…MPLE)");
	setenv("AWS_DEFAULT_REGION", "eu-1", 1);
	setenv("AWS_ENDPOINT_URL", "http://all:1", 1);
	expect_describe("s3 bucket=data endpoint=http://all:1 region=eu-1 "
			"path-style signed by environment (AKIA…MPLE)");
	setenv("AWS_REGION", "eu-2", 1);
	setenv("AWS_ENDPOINT_URL_S3", "http://s3:1", 1);
	expect_describe("s3 bucket=data endpoint=http://s3:1 region=eu-2 "
			"path-style signed by environment (AKIA…MPLE)");
	settings.region = "eu-3";
	settings.endpoint_url = "http://option:1";
	settings.anonymous = true;
	settings.path_style = 0;
	expect_describe("s3 bucket=data endpoint=http://data.option:1 "
			"region=eu-3 virtual-host anonymous");
}

Test(open, endpoints_of_environment_and_files_can_be_ignored)
{
	setenv("AWS_ENDPOINT_URL", "http://all:1", 1);
	setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true", 1);
	expect_describe("s3 bucket=data "
			"endpoint=https://data.s3.us-east-1.amazonaws.com "
			"region=us-east-1 virtual-host signed by environment "
			"(AKIA…MPLE)");
}

Test(open, name_prefix_and_url_are_those_of_the_source)
{
	struct strbuf url;
	strbuf_init(&url, 4096);
	settings.endpoint_url = "http://h:9000/";
	cr_assert_eq(store_open("s3://data/a/b", &settings, &store, message,
				     sizeof(message)),
			0, "%s", message);
	cr_expect_str_eq(store_name(store), "http://h:9000/data");
	cr_expect_str_eq(store_prefix(store), "a/b/");
	cr_assert_eq(store_url(store, "a/b/c d", &url), 0);
	cr_expect_str_eq(url.text, "s3://data/a/b/c d");
	strbuf_finish(&url);
}

Test(open, failures_name_the_source_and_the_reason_in_one_line)
{
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	cr_expect_eq(store_open("s3://data", &settings, &store, message,
				     sizeof(message)),
			-EACCES);
	cr_expect_not_null(strstr(message, "s3://data: no AWS credentials"),
			"%s", message);
	settings.anonymous = true;
	settings.endpoint_url = "http://h/?x";
	cr_expect_eq(store_open("s3://data", &settings, &store, message,
				     sizeof(message)),
			-EINVAL);
	cr_expect_not_null(strstr(message, "endpoint"), "%s", message);
	settings.endpoint_url = NULL;
	settings.profile = "nobody";
	cr_expect_eq(store_open("s3://data", &settings, &store, message,
				     sizeof(message)),
			-EINVAL);
	cr_expect_not_null(strstr(message, "nobody"), "%s", message);
	cr_expect_eq(store_open("file:///nonexistent/x", &settings, &store,
				     message, sizeof(message)),
			-ENOENT);
	cr_expect_not_null(strstr(message, "file:///nonexistent/x: No such"),
			"%s", message);
}
