#ifndef NET_LOOP_PRIVATE_H
#define NET_LOOP_PRIVATE_H

#include <stddef.h>

struct net_request;
struct net_request_spec;
struct policy;
struct sockets;

/*
 * One event loop: a thread, a curl multi handle, an inbox. The thread and all
 * of libcurl's objects end in loop_stop; the struct itself stays until the
 * last request that refers to it is gone, so that a late net_cancel finds it.
 */
struct loop;

/* Starts the thread. `policy` is borrowed until loop_stop. At most
 * `connection_count` idle connections are kept. */
int loop_create(const struct policy *policy, size_t connection_count,
		struct loop **out_loop);
void loop_ref(struct loop *loop);
void loop_unref(struct loop *loop);

/* From now on nothing is taken in, and what is there is canceled. */
void loop_begin_stop(struct loop *loop);
/* Waits for the thread's end. Submits are still answered, with -ECANCELED. */
void loop_stop(struct loop *loop);

/* As net_submit. */
int loop_submit(struct loop *loop, const struct net_request_spec *spec,
		struct net_request **out_request);

/* Requests queued or active. Any thread. */
size_t loop_load(const struct loop *loop);

/* Makes the thread look at cancel requests. Any thread, also after the end. */
void loop_wake(struct loop *loop);

/* The loop's thread only. */
struct sockets *loop_sockets(struct loop *loop);

#endif
