#include "metadata_private.h"

#include <errno.h>

#include "base/clock.h"

void metadata_submit_locked(struct metadata *metadata)
{
	struct job *job = &metadata->job;
	struct fetch *fetch = job->fetch;
	metadata->retry = (struct fetch_retry){
			.silent_since_ms = clock_monotonic_ms(),
	};
	const int stop_error = atomic_load(&fetch->stop_error);
	if (stop_error != 0) {
		job->ops->end(job, stop_error, &fetch->endings);
		scheduler_wake_locked(fetch, 0);
		return;
	}
	job_move_locked(job, JOB_QUEUED);
	/* While the endpoint is down, the timer has to probe for us. */
	if (job->endpoint->health.down) {
		scheduler_wake_locked(fetch, job->endpoint->health.probe_ms);
	}
}

struct job *metadata_take_locked(struct endpoint *endpoint, uint64_t now_ms)
{
	struct job *job = endpoint->metadata;
	if (job != NULL) {
		endpoint_begin_attempt_locked(
				endpoint, &metadata_of(job)->retry, now_ms);
	}
	return job;
}

void metadata_requeue(struct job *job)
{
	job_move_locked(job, JOB_QUEUED);
}

void metadata_end(struct job *job, int error, struct endings *endings)
{
	metadata_of(job)->error = error;
	endings_add_job(endings, job);
}

unsigned metadata_expire(
		struct job *job, uint64_t now_ms, struct endings *endings)
{
	if (!endpoint_timed_out_locked(job->fetch, job->endpoint,
			    &metadata_of(job)->retry, now_ms)) {
		return 0;
	}
	job_move_locked(job, JOB_HELD);
	job->ops->end(job, -EIO, endings);
	return 1;
}

bool metadata_settle_failure(struct job *job,
		const struct store_outcome *outcome, uint64_t now_ms,
		struct endings *endings)
{
	struct fetch *fetch = job->fetch;
	const struct retry_event event = {
			.outcome = outcome,
			.now_ms = now_ms,
			.random = scheduler_random_locked(fetch),
			.demand = true,
			.endpoint_down = job->endpoint->health.down,
	};
	const struct retry_decision decision = retry_decide(
			&metadata_of(job)->retry, &fetch->limits, &event);
	if (decision.action != RETRY_GIVE_UP) {
		job_retry_locked(job, &decision, now_ms);
		return false;
	}
	job->ops->end(job, decision.error, endings);
	return true;
}
