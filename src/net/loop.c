#include "loop_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/workers.h"
#include "loop_run_private.h"
#include "request_private.h"

void loop_ref(struct loop *loop)
{
	atomic_fetch_add(&loop->references, 1);
}

void loop_unref(struct loop *loop)
{
	if (atomic_fetch_sub(&loop->references, 1) > 1) {
		return;
	}
	if (loop->wake_fd >= 0) {
		(void)close(loop->wake_fd); /* An eventfd holds no data. */
	}
	(void)pthread_mutex_destroy(&loop->lock);
	free(loop);
}

void loop_wake(struct loop *loop)
{
	/* Fails only when the count is at its limit: it wakes then too. */
	(void)eventfd_write(loop->wake_fd, 1);
}

size_t loop_load(const struct loop *loop)
{
	return atomic_load_explicit(&loop->load, memory_order_relaxed);
}

struct sockets *loop_sockets(struct loop *loop)
{
	return &loop->sockets;
}

int loop_submit(struct loop *loop, const struct net_request_spec *spec,
		struct net_request **out_request)
{
	struct net_request *request = NULL;
	int error = request_create(spec, loop, &request);
	if (error != 0) {
		return error;
	}
	bool taken = false;
	{
		LOCK_SCOPE(&loop->lock);
		if (!atomic_load(&loop->stopping)) {
			if (out_request != NULL) {
				*out_request = request;
			}
			atomic_fetch_add(&loop->load, 1);
			DL_APPEND(loop->inbox, request);
			taken = true;
		}
	}
	if (!taken) {
		net_request_unref(request); /* The loop's. */
		net_request_unref(request); /* The caller's. */
		return -ECANCELED;
	}
	loop_wake(loop);
	if (out_request == NULL) {
		net_request_unref(request);
	}
	return 0;
}

static int start(struct loop *loop)
{
	loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->wake_fd < 0) {
		return -errno;
	}
	int error = loop_run_init(loop);
	if (error != 0) {
		return error;
	}
	error = workers_start_thread("net", loop_run, loop, &loop->thread);
	loop->has_thread = error == 0;
	return error;
}

int loop_create(const struct policy *policy, size_t connection_count,
		struct loop **out_loop)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	if (loop == NULL) {
		return -ENOMEM;
	}
	loop->policy = policy;
	loop->connection_count = connection_count;
	loop->wake_fd = -1;
	atomic_init(&loop->references, 1);
	(void)pthread_mutex_init(&loop->lock, NULL); /* No attributes. */
	int error = start(loop);
	if (error != 0) {
		loop_stop(loop);
		loop_unref(loop);
		return error;
	}
	*out_loop = loop;
	return 0;
}

void loop_begin_stop(struct loop *loop)
{
	{
		LOCK_SCOPE(&loop->lock);
		atomic_store(&loop->stopping, true);
	}
	loop_wake(loop);
}

void loop_stop(struct loop *loop)
{
	if (loop->has_thread) {
		loop_begin_stop(loop);
		(void)pthread_join(loop->thread, NULL);
	}
	loop_run_finish(loop);
}
