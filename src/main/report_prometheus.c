#include "main/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "base/strbuf.h"

/*
 * The text format, version 0.0.4: HELP and TYPE once before the samples of a
 * name. Failed appends are kept in out->failed.
 */
static void add_head(struct strbuf *out, const char *name, const char *kind,
		const char *help)
{
	(void)strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help,
			name, kind);
}

static void add_number(struct strbuf *out, const char *name, const char *kind,
		const char *help, uint64_t value)
{
	add_head(out, name, kind, help);
	(void)strbuf_printf(out, "%s %" PRIu64 "\n", name, value);
}

/* A label's value: backslash, quote and newline are escaped. */
static void add_label(struct strbuf *out, const char *name, const char *value)
{
	(void)strbuf_printf(out, "%s=\"", name);
	for (; *value != '\0'; value++) {
		if (*value == '\n') {
			(void)strbuf_add_text(out, "\\n");
			continue;
		}
		if (*value == '\\' || *value == '"') {
			(void)strbuf_add_char(out, '\\');
		}
		(void)strbuf_add_char(out, *value);
	}
	(void)strbuf_add_char(out, '"');
}

static void add_info(const struct report_facts *facts, struct strbuf *out)
{
	const char *dir = facts->cache_dir != NULL ? facts->cache_dir : "";

	add_head(out, "shardfs_info", "gauge", "This mount");
	(void)strbuf_add_text(out, "shardfs_info{");
	add_label(out, "version", SHARDFS_VERSION);
	(void)strbuf_add_char(out, ',');
	add_label(out, "source", facts->source);
	(void)strbuf_add_char(out, ',');
	add_label(out, "cache_dir", dir);
	(void)strbuf_add_text(out, "} 1\n");
}

static void add_counter(struct strbuf *out, const char *group,
		const char *json_name, const char *kind, const char *help,
		uint64_t value)
{
	char name[96];

	(void)snprintf(name, sizeof(name), "shardfs_%s%s%s%s", group,
			group[0] != '\0' ? "_" : "", json_name,
			strcmp(kind, "counter") == 0 ? "_total" : "");
	add_number(out, name, kind, help, value);
}

static void add_counters(const struct counters *counters, struct strbuf *out)
{
#define ADD(field, group, name, kind, help)                                    \
	add_counter(out, (#group)[0] == '"' ? "" : #group, #name, #kind, help, \
			counters_get(&counters->field));
	COUNTERS(ADD)
#undef ADD
}

int report_prometheus(const struct report_facts *facts, struct strbuf *out)
{
	add_info(facts, out);
	add_number(out, "shardfs_uptime_seconds", "gauge",
			"Time since the mount", facts->uptime_ms / 1000);
	add_number(out, "shardfs_cache_limit_bytes", "gauge",
			"Limit of the cache directory",
			facts->cache_limit_bytes);
	add_number(out, "shardfs_cache_used_bytes", "gauge",
			"Used in the cache directory", facts->cache_used_bytes);
	add_number(out, "shardfs_memory_limit_bytes", "gauge",
			"Limit of all buffers", facts->memory_limit_bytes);
	add_number(out, "shardfs_passthrough_active", "gauge",
			"Whether files may be passed through by the kernel", 0);
	add_head(out, "shardfs_cost_estimate_usd", "gauge",
			"Estimated cost of requests and bytes");
	(void)strbuf_printf(out, "shardfs_cost_estimate_usd %.9f\n",
			(double)facts->cost_billionths / 1e9);
	add_counters(facts->counters, out);
	return out->failed ? -ENOMEM : 0;
}
