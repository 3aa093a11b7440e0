#include <errno.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "fetch_private.h"

/* Gate of a job: a callback goes in from IDLE and comes out to IDLE, stop takes
 * it from IDLE and keeps it. */
enum { GATE_IDLE, GATE_INSIDE, GATE_SEIZED };

void job_init_locked(struct job *job, const struct job_ops *ops,
		struct fetch *fetch, struct endpoint *endpoint)
{
	*job = (struct job){
			.ops = ops,
			.fetch = fetch,
			.endpoint = endpoint,
			.state = JOB_HELD,
			.references = 1,
	};
	atomic_init(&job->gate, GATE_IDLE);
	fetch->job_count++;
}

void job_unref_locked(struct job *job)
{
	struct fetch *fetch = job->fetch;
	if (--job->references > 0) {
		return;
	}
	job->ops->free(job);
	if (--fetch->job_count == 0) {
		pthread_cond_broadcast(&fetch->idle);
	}
}

static struct job **list_of(struct job *job, enum job_state state)
{
	switch (state) {
	case JOB_QUEUED:
		return &job->endpoint->metadata;
	case JOB_ACTIVE:
		return &job->fetch->active;
	case JOB_DELAYED:
		return &job->fetch->delayed;
	case JOB_PARKED:
		return &job->endpoint->parked;
	case JOB_HELD:
		break;
	}
	return NULL;
}

void job_move_locked(struct job *job, enum job_state state)
{
	struct job **from = list_of(job, job->state);
	struct job **to = list_of(job, state);
	if (from != NULL) {
		DL_DELETE(*from, job);
	}
	if (to != NULL) {
		DL_APPEND(*to, job);
	}
	job->state = state;
}

/* ---- The gate ---- */

bool job_enter(struct job *job)
{
	int idle = GATE_IDLE;
	return atomic_compare_exchange_strong(&job->gate, &idle, GATE_INSIDE);
}

void job_leave(struct job *job)
{
	atomic_store(&job->gate, GATE_IDLE);
}

bool job_seize_locked(struct job *job)
{
	int idle = GATE_IDLE;
	return atomic_compare_exchange_strong(&job->gate, &idle, GATE_SEIZED);
}

/* ---- One attempt ---- */

void job_activate_locked(struct job *job)
{
	struct fetch *fetch = job->fetch;
	job_move_locked(job, JOB_ACTIVE);
	atomic_store(&job->gate, GATE_IDLE);
	job->references += 2; /* The store's callback and the starter. */
	job->starts++;
	job->endpoint->active_count++;
	fetch->active_count++;
	counters_add(&fetch->counters->transfers, 1);
}

/* The transfer is free again. The caller unrefs the call without the lock. */
static struct store_call *deactivate_locked(struct job *job)
{
	struct store_call *call = job->call;
	job->call = NULL;
	job_move_locked(job, JOB_HELD);
	job->endpoint->active_count--;
	job->fetch->active_count--;
	counters_sub(&job->fetch->counters->transfers, 1);
	return call;
}

/* The call was not made and its callback will not come. */
static void fail_start_locked(struct job *job, int error)
{
	struct fetch *fetch = job->fetch;
	(void)deactivate_locked(job); /* There is no call. */
	if (job_seize_locked(job)) {
		job->ops->end(job, error, &fetch->endings);
		scheduler_wake_locked(fetch, 0);
	}
	job_unref_locked(job);
}

void job_start(struct job *job)
{
	struct fetch *fetch = job->fetch;
	const unsigned start = job->starts;
	struct store_call *call = NULL;
	bool cancel = false;
	const int error = job->ops->start(job, &call);
	{
		LOCK_SCOPE(&fetch->lock);
		const bool under_way = job->state == JOB_ACTIVE &&
				       job->starts == start;
		cancel = atomic_load(&fetch->stop_error) != 0;
		if (error != 0) {
			fail_start_locked(job, error);
		} else if (under_way && !cancel) {
			job->call = call;
			call = NULL;
		}
	}
	if (call != NULL) {
		if (cancel) {
			store_cancel(call);
		}
		store_call_unref(call);
	}
	LOCK_SCOPE(&fetch->lock);
	job_unref_locked(job);
}

void job_done(struct job *job, const struct store_outcome *outcome)
{
	struct fetch *fetch = job->fetch;
	struct endings endings = {0};
	enum health_change change = HEALTH_SAME;
	struct store_call *call = NULL;
	bool given_up = false;
	{
		LOCK_SCOPE(&fetch->lock);
		const uint64_t now_ms = clock_monotonic_ms();
		const int stop_error = atomic_load(&fetch->stop_error);
		call = deactivate_locked(job);
		if (outcome != NULL && stop_error != 0) {
			job->ops->end(job, stop_error, &endings);
		} else if (outcome != NULL) {
			change = endpoint_judge_locked(
					fetch, job->endpoint, outcome, now_ms);
			given_up = job->ops->settle(
					job, outcome, now_ms, &endings);
		}
	}
	store_call_unref(call);
	endpoint_tell(job->endpoint, change);
	if (given_up) {
		failure_tell(job, outcome);
	}
	endings_deliver(fetch, &endings);
	scheduler_pump(fetch);
	LOCK_SCOPE(&fetch->lock);
	job_unref_locked(job);
}

/* ---- Between attempts ---- */

void job_retry_locked(struct job *job, const struct retry_decision *decision,
		uint64_t now_ms)
{
	struct fetch *fetch = job->fetch;
	if (decision->action == RETRY_PARK) {
		job_move_locked(job, JOB_PARKED);
		scheduler_wake_locked(fetch, job->endpoint->health.probe_ms);
		return;
	}
	if (decision->delay_ms == 0 && !decision->budgeted) {
		job_resume_locked(job);
		return;
	}
	job->due_ms = now_ms + decision->delay_ms;
	job->budgeted = decision->budgeted;
	job_move_locked(job, JOB_DELAYED);
	scheduler_wake_locked(fetch, job->due_ms);
}

void job_resume_locked(struct job *job)
{
	counters_add(&job->fetch->counters->retries, 1);
	job_move_locked(job, JOB_HELD);
	job->ops->requeue(job);
}
