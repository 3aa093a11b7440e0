#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fetch_private.h"
#include "store/object.h"

/*
 * One request for the bytes of neighbouring ranges. Bytes go to the range they
 * belong to as they come, and a range ends with its own last byte. What an
 * attempt leaves undone goes back to the queue as ranges, which remember for
 * themselves what they have and how often they failed.
 *
 * The ranges lie behind each other without gaps. The last may be longer than
 * the request: then the rest is asked for by the next.
 */
struct flight {
	struct job job;
	struct object *object; /* A reference. */
	uint64_t offset;
	uint64_t length;
	/* While ACTIVE: of the thread inside job_enter. Else: of the lock. */
	struct fetch_range *ranges;
	uint64_t given;
	bool misplaced;
};

static struct flight *flight_of(const struct job *job)
{
	return (struct flight *)job; /* The first member. */
}

struct job *flight_job(struct flight *flight)
{
	return &flight->job;
}

/* ---- Bytes ---- */

/* Bytes came: the endpoint is alive, and `complete`, if not NULL, has all its
 * bytes. Taking the lock at the first byte and once a range is enough. */
static void note_bytes(struct flight *flight, struct fetch_range *complete)
{
	struct job *job = &flight->job;
	enum health_change change = HEALTH_SAME;
	{
		LOCK_SCOPE(&job->fetch->lock);
		change = endpoint_alive_locked(job->fetch, job->endpoint,
				clock_monotonic_ms());
		if (complete != NULL) {
			DL_DELETE(flight->ranges, complete);
			complete->ended = true;
		}
	}
	if (complete != NULL) {
		complete->on_done(complete, 0);
	}
	if (change == HEALTH_CAME_BACK) {
		endpoint_tell(job->endpoint, change);
		scheduler_pump(job->fetch);
	}
}

static void give_bytes(struct flight *flight, const char *data, size_t length)
{
	while (length > 0) {
		struct fetch_range *range = flight->ranges;
		const uint64_t start = range_start(range);
		const uint64_t wanted = range_end(range) - start;
		const size_t count = wanted < length ? (size_t)wanted : length;
		range->on_data(range, start, data, count);
		range->done_bytes += count;
		flight->given += count;
		data += count;
		length -= count;
		if (count == wanted) {
			note_bytes(flight, range);
		}
	}
}

static int on_data(
		void *context, uint64_t offset, const void *data, size_t length)
{
	struct flight *flight = context;
	struct job *job = &flight->job;
	if (!job_enter(job)) {
		return -ECANCELED;
	}
	if (offset != flight->offset + flight->given ||
			length > flight->length - flight->given) {
		flight->misplaced = true;
		job_leave(job);
		return -EIO;
	}
	if (flight->given == 0) {
		note_bytes(flight, NULL);
	}
	give_bytes(flight, data, length);
	job_leave(job);
	return atomic_load_explicit(&job->fetch->stop_error,
			       memory_order_relaxed) != 0
			       ? -ECANCELED
			       : 0;
}

/* What the store says, unless the bytes say otherwise. */
static struct store_outcome check_outcome(
		const struct flight *flight, const struct store_outcome *told)
{
	struct store_outcome outcome = *told;
	const bool cut = told->error == 0 && flight->given < flight->length;
	if (flight->misplaced || cut) {
		outcome.error = -EIO;
		outcome.advice = STORE_RETRY;
		outcome.answered = true;
		outcome.detail =
				cut ? "answer too short" : "bytes not as asked";
	} else if (told->error == -ENOENT) {
		outcome.error = -ESTALE; /* It was there when it was listed. */
	}
	return outcome;
}

static void on_done(void *context, const struct store_outcome *outcome)
{
	struct flight *flight = context;
	if (!job_enter(&flight->job)) {
		job_done(&flight->job, NULL);
		return;
	}
	const struct store_outcome checked = check_outcome(flight, outcome);
	job_done(&flight->job, &checked);
}

/* ---- The job ---- */

static int start(struct job *job, struct store_call **out_call)
{
	static const struct store_callbacks_get callbacks = {
			.on_data = on_data,
			.on_done = on_done,
	};
	struct flight *flight = flight_of(job);
	return store_get(job->endpoint->store, flight->object, flight->offset,
			flight->length, &callbacks, flight, out_call);
}

static void end_range(struct flight *flight, struct fetch_range *range,
		int error, struct endings *endings)
{
	DL_DELETE(flight->ranges, range);
	endings_add_range(endings, range, error);
}

static void end(struct job *job, int error, struct endings *endings)
{
	struct flight *flight = flight_of(job);
	while (flight->ranges != NULL) {
		end_range(flight, flight->ranges, error, endings);
	}
	job_unref_locked(job);
}

/* A range that nobody wants any more ends here, the others go first, as they
 * were served before; the flight ends. */
static void requeue(struct job *job)
{
	struct flight *flight = flight_of(job);
	struct fetch *fetch = job->fetch;
	while (flight->ranges != NULL) {
		struct fetch_range *last = flight->ranges->prev;
		DL_DELETE(flight->ranges, last);
		last->flight = NULL;
		const int error =
				last->canceled ? -ECANCELED
					       : queue_push(&job->endpoint->queue,
								 last, true);
		if (error != 0) {
			endings_add_range(&fetch->endings, last, error);
			scheduler_wake_locked(fetch, 0);
		}
	}
	job_unref_locked(job);
}

/* Each range decides for itself; those that go on wait together, for the
 * longest of them. */
static void merge_decision(
		struct retry_decision *all, const struct retry_decision *one)
{
	if (one->action == RETRY_PARK) {
		all->action = RETRY_PARK;
	}
	if (one->delay_ms > all->delay_ms) {
		all->delay_ms = one->delay_ms;
	}
	all->budgeted = all->budgeted || one->budgeted;
}

