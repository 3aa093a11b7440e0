#include "main/prices.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "main/text_file.h"

#define PRICE_FILE_LIMIT ((size_t)1 << 16)
#define BILLION 1e9
#define GIB ((uint64_t)1 << 30)

void prices_defaults(struct prices *prices)
{
	*prices = (struct prices){.get = 400, .list = 5000, .head = 400};
}

/* A price in units to billionths, divided by `per`. */
static int parse_price(const char *text, double per, uint64_t *out_price)
{
	char *end = NULL;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(value) || value < 0 ||
			value > 1e6) {
		return -EINVAL;
	}
	*out_price = (uint64_t)(value * BILLION / per + 0.5);
	return 0;
}

static int set_price(const char *name, const char *value, struct prices *prices)
{
	const struct {
		const char *name;
		uint64_t *price;
		double per;
	} known[] = {
			{"get_per_1000", &prices->get, 1000},
			{"list_per_1000", &prices->list, 1000},
			{"head_per_1000", &prices->head, 1000},
			{"egress_per_gib", &prices->egress_gib, 1},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) == 0) {
			return parse_price(value, known[i].per, known[i].price);
		}
	}
	return -EINVAL;
}

int prices_parse(const char *path, char *text, struct prices *prices,
		char *message, size_t message_size)
{
	struct prices read = *prices;
	unsigned number = 0;

	for (;;) {
		char *line = text_file_next_line(&text);
		char *name = NULL;
		char *value = NULL;

		if (line == NULL) {
			*prices = read;
			return 0;
		}
		number++;
		if (line[0] == '\0') {
			continue;
		}
		text_file_split(line, &name, &value);
		if (value == NULL || set_price(name, value, &read) != 0) {
			(void)snprintf(message, message_size,
					"price_table %s line %u: not like "
					"get_per_1000 = 0.0004 (also "
					"list_per_1000, head_per_1000, "
					"egress_per_gib)",
					path, number);
			return -EINVAL;
		}
	}
}

int prices_read(const char *path, struct prices *prices, char *message,
		size_t message_size)
{
	CLEANUP_FREE char *text = NULL;
	int error = text_file_read(path, PRICE_FILE_LIMIT, &text);

	if (error != 0) {
		(void)snprintf(message, message_size, "price_table %s: %s",
				path, strerror(-error));
		return error;
	}
	return prices_parse(path, text, prices, message, message_size);
}

/* a * b, stopping at the largest value. */
static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product = 0;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum = 0;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t prices_estimate(
		const struct prices *prices, const struct counters *counters)
{
	uint64_t bytes = counters_get(&counters->bytes_store);
	uint64_t cost = times(
			counters_get(&counters->requests_get), prices->get);

	cost = plus(cost, times(counters_get(&counters->requests_list),
					  prices->list));
	cost = plus(cost, times(counters_get(&counters->requests_head),
					  prices->head));
	cost = plus(cost, times(bytes / GIB, prices->egress_gib));
	/* The rest of a GiB, in 2^-20 parts: no overflow. */
	return plus(cost, times(bytes % GIB >> 10, prices->egress_gib) >> 20);
}
