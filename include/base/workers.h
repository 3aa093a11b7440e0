#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stddef.h>

/*
 * A few threads that run tasks in the order given: for work that blocks and
 * must not run in a thread that serves reads or sockets. The queue is bounded
 * by what callers submit: each task's storage is the caller's.
 */
struct workers;

struct workers_task {
	void (*run)(struct workers_task *task);
	struct workers_task *next; /* The pool's. */
};

int workers_create(const char *name, size_t thread_count,
		struct workers **out_workers);
/* Runs what is queued, then joins. */
void workers_destroy(struct workers *workers);
/* Never fails. `task` belongs to the pool until run() is called. */
void workers_submit(struct workers *workers, struct workers_task *task);

/* Starts a named thread with all signals blocked; 0 or a negative errno. */
int workers_start_thread(const char *name, void *(*main)(void *), void *context,
		unsigned long *out_thread /* a pthread_t */);

#endif
