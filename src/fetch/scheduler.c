#include <stdlib.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fetch_private.h"

uint32_t scheduler_random_locked(struct fetch *fetch)
{
	return (uint32_t)jrand48(fetch->seed);
}

void scheduler_wake_locked(struct fetch *fetch, uint64_t at_ms)
{
	if (at_ms < fetch->wake_ms) {
		fetch->wake_ms = at_ms;
		pthread_cond_signal(&fetch->wake);
	}
}

/* ---- What may start now ---- */

static bool has_room(const struct fetch *fetch, const struct endpoint *endpoint,
		enum job_class class)
{
	return fetch->active_count <
			       limiter_share(fetch->max_connections, class) &&
	       endpoint->active_count <
			       limiter_share(endpoint->limiter.limit, class);
}

static struct job *pick_from_locked(struct fetch *fetch,
		struct endpoint *endpoint, enum job_class class,
		uint64_t now_ms)
{
	if (!has_room(fetch, endpoint, class) ||
			!health_may_send(&endpoint->health, now_ms)) {
		return NULL;
	}
	struct job *job =
			class == JOB_METADATA
					? metadata_take_locked(endpoint, now_ms)
					: flight_take_locked(fetch, endpoint,
							  class, now_ms);
	if (job != NULL) {
		health_sent(&endpoint->health, now_ms);
		job_activate_locked(job);
	}
	return job;
}

/* One of those who wait for the endpoint goes to probe it, unless somebody new
 * is there to do so. */
static void offer_probe_locked(struct endpoint *endpoint, uint64_t now_ms)
{
	if (endpoint->health.down && endpoint->parked != NULL &&
			endpoint->metadata == NULL &&
			endpoint->queue.counts[QUEUE_DEMAND] == 0 &&
			health_may_send(&endpoint->health, now_ms)) {
		job_resume_locked(endpoint->parked);
	}
}

static struct job *pick_locked(struct fetch *fetch)
{
	const uint64_t now_ms = clock_monotonic_ms();
	struct endpoint *endpoint = NULL;
	DL_FOREACH (fetch->endpoints, endpoint) {
		offer_probe_locked(endpoint, now_ms);
	}
	for (int class = 0; class < JOB_CLASSES; class ++) {
		DL_FOREACH (fetch->endpoints, endpoint) {
			struct job *job = pick_from_locked(fetch, endpoint,
					(enum job_class) class, now_ms);
			if (job == NULL) {
				continue;
			}
			DL_DELETE(fetch->endpoints, endpoint);
			DL_APPEND(fetch->endpoints, endpoint);
			return job;
		}
	}
	return NULL;
}

void scheduler_pump(struct fetch *fetch)
{
	for (;;) {
		struct job *job = NULL;
		{
			LOCK_SCOPE(&fetch->lock);
			job = pick_locked(fetch);
		}
		if (job == NULL) {
			return;
		}
		job_start(job);
	}
}

/* ---- Stop ---- */

static bool any_range(const struct fetch_range *range, const void *context)
{
	return true;
}

static void end_jobs_locked(struct fetch *fetch, struct job *list, int error)
{
	struct job *job = NULL;
	struct job *next = NULL;
	DL_FOREACH_SAFE (list, job, next) {
		job_move_locked(job, JOB_HELD);
		job->ops->end(job, error, &fetch->endings);
	}
}

void scheduler_stop_locked(struct fetch *fetch, int error)
{
	struct endpoint *endpoint = NULL;
	DL_FOREACH (fetch->endpoints, endpoint) {
		end_jobs_locked(fetch, endpoint->metadata, error);
		end_jobs_locked(fetch, endpoint->parked, error);
		endings_add_ranges(&fetch->endings,
				queue_take(&endpoint->queue, any_range, NULL),
				error);
	}
	end_jobs_locked(fetch, fetch->delayed, error);
	struct job *job = NULL;
	DL_FOREACH (fetch->active, job) {
		if (job_seize_locked(job)) {
			job->ops->end(job, error, &fetch->endings);
		}
	}
	scheduler_wake_locked(fetch, 0);
}

void scheduler_cancel_active(struct fetch *fetch)
{
	for (;;) {
		struct store_call *call = NULL;
		{
			LOCK_SCOPE(&fetch->lock);
			struct job *job = NULL;
			DL_FOREACH (fetch->active, job) {
				if (job->call != NULL) {
					call = job->call;
					job->call = NULL;
					break;
				}
			}
		}
		if (call == NULL) {
			return;
		}
		store_cancel(call);
		store_call_unref(call);
	}
}
