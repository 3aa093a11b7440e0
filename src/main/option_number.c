#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "main/option_table.h"
#include "main/options.h"
#include "option_value_private.h"

#define MIB ((uint64_t)1 << 20)

static int refuse_range(const struct option_value *value, const char *what,
		const char *limit)
{
	char reason[96];

	(void)snprintf(reason, sizeof(reason), "%s allowed is %s", what, limit);
	return option_value_refuse(value, reason);
}

/* A bare small number is nearly always meant in MiB, as other mounts take
 * it. */
static int refuse_bare(const struct option_value *value)
{
	char reason[96];

	(void)snprintf(reason, sizeof(reason),
			"a number alone is bytes; did you mean %.20sM?",
			value->text);
	return option_value_refuse(value, reason);
}

static int parse_bytes(const struct option_value *value, uint64_t *out_bytes)
{
	const struct option_entry *entry = value->entry;
	uint64_t bytes = 0;
	char limit[16];
	int error = size_parse(value->text, &bytes);

	if (error != 0) {
		return option_value_refuse(value,
				error == -ERANGE ? "too large"
						 : "not a size, like 512M or "
						   "1.5G");
	}
	if (bytes != 0 && bytes < MIB && option_value_is_digits(value->text)) {
		return refuse_bare(value);
	}
	if (bytes < entry->least) {
		size_format(entry->least, limit, sizeof(limit));
		return refuse_range(value, "the least", limit);
	}
	if (entry->most != 0 && bytes > entry->most) {
		size_format(entry->most, limit, sizeof(limit));
		return refuse_range(value, "the most", limit);
	}
	*out_bytes = bytes;
	return 0;
}

int option_value_parse_size(const struct option_value *value)
{
	return parse_bytes(value, value->field);
}

int option_value_parse_amount(const struct option_value *value)
{
	struct option_amount *amount = value->field;
	size_t length = strlen(value->text);
	uint64_t bytes = 0;

	if (length == 0 || value->text[length - 1] != '%') {
		int error = parse_bytes(value, &bytes);

		if (error == 0) {
			*amount = (struct option_amount){.bytes = bytes};
		}
		return error;
	}
	unsigned long percent = strtoul(value->text, NULL, 10);

	if (strspn(value->text, "0123456789") != length - 1 || length > 4 ||
			percent < 1 || percent > 100) {
		return option_value_refuse(value, "a share is 1% to 100%");
	}
	*amount = (struct option_amount){.percent = (unsigned)percent};
	return 0;
}

int option_value_parse_duration(const struct option_value *value)
{
	const struct option_entry *entry = value->entry;
	uint64_t ms = 0;

	if (duration_parse_ms(value->text, &ms) != 0) {
		return option_value_refuse(
				value, "not a time, like 60s, 5m or 1h");
	}
	if (ms == DURATION_FOREVER &&
			option_value_word(entry->words, "forever") < 0) {
		return option_value_refuse(
				value, "it has to end some time, like 1h");
	}
	if (ms < entry->least) {
		return refuse_range(value, "the least", "1s");
	}
	if (entry->most != 0 && ms > entry->most) {
		return refuse_range(value, "the most", "1d");
	}
	*(uint64_t *)value->field = ms;
	return 0;
}

int option_value_parse_count(const struct option_value *value)
{
	const struct option_entry *entry = value->entry;
	char reason[96];

	errno = 0;
	unsigned long long count = strtoull(value->text, NULL, 10);

	if (!option_value_is_digits(value->text) || errno != 0 ||
			count < entry->least || count > entry->most) {
		(void)snprintf(reason, sizeof(reason),
				"a number from %" PRIu64 " to %" PRIu64,
				entry->least, entry->most);
		return option_value_refuse(value, reason);
	}
	*(uint64_t *)value->field = count;
	return 0;
}
