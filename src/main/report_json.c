#include "main/report.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/strbuf.h"

/* The table writes the top group as "", which becomes text with its quotes. */
static bool is_top(const char *group)
{
	return group[0] == '\0' || group[0] == '"';
}

/* The object of that name in `root`, made if missing; `root` for "". */
static json_t *group_of(json_t *root, const char *group)
{
	/* The number "errors" is their sum: the causes need another name. */
	const char *name =
			strcmp(group, "errors") == 0 ? "error_causes" : group;
	json_t *object = json_object_get(root, name);

	if (is_top(group)) {
		return root;
	}
	if (object == NULL) {
		object = json_object();
		/* Takes the reference; a failure shows in json_dumps. */
		(void)json_object_set_new(root, name, object);
	}
	return object;
}

static void set_number(json_t *root, const char *group, const char *name,
		uint64_t value)
{
	(void)json_object_set_new(group_of(root, group), name,
			json_integer((json_int_t)value));
}

static void set_text(json_t *root, const char *group, const char *name,
		const char *value)
{
	json_t *text = value != NULL ? json_string(value) : json_null();

	/* Bytes that are not UTF-8: better nothing than no report. */
	if (text == NULL) {
		text = json_string("?");
	}
	(void)json_object_set_new(group_of(root, group), name, text);
}

static void set_counters(json_t *root, const struct counters *counters)
{
#define SET(field, group, name, kind, help)                                    \
	set_number(root, #group, #name, counters_get(&counters->field));
	COUNTERS(SET)
#undef SET
}

/* Requests that ended in an error, whatever its cause. */
static uint64_t sum_of_errors(const struct counters *counters)
{
	return counters_get(&counters->errors_store) +
	       counters_get(&counters->errors_network) +
	       counters_get(&counters->errors_denied) +
	       counters_get(&counters->errors_changed) +
	       counters_get(&counters->errors_invalid);
}

int report_json(const struct report_facts *facts, struct strbuf *out)
{
	json_t *root = json_object();

	if (root == NULL) {
		return -ENOMEM;
	}
	set_text(root, "", "version", SHARDFS_VERSION);
	set_text(root, "", "source", facts->source);
	set_number(root, "", "uptime_seconds", facts->uptime_ms / 1000);
	set_text(root, "cache", "dir", facts->cache_dir);
	set_number(root, "cache", "limit_bytes", facts->cache_limit_bytes);
	set_number(root, "cache", "used_bytes", facts->cache_used_bytes);
	set_counters(root, facts->counters);
	set_number(root, "", "errors", sum_of_errors(facts->counters));
	set_number(root, "memory", "limit_bytes", facts->memory_limit_bytes);
	(void)json_object_set_new(
			group_of(root, "passthrough"), "active", json_false());
	set_text(root, "passthrough", "reason", facts->passthrough_reason);
	(void)json_object_set_new(group_of(root, "cost"), "estimate_usd",
			json_real((double)facts->cost_billionths / 1e9));
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER |
						      JSON_REAL_PRECISION(9));

	json_decref(root);
	if (text == NULL) {
		return -ENOMEM;
	}
	int error = strbuf_add_text(out, text);

	free(text);
	return error != 0 ? error : strbuf_add_char(out, '\n');
}
