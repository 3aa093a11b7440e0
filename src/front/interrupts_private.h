#ifndef FRONT_INTERRUPTS_PRIVATE_H
#define FRONT_INTERRUPTS_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct parking;

/*
 * A killed job ends even while the store is silent: a parked request is looked
 * at when the kernel tells that a signal came for its caller, and every second
 * once it has waited for one, since the kernel tells only once, and never of
 * direct reads. It is answered EINTR when its caller has SIGKILL pending.
 * Other signals cancel nothing: the data will come, and others may wait for
 * it too. A page that is lost with a killed reader's read-ahead is asked for
 * again by whoever else waits for it.
 */
struct interrupts {
	struct parking *parking; /* Borrowed. */
	pthread_t thread;
	bool running; /* The owner's. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by `lock`. */
	bool noted;
	bool ended;
};

void interrupts_init(struct interrupts *interrupts, struct parking *parking);
int interrupts_start(struct interrupts *interrupts);
void interrupts_stop(struct interrupts *interrupts);
void interrupts_finish(struct interrupts *interrupts);

/* A parked request was interrupted, or the first one was parked. Any thread,
 * never waits. */
void interrupts_note(struct interrupts *interrupts);

/* Whether the text of /proc/PID/status shows SIGKILL as pending, for the
 * thread or for its process. */
bool interrupts_status_says_killed(const char *status);

#endif
