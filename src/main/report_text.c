#include "main/report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/size.h"
#include "base/strbuf.h"

static const json_t *member(
		const json_t *root, const char *group, const char *name)
{
	const json_t *object =
			group != NULL ? json_object_get(root, group) : root;

	return json_object_get(object, name);
}

static uint64_t number(const json_t *root, const char *group, const char *name)
{
	json_int_t value = json_integer_value(member(root, group, name));

	return value > 0 ? (uint64_t)value : 0;
}

static const char *text(const json_t *root, const char *group, const char *name)
{
	return json_string_value(member(root, group, name));
}

struct size_text {
	char text[16];
};

static struct size_text size_of(
		const json_t *root, const char *group, const char *name)
{
	struct size_text size;

	size_format(number(root, group, name), size.text, sizeof(size.text));
	return size;
}

static void add_title(const json_t *root, struct strbuf *out)
{
	uint64_t seconds = number(root, NULL, "uptime_seconds");
	const char *source = text(root, NULL, "source");

	(void)strbuf_printf(out, "%s, up ", source != NULL ? source : "?");
	if (seconds >= 86400) {
		(void)strbuf_printf(out, "%" PRIu64 "d", seconds / 86400);
	}
	(void)strbuf_printf(out, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 "\n",
			seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
}

static void add_cache(const json_t *root, struct strbuf *out)
{
	const char *dir = text(root, "cache", "dir");
	uint64_t hits = number(root, "cache", "hits");
	uint64_t all = hits + number(root, "cache", "misses");

	if (dir == NULL) {
		(void)strbuf_add_text(out, "cache     in memory only\n");
	} else {
		(void)strbuf_printf(out, "cache     %s, %s of %s used\n", dir,
				size_of(root, "cache", "used_bytes").text,
				size_of(root, "cache", "limit_bytes").text);
	}
	if (all > 0) {
		(void)strbuf_printf(out,
				"hits      %.1f%% (%" PRIu64 " of %" PRIu64
				" blocks)\n",
				100.0 * (double)hits / (double)all, hits, all);
	}
	(void)strbuf_printf(out, "memory    %s of %s used\n",
			size_of(root, "memory", "used_bytes").text,
			size_of(root, "memory", "limit_bytes").text);
}

static void add_traffic(const json_t *root, struct strbuf *out)
{
	(void)strbuf_printf(out,
			"bytes     %s read: disk %s, memory %s, store %s\n",
			size_of(root, "bytes", "read").text,
			size_of(root, "bytes", "disk").text,
			size_of(root, "bytes", "memory").text,
			size_of(root, "bytes", "store").text);
	(void)strbuf_printf(out,
			"requests  %" PRIu64 " GET, %" PRIu64 " LIST, %" PRIu64
			" HEAD; %" PRIu64 " sent again, %" PRIu64
			" throttled\n",
			number(root, "requests", "get"),
			number(root, "requests", "list"),
			number(root, "requests", "head"),
			number(root, NULL, "retries"),
			number(root, NULL, "throttled"));
	(void)strbuf_printf(out, "waited    %.1f s for the store\n",
			(double)number(root, NULL, "stall_us") / 1e6);
}

static void add_errors(const json_t *root, struct strbuf *out)
{
	const char *name = NULL;
	const json_t *value = NULL;
	bool first = true;

	(void)strbuf_printf(out, "errors    %" PRIu64,
			number(root, NULL, "errors"));
	json_object_foreach(json_object_get(root, "error_causes"), name, value)
	{
		if (json_integer_value(value) > 0) {
			(void)strbuf_printf(out, "%s%s %" JSON_INTEGER_FORMAT,
					first ? " (" : ", ", name,
					json_integer_value(value));
			first = false;
		}
	}
	(void)strbuf_add_text(out, first ? "\n" : ")\n");
}

static void add_rest(const json_t *root, struct strbuf *out)
{
	const json_t *active = member(root, "passthrough", "active");
	const char *reason = text(root, "passthrough", "reason");

	(void)strbuf_printf(out, "cost      $%.4f (estimate)\n",
			json_real_value(member(root, "cost", "estimate_usd")));
	(void)strbuf_printf(out, "kernel    passthrough %s%s%s\n",
			json_is_true(active) ? "on" : "off",
			reason != NULL ? ": " : "",
			reason != NULL ? reason : "");
}

int report_text(const char *json, size_t length, struct strbuf *out)
{
	json_error_t error;
	json_t *root = json_loadb(json, length, 0, &error);

	if (!json_is_object(root)) {
		json_decref(root);
		return -EINVAL;
	}
	add_title(root, out);
	add_cache(root, out);
	add_traffic(root, out);
	add_errors(root, out);
	add_rest(root, out);
	json_decref(root);
	return out->failed ? -ENOMEM : 0;
}
