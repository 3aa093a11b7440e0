#ifndef MAIN_REPORT_H
#define MAIN_REPORT_H

#include <stddef.h>
#include <stdint.h>

struct counters;
struct strbuf;

/* What a report shows besides the counters. Borrowed. */
struct report_facts {
	const char *source;
	const char *cache_dir; /* NULL: memory only. */
	uint64_t cache_limit_bytes;
	uint64_t cache_used_bytes;
	uint64_t memory_limit_bytes;
	uint64_t uptime_ms;
	uint64_t cost_billionths;
	const char *passthrough_reason;
	const struct counters *counters;
};

/* Each appends to `out`: 0, -ENOMEM or -EMSGSIZE. */
int report_json(const struct report_facts *facts, struct strbuf *out);
int report_prometheus(const struct report_facts *facts, struct strbuf *out);

/* For people, from the JSON of report_json; -EINVAL if it is not that. */
int report_text(const char *json, size_t length, struct strbuf *out);

#endif
