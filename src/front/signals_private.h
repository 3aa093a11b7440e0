#ifndef FRONT_SIGNALS_PRIVATE_H
#define FRONT_SIGNALS_PRIVATE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct front;

/*
 * SIGTERM, SIGINT and SIGHUP end the mount; a thread of its own takes them, so
 * that the rest needs no signal handlers. It ends the waiting reads, gives
 * their answers a moment to go out, and makes the session's loop return.
 *
 * The loop of libfuse sleeps in sem_wait() of the main thread and looks at the
 * exit flag only when that returns: the thread interrupts it with WAKE_SIGNAL
 * until the loop says that it ended.
 */
struct signals {
	struct front *front; /* Borrowed. */
	pthread_t thread;
	pthread_t main_thread;
	sigset_t before; /* The main thread's mask to go back to. */
	bool blocked;	 /* The owner's, as `running`. */
	bool running;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool loop_ended; /* Guarded by `lock`. */
};

void signals_init(struct signals *signals, struct front *front);
/* Blocks the signals in the calling thread, which will run the loop: from here
 * on none of them kills the process with the mount left behind. */
int signals_block(struct signals *signals);
int signals_start(struct signals *signals);
/* The loop returned. */
void signals_stop(struct signals *signals);
void signals_finish(struct signals *signals);

#endif
