#ifndef FETCH_FETCH_PRIVATE_H
#define FETCH_FETCH_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucket_private.h"
#include "fetch/fetch.h"
#include "health_private.h"
#include "job_private.h"
#include "limiter_private.h"
#include "queue_private.h"
#include "retry_private.h"

struct stat_job;

#define FAILURE_TEXT_SIZE 256

/* One store: what waits for it and how it has behaved. All but `store` is
 * guarded by the scheduler's lock. */
struct endpoint {
	struct store *store; /* Borrowed. */
	struct endpoint *prev, *next;
	struct health health;
	struct limiter limiter;
	struct bucket budget; /* Retries. */
	bool starved;	      /* A retry is due and has no token. */
	size_t active_count;
	struct job *metadata; /* QUEUED */
	struct queue queue;
	struct job *parked;	       /* PARKED */
	char fault[FAILURE_TEXT_SIZE]; /* The words of the newest fault. */
};

/* What was ended under the lock and is told to its owner without it. */
struct endings {
	struct fetch_range *ranges;
	struct job *jobs;
};

/*
 * The scheduler's lock is `lock`; it is a leaf: nothing is called under it that
 * takes another lock, no store and no callback. Invariants:
 *
 * 1. A transfer that may start is started by the thread that made it possible
 *    (scheduler_pump); the timer is only for what must wait for time.
 * 2. Endings of `endings` are told by the timer thread: callers of fetch hear
 *    nothing inside their call.
 * 3. After stop_error is set nothing is queued or tried again.
 */
struct fetch {
	/* Set at creation. */
	struct counters *counters;
	uint64_t part_size;
	size_t max_connections;
	bool rate_limited;
	struct retry_limits limits;
	pthread_t timer;
	bool timer_started;

	atomic_int stop_error;
	atomic_size_t transfer_limit;
	unsigned long long failure_log_state;

	/* Guarded by lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;	    /* The timer. */
	pthread_cond_t idle;	    /* job_count is 0. */
	struct endpoint *endpoints; /* Next to serve first. */
	struct job *active;
	struct job *delayed;
	size_t active_count;
	size_t job_count;
	struct endings endings;
	struct bucket rate;
	struct stat_job *stats; /* Hash, by store and key. */
	uint64_t wake_ms;	/* When the timer must look again. */
	uint64_t expire_ms;	/* When it looks for who waited too long. */
	unsigned short seed[3];
	bool quit;
	char last_failure[FAILURE_TEXT_SIZE];
};

/* scheduler.c */

/* Starts what may start now. Without the lock. */
void scheduler_pump(struct fetch *fetch);
void scheduler_wake_locked(struct fetch *fetch, uint64_t at_ms);
/* Ends all that waits, and what is under way as far as possible. */
void scheduler_stop_locked(struct fetch *fetch, int error);
void scheduler_cancel_active(struct fetch *fetch);
uint32_t scheduler_random_locked(struct fetch *fetch);

/* endpoint.c */

/* Found or made; NULL without memory. */
struct endpoint *endpoint_get_locked(struct fetch *fetch, struct store *store);
/* Sets what fetch_transfer_limit and the statistics say. */
void endpoint_show_limit(struct fetch *fetch, size_t limit);
/* What an outcome says about the endpoint. */
enum health_change endpoint_judge_locked(struct fetch *fetch,
		struct endpoint *endpoint, const struct store_outcome *outcome,
		uint64_t now_ms);
/* A byte came: releases who waits for the endpoint. */
enum health_change endpoint_alive_locked(struct fetch *fetch,
		struct endpoint *endpoint, uint64_t now_ms);
void endpoint_begin_attempt_locked(const struct endpoint *endpoint,
		struct fetch_retry *retry, uint64_t now_ms);
/* A reader has waited its timeout. Who was never asked for waits since the
 * endpoint fell silent, not since it was queued behind others. */
bool endpoint_timed_out_locked(const struct fetch *fetch,
		const struct endpoint *endpoint,
		const struct fetch_retry *retry, uint64_t now_ms);
/* Logs a change. Without the lock. */
void endpoint_tell(const struct endpoint *endpoint, enum health_change change);

/* endings.c */

void endings_add_range(
		struct endings *endings, struct fetch_range *range, int error);
void endings_add_ranges(
		struct endings *endings, struct fetch_range *list, int error);
void endings_add_job(struct endings *endings, struct job *job);
/* Without the lock. */
void endings_deliver(struct fetch *fetch, struct endings *endings);

/* tick.c */

/* The timer's work at `now_ms`; sets wake_ms. How many waited too long. */
unsigned tick_locked(struct fetch *fetch, uint64_t now_ms);

/* timer.c */

int timer_start(struct fetch *fetch);
/* Tells what is still to be told, and ends. */
void timer_stop(struct fetch *fetch);

/* flight.c */

/* A flight for the ranges whose turn it is, HELD; NULL: none may go. */
struct job *flight_take_locked(struct fetch *fetch, struct endpoint *endpoint,
		enum job_class class, uint64_t now_ms);
/* A range of a flight that waits, taken out of it. */
void flight_remove_locked(struct flight *flight, struct fetch_range *range);
struct job *flight_job(struct flight *flight);

/* metadata.c */

/* The one whose turn it is, QUEUED; NULL: none. */
struct job *metadata_take_locked(struct endpoint *endpoint, uint64_t now_ms);

/* failure.c */

/* Logs (not too often), counts and keeps the words. Without the lock. */
void failure_tell(struct job *job, const struct store_outcome *outcome);
void failure_tell_timeouts(struct fetch *fetch, unsigned count);

#endif
