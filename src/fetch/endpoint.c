#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"
#include "fetch_private.h"

#define LOG_MODULE "fetch"

/* Retries that may come at once, and the rate they go on at while nothing
 * succeeds; each success pays for one more. */
#define BUDGET_RETRIES 100
#define BUDGET_PER_SECOND 10

void endpoint_show_limit(struct fetch *fetch, size_t limit)
{
	atomic_store_explicit(
			&fetch->transfer_limit, limit, memory_order_relaxed);
	atomic_store_explicit(&fetch->counters->transfer_limit, limit,
			memory_order_relaxed);
}

/* The widest endpoint counts: one that throttles must not narrow the streams
 * of another. */
static void update_transfer_limit_locked(struct fetch *fetch)
{
	size_t widest = 0;
	const struct endpoint *endpoint = NULL;
	DL_FOREACH (fetch->endpoints, endpoint) {
		if (endpoint->limiter.limit > widest) {
			widest = endpoint->limiter.limit;
		}
	}
	endpoint_show_limit(fetch, widest);
}

struct endpoint *endpoint_get_locked(struct fetch *fetch, struct store *store)
{
	struct endpoint *endpoint = NULL;
	DL_SEARCH_SCALAR(fetch->endpoints, endpoint, store, store);
	if (endpoint != NULL) {
		return endpoint;
	}
	endpoint = calloc(1, sizeof(*endpoint));
	if (endpoint == NULL) {
		return NULL;
	}
	const uint64_t now_ms = clock_monotonic_ms();
	endpoint->store = store;
	health_init(&endpoint->health, fetch->limits.retries, now_ms);
	limiter_init(&endpoint->limiter, fetch->max_connections);
	bucket_init(&endpoint->budget, BUDGET_RETRIES, BUDGET_PER_SECOND,
			now_ms);
	DL_APPEND(fetch->endpoints, endpoint);
	update_transfer_limit_locked(fetch);
	return endpoint;
}

/* From the last, since each goes before all others of its object. */
static void release_parked_locked(struct endpoint *endpoint)
{
	while (endpoint->parked != NULL) {
		job_resume_locked(endpoint->parked->prev);
	}
}

static void apply_change_locked(struct fetch *fetch, struct endpoint *endpoint,
		enum health_change change)
{
	if (change == HEALTH_CAME_BACK) {
		release_parked_locked(endpoint);
	} else if (change == HEALTH_WENT_DOWN) {
		scheduler_wake_locked(fetch, endpoint->health.probe_ms);
	}
}

enum health_change endpoint_alive_locked(
		struct fetch *fetch, struct endpoint *endpoint, uint64_t now_ms)
{
	const enum health_change change =
			health_alive(&endpoint->health, now_ms);
	apply_change_locked(fetch, endpoint, change);
	return change;
}

static void note_success_locked(
		struct fetch *fetch, struct endpoint *endpoint, uint64_t now_ms)
{
	limiter_succeeded(&endpoint->limiter);
	bucket_give(&endpoint->budget, 1);
	if (endpoint->starved) {
		scheduler_wake_locked(fetch, now_ms);
	}
}

enum health_change endpoint_judge_locked(struct fetch *fetch,
		struct endpoint *endpoint, const struct store_outcome *outcome,
		uint64_t now_ms)
{
	const size_t limit = endpoint->limiter.limit;
	if (outcome->error == 0) {
		note_success_locked(fetch, endpoint, now_ms);
	} else {
		snprintf(endpoint->fault, sizeof(endpoint->fault), "%s",
				outcome->detail);
	}
	if (outcome->error != 0 && outcome->advice == STORE_THROTTLED) {
		limiter_throttled(&endpoint->limiter, now_ms);
		counters_add(&fetch->counters->throttled, 1);
	}
	if (endpoint->limiter.limit != limit) {
		update_transfer_limit_locked(fetch);
	}
	const enum health_change change =
			health_judge(&endpoint->health, outcome, now_ms);
	apply_change_locked(fetch, endpoint, change);
	return change;
}

void endpoint_begin_attempt_locked(const struct endpoint *endpoint,
		struct fetch_retry *retry, uint64_t now_ms)
{
	retry_begin(retry, endpoint->health.down ? endpoint->health.alive_ms
						 : now_ms);
}

bool endpoint_timed_out_locked(const struct fetch *fetch,
		const struct endpoint *endpoint,
		const struct fetch_retry *retry, uint64_t now_ms)
{
	struct fetch_retry since = *retry;
	endpoint_begin_attempt_locked(endpoint, &since, now_ms);
	return retry_timed_out(&since, &fetch->limits, now_ms);
}

void endpoint_tell(const struct endpoint *endpoint, enum health_change change)
{
	if (change == HEALTH_WENT_DOWN) {
		log_warn("the store does not answer store=%s",
				store_name(endpoint->store));
	} else if (change == HEALTH_CAME_BACK) {
		log_info("the store answers again store=%s",
				store_name(endpoint->store));
	}
}
