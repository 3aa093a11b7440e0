#ifndef FETCH_LIMITER_PRIVATE_H
#define FETCH_LIMITER_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Transfers allowed at once to one endpoint: cut by 0.7 when it asks to slow
 * down, at most once a second since one wave of answers is one complaint, and
 * one more after every 32 successes. Pure.
 */
struct limiter {
	size_t limit;
	size_t most;
	unsigned successes;
	uint64_t cut_ms; /* When it was cut last; 0: never. */
};

void limiter_init(struct limiter *limiter, size_t most);
void limiter_throttled(struct limiter *limiter, uint64_t now_ms);
void limiter_succeeded(struct limiter *limiter);

/* What asks for a transfer. The order is the order of service. */
enum job_class { JOB_METADATA, JOB_DEMAND, JOB_PREFETCH };
#define JOB_CLASSES 3

/* How many of `limit` a class may fill: the last ones are kept free for the
 * classes before it, so that a stat does not wait for a part of prefetch. */
size_t limiter_share(size_t limit, enum job_class class);

#endif
