#ifndef MAIN_PRICES_H
#define MAIN_PRICES_H

#include <stddef.h>
#include <stdint.h>

struct counters;

/* In billionths of a currency unit. */
struct prices {
	uint64_t get; /* A request. */
	uint64_t list;
	uint64_t head;
	uint64_t egress_gib; /* A GiB from the store. */
};

/* List prices of S3 Standard, us-east-1, in USD; egress 0 (same region). */
void prices_defaults(struct prices *prices);

/*
 * Replaces prices by those of a file: `get_per_1000 = 0.0004`, and so on for
 * list_per_1000, head_per_1000, egress_per_gib. A negative errno with one
 * line.
 */
int prices_read(const char *path, struct prices *prices, char *message,
		size_t message_size);
int prices_parse(const char *path, char *text, struct prices *prices,
		char *message, size_t message_size);

/* Billionths of a unit for what was counted; stops at UINT64_MAX. */
uint64_t prices_estimate(
		const struct prices *prices, const struct counters *counters);

#endif
