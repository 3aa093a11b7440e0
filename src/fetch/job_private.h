#ifndef FETCH_JOB_PRIVATE_H
#define FETCH_JOB_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "limiter_private.h"

struct endings;
struct endpoint;
struct fetch;
struct job;
struct retry_decision;
struct store_call;
struct store_outcome;

/*
 * Something to ask a store for, with one store call at a time: a flight (one
 * request for ranges), a stat, a listing.
 *
 *   HELD     in the hands of one thread: new, or ended
 *   QUEUED   waits for a transfer (metadata; ranges wait in struct queue)
 *   ACTIVE   a store call is under way
 *   DELAYED  failed; is due at due_ms and, if budgeted, when a token is there
 *   PARKED   failed; waits until its endpoint answers or for its turn to probe
 *
 *   HELD -> QUEUED                        metadata_submit
 *   QUEUED, HELD -> ACTIVE                job_activate_locked
 *   ACTIVE -> HELD                        job_done
 *   HELD -> DELAYED, PARKED               job_retry_locked
 *   DELAYED -> PARKED                     tick_locked
 *   DELAYED, PARKED -> QUEUED             job_resume_locked (metadata)
 *   DELAYED, PARKED -> HELD, freed        job_resume_locked (flight: its ranges
 *                                         go back to the queue)
 *   any but ACTIVE -> HELD                stop, time out, cancel
 */
enum job_state { JOB_HELD, JOB_QUEUED, JOB_ACTIVE, JOB_DELAYED, JOB_PARKED };

/* All but start, finish and free run under the scheduler's lock. */
struct job_ops {
	/* Makes the store call. */
	int (*start)(struct job *job, struct store_call **out_call);
	/*
	 * An attempt ended with `outcome`: ends the job, resumes it, or calls
	 * job_retry_locked. True when something that a reader waits for was
	 * given up: that is told and counted.
	 */
	bool (*settle)(struct job *job, const struct store_outcome *outcome,
			uint64_t now_ms, struct endings *endings);
	/* Back to the queue. */
	void (*requeue)(struct job *job);
	/* Ends all that is left of it. The job may be gone afterwards. */
	void (*end)(struct job *job, int error, struct endings *endings);
	/* While it waits and the endpoint may be down: ends what has waited too
	 * long. How many; the job may be gone then. */
	unsigned (*expire)(struct job *job, uint64_t now_ms,
			struct endings *endings);
	/* What failed, for the log. */
	void (*describe)(const struct job *job, char *buffer, size_t size);
	/* Tells who waits for it (metadata). */
	void (*finish)(struct job *job);
	void (*free)(struct job *job);
};

struct job {
	/* Set at creation. */
	const struct job_ops *ops;
	struct fetch *fetch;
	struct endpoint *endpoint;
	/* Guarded by the scheduler's lock. */
	enum job_state state;
	struct job *prev, *next; /* In the list of its state. */
	struct job *ending_next; /* In struct endings. */
	unsigned references;	 /* Owner, store's callback, starter. */
	unsigned starts;	 /* Tells one attempt from the next. */
	struct store_call *call; /* A reference; while ACTIVE. */
	uint64_t due_ms;
	bool budgeted;
	/* Who may touch what the job carries while it is ACTIVE: see
	 * job_enter. */
	atomic_int gate;
};

/* The owner's reference is the caller's. */
void job_init_locked(struct job *job, const struct job_ops *ops,
		struct fetch *fetch, struct endpoint *endpoint);
void job_unref_locked(struct job *job);
void job_move_locked(struct job *job, enum job_state state);

/* HELD or QUEUED to ACTIVE: job_start must follow, without the lock. */
void job_activate_locked(struct job *job);
void job_start(struct job *job);

/*
 * Around what a store's callback does. False: fetch_stop has answered for the
 * job while its call is still under way; the callback must touch nothing of
 * what the job carried. Costs no lock, since it is passed for every piece of
 * data.
 */
bool job_enter(struct job *job);
void job_leave(struct job *job);
/* The other side of it, under the lock: true when no callback is inside. */
bool job_seize_locked(struct job *job);

/* The last thing a store's on_done does, inside job_enter or, with outcome
 * NULL, after it returned false. `bytes`: what this attempt brought. */
void job_done(struct job *job, const struct store_outcome *outcome);

void job_retry_locked(struct job *job, const struct retry_decision *decision,
		uint64_t now_ms);
void job_resume_locked(struct job *job);

#endif