static bool settle_failure(struct flight *flight,
		const struct store_outcome *outcome, uint64_t now_ms,
		struct endings *endings)
{
	struct job *job = &flight->job;
	struct fetch *fetch = job->fetch;
	struct retry_event event = {
			.outcome = outcome,
			.now_ms = now_ms,
			.progress_bytes = flight->given,
			.random = scheduler_random_locked(fetch),
			.endpoint_down = job->endpoint->health.down,
	};
	struct retry_decision all = {.action = RETRY_AFTER};
	bool told = false;
	struct fetch_range *range = NULL;
	struct fetch_range *next = NULL;
	DL_FOREACH_SAFE (flight->ranges, range, next) {
		if (range->canceled) {
			end_range(flight, range, -ECANCELED, endings);
			continue;
		}
		event.demand = range->demand;
		const struct retry_decision one = retry_decide(
				&range->retry, &fetch->limits, &event);
		if (one.action == RETRY_GIVE_UP) {
			told = told || range->demand;
			end_range(flight, range, one.error, endings);
		} else {
			merge_decision(&all, &one);
		}
	}
	if (flight->ranges == NULL) {
		job_unref_locked(job);
	} else {
		job_retry_locked(job, &all, now_ms);
	}
	return told;
}

/* What went wrong before the bytes that came does not count for the rest. */
static void start_afresh(struct flight *flight, uint64_t now_ms)
{
	struct fetch_range *range = NULL;
	DL_FOREACH (flight->ranges, range) {
		range->retry = (struct fetch_retry){.silent_since_ms = now_ms};
	}
}

static bool settle(struct job *job, const struct store_outcome *outcome,
		uint64_t now_ms, struct endings *endings)
{
	struct flight *flight = flight_of(job);
	if (outcome->error == 0) {
		start_afresh(flight, now_ms);
		requeue(job);
		return false;
	}
	if (job->fetch->rate_limited) { /* What was paid for and did not come.
					 */
		bucket_give(&job->fetch->rate,
				(double)(flight->length - flight->given));
	}
	return settle_failure(flight, outcome, now_ms, endings);
}

static unsigned expire(
		struct job *job, uint64_t now_ms, struct endings *endings)
{
	struct flight *flight = flight_of(job);
	const bool down = job->endpoint->health.down;
	unsigned count = 0;
	struct fetch_range *range = NULL;
	struct fetch_range *next = NULL;
	DL_FOREACH_SAFE (flight->ranges, range, next) {
		const bool late = retry_timed_out(
				&range->retry, &job->fetch->limits, now_ms);
		if (range->demand ? late : down) {
			count += range->demand;
			end_range(flight, range, -EIO, endings);
		}
	}
	if (flight->ranges == NULL) {
		job_move_locked(job, JOB_HELD);
		job_unref_locked(job);
	}
	return count;
}

static void describe(const struct job *job, char *buffer, size_t size)
{
	const struct flight *flight = flight_of(job);
	snprintf(buffer, size, "key=%s offset=%" PRIu64 " length=%" PRIu64,
			flight->object->key, flight->offset, flight->length);
}

static void free_flight(struct job *job)
{
	struct flight *flight = flight_of(job);
	object_unref(flight->object);
	free(flight);
}

static const struct job_ops flight_ops = {
		.start = start,
		.settle = settle,
		.requeue = requeue,
		.end = end,
		.expire = expire,
		.describe = describe,
		.free = free_flight,
};

static struct flight *create_flight_locked(struct fetch *fetch,
		struct endpoint *endpoint, struct fetch_range *ranges,
		uint64_t length)
{
	struct flight *flight = calloc(1, sizeof(*flight));
	if (flight == NULL) {
		endings_add_ranges(&fetch->endings, ranges, -ENOMEM);
		scheduler_wake_locked(fetch, 0);
		return NULL;
	}
	job_init_locked(&flight->job, &flight_ops, fetch, endpoint);
	flight->object = object_ref(ranges->object);
	flight->offset = range_start(ranges);
	flight->length = length;
	flight->ranges = ranges;
	return flight;
}

struct job *flight_take_locked(struct fetch *fetch, struct endpoint *endpoint,
		enum job_class class, uint64_t now_ms)
{
	const enum queue_class queue_class =
			class == JOB_DEMAND ? QUEUE_DEMAND : QUEUE_PREFETCH;
	if (endpoint->queue.counts[queue_class] == 0) {
		return NULL;
	}
	if (fetch->rate_limited && !bucket_has(&fetch->rate, 0, now_ms)) {
		scheduler_wake_locked(
				fetch, now_ms + bucket_wait_ms(&fetch->rate, 0,
								now_ms));
		return NULL;
	}
	uint64_t length = 0;
	struct fetch_range *ranges = queue_pop(&endpoint->queue, queue_class,
			fetch->part_size, &length);
	struct flight *flight =
			create_flight_locked(fetch, endpoint, ranges, length);
	if (flight == NULL) {
		return NULL;
	}
	struct fetch_range *range = NULL;
	DL_FOREACH (ranges, range) {
		range->flight = flight;
		endpoint_begin_attempt_locked(endpoint, &range->retry, now_ms);
	}
	if (fetch->rate_limited) {
		bucket_take(&fetch->rate, (double)length);
	}
	return &flight->job;
}

void flight_remove_locked(struct flight *flight, struct fetch_range *range)
{
	DL_DELETE(flight->ranges, range);
	range->flight = NULL;
	if (flight->ranges == NULL) {
		job_move_locked(&flight->job, JOB_HELD);
		job_unref_locked(&flight->job);
	}
}
