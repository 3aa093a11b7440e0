#ifndef FETCH_RETRY_PRIVATE_H
#define FETCH_RETRY_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "fetch/fetch.h"
#include "store/store.h"

/*
 * Whether a request that failed is asked again, and when. Pure: the clock, the
 * random number and the state of the endpoint are given.
 *
 * 1. An attempt that brought bytes is no failed attempt: a server that resets
 *    every 100 KB is read to the end.
 * 2. A server that brings hardly any bytes an attempt still ends: attempts with
 *    less than RETRY_THIN_BYTES are counted and limited by themselves.
 * 3. While the endpoint is down as a whole attempts do not count, the time
 *    without a byte does.
 */
#define RETRY_THIN_BYTES 16384

struct retry_limits {
	unsigned retries;
	uint64_t timeout_ms;
};

struct retry_event {
	const struct store_outcome *outcome;
	uint64_t now_ms;
	uint64_t progress_bytes; /* Of this attempt. */
	uint32_t random;
	bool demand;
	bool endpoint_down;
};

enum retry_action {
	RETRY_GIVE_UP, /* With `error`. */
	RETRY_AFTER,   /* `delay_ms`; 0: at once. */
	RETRY_PARK,    /* Until the endpoint answers. */
};

struct retry_decision {
	enum retry_action action;
	int error;
	uint64_t delay_ms;
	bool budgeted; /* It takes a token of the retry budget. */
};

/* Before each attempt. Time without a byte is counted from the first, not from
 * when it was queued behind others, or from `silent_since_ms` if that was
 * before: while the endpoint is down, all who wait have waited since. */
void retry_begin(struct fetch_retry *retry, uint64_t silent_since_ms);

/* After an attempt that failed (outcome->error is not 0). */
struct retry_decision retry_decide(struct fetch_retry *retry,
		const struct retry_limits *limits,
		const struct retry_event *event);

/* True when a reader has waited its timeout without a byte. */
bool retry_timed_out(const struct fetch_retry *retry,
		const struct retry_limits *limits, uint64_t now_ms);

#endif
