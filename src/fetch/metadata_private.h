#ifndef FETCH_METADATA_PRIVATE_H
#define FETCH_METADATA_PRIVATE_H

#include "fetch_private.h"

/*
 * What stats and listings have in common: a job that goes through the queue
 * again and again until it has its answer. A reader always waits for it.
 */
struct metadata {
	struct job job;
	/* Guarded by lock. */
	struct fetch_retry retry;
	int error; /* What it ended with. */
};

/* Queues a job that was initialised; after a stop it ends. */
void metadata_submit_locked(struct metadata *metadata);

/* The job_ops they share. `end` takes the owner's reference to the endings. */
void metadata_requeue(struct job *job);
void metadata_end(struct job *job, int error, struct endings *endings);
unsigned metadata_expire(
		struct job *job, uint64_t now_ms, struct endings *endings);
/* For `settle`, after a failure. */
bool metadata_settle_failure(struct job *job,
		const struct store_outcome *outcome, uint64_t now_ms,
		struct endings *endings);

static inline struct metadata *metadata_of(struct job *job)
{
	return (struct metadata *)job; /* The first member. */
}

#endif
