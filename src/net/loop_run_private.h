#ifndef NET_LOOP_RUN_PRIVATE_H
#define NET_LOOP_RUN_PRIVATE_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sockets_private.h"

struct net_request;
struct policy;

struct loop {
	/* Set at creation. */
	const struct policy *policy;
	size_t connection_count;
	int wake_fd;
	unsigned long thread;
	bool has_thread;
	pthread_mutex_t lock;

	/* Any thread. */
	atomic_uint references;
	atomic_size_t load;
	atomic_bool stopping; /* Written with the lock held. */

	/* Guarded by lock. */
	struct net_request *inbox;

	/* The loop's thread only, once it runs. */
	CURLM *multi;
	struct sockets sockets;
	struct net_request *active;
	CURL **spare; /* Handles to use again, at most connection_count. */
	size_t spare_count;
	bool has_connections; /* Perhaps. */
	uint64_t idle_since_ms;
};

/* Makes what the thread needs; loop_run_finish frees it, also half of it. */
int loop_run_init(struct loop *loop);
void loop_run_finish(struct loop *loop);

/* The thread, until `stopping`; then it cancels what is there. */
void *loop_run(void *loop);

#endif
