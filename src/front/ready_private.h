#ifndef FRONT_READY_PRIVATE_H
#define FRONT_READY_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>

struct front;

/*
 * Waits until the mount answers, in a thread of its own: it asks for the
 * attributes of the mount point as any process would. libfuse tells of INIT
 * before it is answered, and then the kernel still lowers the read-ahead.
 *
 * The thread may hang while nobody serves: it ends when the session's
 * descriptors are closed, so it is joined after that.
 */
struct ready {
	struct front *front; /* Borrowed. */
	pthread_t thread;
	bool running; /* The owner's. */
};

int ready_start(struct ready *ready, struct front *front);
void ready_join(struct ready *ready);

#endif
