#ifndef MAIN_WAIT_H
#define MAIN_WAIT_H

#include <pthread.h>
#include <stdbool.h>

/* One result that a callback brings and one thread waits for. */
struct wait {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;
	int error;
};

void wait_init(struct wait *wait);
void wait_finish(struct wait *wait);

/* From the callback, as its last touch of the struct. */
void wait_end(struct wait *wait, int error);
/* Returns the error given to wait_end. */
int wait_for(struct wait *wait);

#endif
