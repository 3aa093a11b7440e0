#include <criterion/criterion.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "base/strbuf.h"
#include "main/report.h"

static struct counters counters;

static struct report_facts facts_of(const char *source)
{
	return (struct report_facts){
			.source = source,
			.cache_dir = "/var/cache/shardfs",
			.cache_limit_bytes = 200ULL << 30,
			.cache_used_bytes = 41ULL << 30,
			.memory_limit_bytes = 1 << 30,
			.uptime_ms = 90061000,
			.cost_billionths = 1500000,
			.passthrough_reason = "why not",
			.counters = &counters,
	};
}

static json_t *load(const struct report_facts *facts)
{
	struct strbuf text;

	strbuf_init(&text, 1 << 20);
	cr_assert_eq(report_json(facts, &text), 0);
	json_t *root = json_loads(text.text, JSON_REJECT_DUPLICATES, NULL);

	strbuf_finish(&text);
	cr_assert_not_null(root);
	return root;
}

static json_int_t number(
		const json_t *root, const char *group, const char *name)
{
	const json_t *value = json_object_get(
			group != NULL ? json_object_get(root, group) : root,
			name);

	cr_assert(json_is_integer(value), "%s", name);
	return json_integer_value(value);
}

Test(report, json_has_what_is_promised)
{
	const struct report_facts facts = facts_of("s3://b/t");

	counters_add(&counters.requests_get, 3);
	counters_add(&counters.cache_hits, 5);
	counters_add(&counters.errors_network, 2);
	counters_add(&counters.errors_denied, 1);
	json_t *root = load(&facts);

	cr_assert_eq(number(root, "requests", "get"), 3);
	cr_assert_eq(number(root, "requests", "list"), 0);
	cr_assert_eq(number(root, "requests", "head"), 0);
	cr_assert_eq(number(root, "bytes", "store"), 0);
	cr_assert_eq(number(root, "bytes", "disk"), 0);
	cr_assert_eq(number(root, "bytes", "memory"), 0);
	cr_assert_eq(number(root, "cache", "hits"), 5);
	cr_assert_eq(number(root, "cache", "misses"), 0);
	cr_assert_eq(number(root, "cache", "limit_bytes"), 200LL << 30);
	cr_assert_eq(number(root, "cache", "used_bytes"), 41LL << 30);
	cr_assert_eq(number(root, NULL, "errors"), 3);
	cr_assert_eq(number(root, "error_causes", "network"), 2);
	cr_assert_eq(number(root, NULL, "uptime_seconds"), 90061);
	cr_assert_str_eq(json_string_value(json_object_get(root, "source")),
			"s3://b/t");
	const json_t *passthrough = json_object_get(root, "passthrough");

	cr_assert(json_is_false(json_object_get(passthrough, "active")));
	cr_assert(json_is_string(json_object_get(passthrough, "reason")));
	cr_assert_str_eq(
			json_string_value(json_object_get(
					json_object_get(root, "cache"), "dir")),
			"/var/cache/shardfs");
	json_decref(root);
}

Test(report, json_without_a_disk_cache_has_no_dir)
{
	struct report_facts facts = facts_of("s3://b");

	facts.cache_dir = NULL;
	json_t *root = load(&facts);

	cr_assert(json_is_null(json_object_get(
			json_object_get(root, "cache"), "dir")));
	json_decref(root);
}

Test(report, odd_bytes_in_the_source_spoil_nothing)
{
	const struct report_facts facts = facts_of("s3://b/\xff\"\n");
	json_t *root = load(&facts);

	cr_assert(json_is_string(json_object_get(root, "source")));
	json_decref(root);
}

static char *metrics(const char *source)
{
	const struct report_facts facts = facts_of(source);
	struct strbuf text;

	strbuf_init(&text, 1 << 20);
	cr_assert_eq(report_prometheus(&facts, &text), 0);
	return strbuf_take(&text);
}

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	for (const char *at = strstr(text, what); at != NULL;
			at = strstr(at + 1, what)) {
		count++;
	}
	return count;
}

Test(report, each_metric_has_help_and_type_once_before_it)
{
	char *text = metrics("s3://b");
	char name[128];
	char expect[160];

	cr_assert_not_null(text);
	for (const char *line = text; *line != '\0';
			line += strcspn(line, "\n") + 1) {
		if (line[0] == '#') {
			continue;
		}
		cr_assert_eq(sscanf(line, "%127[a-z_]", name), 1);
		(void)snprintf(expect, sizeof(expect), "# HELP %s ", name);
		cr_assert_eq(count_of(text, expect), 1, "%s", expect);
		(void)snprintf(expect, sizeof(expect), "# TYPE %s ", name);
		cr_assert_eq(count_of(text, expect), 1, "%s", expect);
		cr_assert_lt(strstr(text, expect), line);
		(void)snprintf(expect, sizeof(expect), "\n%s", name);
	}
	cr_assert_eq(text[strlen(text) - 1], '\n');
	free(text);
}

Test(report, counters_end_in_total_and_gauges_do_not)
{
	counters_add(&counters.requests_get, 7);
	counters_add(&counters.retries, 2);
	char *text = metrics("s3://b");

	cr_assert(strstr(text, "\nshardfs_requests_get_total 7\n") != NULL);
	cr_assert(strstr(text, "\nshardfs_retries_total 2\n") != NULL);
	cr_assert(strstr(text, "\nshardfs_open_files 0\n") != NULL);
	cr_assert(strstr(text, "# TYPE shardfs_open_files gauge\n") != NULL);
	free(text);
}

Test(report, labels_are_escaped)
{
	char *text = metrics("s3://b/\"x\\y\nz");

	cr_assert(strstr(text, "source=\"s3://b/\\\"x\\\\y\\nz\"") != NULL,
			"%s", text);
	free(text);
}

Test(report, people_get_shares_and_sizes)
{
	const struct report_facts facts = facts_of("s3://b/t");
	struct strbuf json, text;

	counters_add(&counters.cache_hits, 3);
	counters_add(&counters.cache_misses, 1);
	counters_add(&counters.errors_network, 2);
	strbuf_init(&json, 1 << 20);
	strbuf_init(&text, 1 << 20);
	cr_assert_eq(report_json(&facts, &json), 0);
	cr_assert_eq(report_text(json.text, json.length, &text), 0);
	cr_assert(strstr(text.text, "s3://b/t, up 1d01:01:01\n") != NULL, "%s",
			text.text);
	cr_assert(strstr(text.text, "75.0% (3 of 4 blocks)") != NULL, "%s",
			text.text);
	cr_assert(strstr(text.text, "41G of 200G used") != NULL);
	cr_assert(strstr(text.text, "errors    2 (network 2)\n") != NULL, "%s",
			text.text);
	cr_assert(strstr(text.text, "$0.0015") != NULL);
	strbuf_finish(&json);
	strbuf_finish(&text);
}

Test(report, what_is_no_report_is_refused)
{
	struct strbuf text;

	strbuf_init(&text, 1 << 20);
	cr_assert_eq(report_text("", 0, &text), -EINVAL);
	cr_assert_eq(report_text("[1]", 3, &text), -EINVAL);
	cr_assert_eq(report_text("{\"source\":", 10, &text), -EINVAL);
	cr_assert_eq(report_text("{}", 2, &text), 0);
	strbuf_finish(&text);
}
