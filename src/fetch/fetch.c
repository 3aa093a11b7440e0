#include "fetch/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "fetch_private.h"
#include "store/object.h"

/* With max_rate, a request is at most a quarter of a second of it: after a
 * large one all others wait until it is paid for. */
#define RATE_PARTS_PER_SECOND 4
#define RATE_PART_MIN ((uint64_t)65536)

static uint64_t choose_part_size(const struct fetch_settings *settings)
{
	if (settings->max_rate == 0) {
		return settings->part_size;
	}
	uint64_t part = settings->max_rate / RATE_PARTS_PER_SECOND;
	if (part < RATE_PART_MIN) {
		part = RATE_PART_MIN;
	}
	return part < settings->part_size ? part : settings->part_size;
}

/* Only the spread of the waits hangs on it. */
static void seed_random(struct fetch *fetch)
{
	if (getrandom(fetch->seed, sizeof(fetch->seed), GRND_NONBLOCK) < 0) {
		const uint64_t now_us = clock_monotonic_us();
		memcpy(fetch->seed, &now_us, sizeof(fetch->seed));
	}
}

static void init_sync(struct fetch *fetch)
{
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&fetch->lock, NULL);
	pthread_cond_init(&fetch->wake, &attributes);
	pthread_cond_init(&fetch->idle, NULL);
	pthread_condattr_destroy(&attributes);
}

int fetch_create(
		const struct fetch_settings *settings, struct fetch **out_fetch)
{
	if (settings->part_size == 0 || settings->max_connections == 0) {
		return -EINVAL;
	}
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	if (fetch == NULL) {
		return -ENOMEM;
	}
	fetch->counters = settings->counters;
	fetch->part_size = choose_part_size(settings);
	fetch->max_connections = settings->max_connections;
	fetch->rate_limited = settings->max_rate > 0;
	fetch->limits = (struct retry_limits){
			.retries = settings->retries,
			.timeout_ms = settings->timeout_ms,
	};
	fetch->wake_ms = UINT64_MAX;
	endpoint_show_limit(fetch, settings->max_connections);
	bucket_init(&fetch->rate,
			(double)settings->max_rate / RATE_PARTS_PER_SECOND,
			(double)settings->max_rate, clock_monotonic_ms());
	seed_random(fetch);
	init_sync(fetch);
	const int error = timer_start(fetch);
	if (error < 0) {
		fetch_destroy(fetch);
		return error;
	}
	*out_fetch = fetch;
	return 0;
}

void fetch_stop(struct fetch *fetch, int error)
{
	{
		LOCK_SCOPE(&fetch->lock);
		if (atomic_load(&fetch->stop_error) != 0) {
			return;
		}
		atomic_store(&fetch->stop_error, error);
		scheduler_stop_locked(fetch, error);
	}
	scheduler_cancel_active(fetch);
}

void fetch_destroy(struct fetch *fetch)
{
	if (fetch == NULL) {
		return;
	}
	fetch_stop(fetch, -ECANCELED);
	{
		LOCK_SCOPE(&fetch->lock);
		while (fetch->job_count > 0) {
			pthread_cond_wait(&fetch->idle, &fetch->lock);
		}
	}
	timer_stop(fetch);
	struct endpoint *endpoint = NULL;
	struct endpoint *next = NULL;
	DL_FOREACH_SAFE (fetch->endpoints, endpoint, next) {
		free(endpoint);
	}
	pthread_cond_destroy(&fetch->idle);
	pthread_cond_destroy(&fetch->wake);
	pthread_mutex_destroy(&fetch->lock);
	free(fetch);
}

/* ---- Ranges ---- */

static int queue_range_locked(struct fetch *fetch, struct fetch_range *range)
{
	const int stop_error = atomic_load(&fetch->stop_error);
	if (stop_error != 0) {
		return stop_error;
	}
	struct endpoint *endpoint =
			endpoint_get_locked(fetch, range->object->store);
	if (endpoint == NULL) {
		return -ENOMEM;
	}
	if (endpoint->health.down) {
		scheduler_wake_locked(fetch, endpoint->health.probe_ms);
	}
	return queue_push(&endpoint->queue, range, false);
}

static void submit_locked(
		struct fetch *fetch, struct fetch_range *range, uint64_t now_ms)
{
	range->done_bytes = 0;
	range->retry = (struct fetch_retry){.silent_since_ms = now_ms};
	range->flight = NULL;
	range->canceled = false;
	range->ended = false;
	const int error = queue_range_locked(fetch, range);
	if (error != 0) {
		endings_add_range(&fetch->endings, range, error);
		scheduler_wake_locked(fetch, 0);
	}
}

void fetch_ranges_submit(struct fetch *fetch, struct fetch_range *const *ranges,
		size_t count)
{
	{
		LOCK_SCOPE(&fetch->lock);
		const uint64_t now_ms = clock_monotonic_ms();
		for (size_t i = 0; i < count; i++) {
			submit_locked(fetch, ranges[i], now_ms);
		}
	}
	scheduler_pump(fetch);
}

void fetch_range_submit(struct fetch *fetch, struct fetch_range *range)
{
	fetch_ranges_submit(fetch, &range, 1);
}

static struct queue *queue_of_locked(
		struct fetch *fetch, const struct fetch_range *range)
{
	/* Found: the range is queued there. */
	return &endpoint_get_locked(fetch, range->object->store)->queue;
}

void fetch_range_promote(struct fetch *fetch, struct fetch_range *range)
{
	{
		LOCK_SCOPE(&fetch->lock);
		if (range->ended) {
			return;
		}
		range->canceled = false;
		if (range->demand) {
			return;
		}
		range->retry.silent_since_ms = clock_monotonic_ms();
		if (range->flight == NULL) {
			queue_promote(queue_of_locked(fetch, range), range);
		}
		range->demand = true;
	}
	scheduler_pump(fetch);
}

void fetch_range_cancel(struct fetch *fetch, struct fetch_range *range)
{
	LOCK_SCOPE(&fetch->lock);
	if (range->ended) {
		return;
	}
	if (range->flight == NULL) {
		queue_remove(queue_of_locked(fetch, range), range);
	} else if (flight_job(range->flight)->state == JOB_ACTIVE) {
		range->canceled = true;
		return;
	} else {
		flight_remove_locked(range->flight, range);
	}
	endings_add_range(&fetch->endings, range, -ECANCELED);
	scheduler_wake_locked(fetch, 0);
}

size_t fetch_transfer_limit(struct fetch *fetch)
{
	const size_t limit = atomic_load_explicit(
			&fetch->transfer_limit, memory_order_relaxed);
	return limiter_share(limit, JOB_PREFETCH);
}
