#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "fetch_private.h"

/* What happens because time has passed. */

#define EXPIRE_INTERVAL_MS 1000
#define PROBE_RECHECK_MS 100
/* Retries that are due nearly together are started together: with thousands of
 * them the list is walked 200 times a second at most. */
#define TICK_MS 5

/* A retry that is due goes back to the queue, if the budget has a token. */
static void run_due_locked(
		struct fetch *fetch, struct job *job, uint64_t now_ms)
{
	struct endpoint *endpoint = job->endpoint;
	if (job->due_ms > now_ms) {
		scheduler_wake_locked(fetch, job->due_ms + TICK_MS);
		return;
	}
	if (endpoint->health.down) {
		job_move_locked(job, JOB_PARKED);
		return;
	}
	if (job->budgeted && !bucket_has(&endpoint->budget, 0, now_ms)) {
		endpoint->starved = true;
		scheduler_wake_locked(fetch,
				now_ms + bucket_wait_ms(&endpoint->budget, 0,
							 now_ms));
		return;
	}
	if (job->budgeted) {
		bucket_take(&endpoint->budget, 1);
	}
	job_resume_locked(job);
}

struct expiry {
	const struct fetch *fetch;
	const struct endpoint *endpoint;
	uint64_t now_ms;
};

/* Of an endpoint that is down: prefetch does not wait for it. */
static bool range_has_expired(
		const struct fetch_range *range, const void *context)
{
	const struct expiry *expiry = context;
	return !range->demand ||
	       endpoint_timed_out_locked(expiry->fetch, expiry->endpoint,
			       &range->retry, expiry->now_ms);
}

/* What a reader gives up for is the newest fault of the endpoint. */
static void keep_fault_locked(
		struct fetch *fetch, const struct endpoint *endpoint)
{
	memcpy(fetch->last_failure, endpoint->fault,
			sizeof(fetch->last_failure));
}

static unsigned expire_jobs_locked(
		struct fetch *fetch, struct job *list, uint64_t now_ms)
{
	unsigned count = 0;
	struct job *job = NULL;
	struct job *next = NULL;
	DL_FOREACH_SAFE (list, job, next) {
		const struct endpoint *endpoint = job->endpoint;
		const unsigned late =
				job->ops->expire(job, now_ms, &fetch->endings);
		if (late > 0) {
			keep_fault_locked(fetch, endpoint);
		}
		count += late;
	}
	return count;
}

static unsigned expire_endpoint_locked(
		struct fetch *fetch, struct endpoint *endpoint, uint64_t now_ms)
{
	const struct expiry expiry = {
			.fetch = fetch,
			.endpoint = endpoint,
			.now_ms = now_ms,
	};
	unsigned count = expire_jobs_locked(fetch, endpoint->metadata, now_ms);
	count += expire_jobs_locked(fetch, endpoint->parked, now_ms);
	struct fetch_range *list = queue_take(
			&endpoint->queue, range_has_expired, &expiry);
	const struct fetch_range *range = NULL;
	DL_FOREACH (list, range) {
		if (range->demand) {
			keep_fault_locked(fetch, endpoint);
			count++;
		}
	}
	endings_add_ranges(&fetch->endings, list, -EIO);
	return count;
}

/* Once a second while somebody may have waited too long. */
static unsigned expire_locked(struct fetch *fetch, uint64_t now_ms)
{
	if (now_ms < fetch->expire_ms) {
		return 0;
	}
	fetch->expire_ms = now_ms + EXPIRE_INTERVAL_MS;
	unsigned count = expire_jobs_locked(fetch, fetch->delayed, now_ms);
	struct endpoint *endpoint = NULL;
	DL_FOREACH (fetch->endpoints, endpoint) {
		if (endpoint->health.down) {
			count += expire_endpoint_locked(
					fetch, endpoint, now_ms);
		}
	}
	return count;
}

/* A probe that is due and not sent waits for a transfer to end, not for us. */
static void wake_for_probe_locked(struct fetch *fetch,
		const struct endpoint *endpoint, uint64_t now_ms)
{
	const uint64_t probe_ms = endpoint->health.probe_ms;
	scheduler_wake_locked(
			fetch, probe_ms > now_ms ? probe_ms
						 : now_ms + PROBE_RECHECK_MS);
}

static bool endpoint_is_awaited(const struct endpoint *endpoint)
{
	return endpoint->metadata != NULL || endpoint->parked != NULL ||
	       endpoint->queue.counts[QUEUE_DEMAND] > 0 ||
	       endpoint->queue.counts[QUEUE_PREFETCH] > 0;
}

unsigned tick_locked(struct fetch *fetch, uint64_t now_ms)
{
	fetch->wake_ms = UINT64_MAX;
	struct endpoint *endpoint = NULL;
	DL_FOREACH (fetch->endpoints, endpoint) {
		endpoint->starved = false;
	}
	struct job *job = NULL;
	struct job *next = NULL;
	DL_FOREACH_SAFE (fetch->delayed, job, next) {
		run_due_locked(fetch, job, now_ms);
	}
	const unsigned count = expire_locked(fetch, now_ms);
	DL_FOREACH (fetch->endpoints, endpoint) {
		if (endpoint->health.down && endpoint_is_awaited(endpoint)) {
			scheduler_wake_locked(fetch, fetch->expire_ms);
			wake_for_probe_locked(fetch, endpoint, now_ms);
		}
	}
	return count;
}
