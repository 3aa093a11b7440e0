#include "loop_private.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/workers.h"
#include "request_private.h"
#include "sockets_private.h"

/* Tests move the clock under a waiting loop, so no wait is longer. */
#define LONGEST_WAIT_MS 1000

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

static CURLM *create_multi(size_t connection_count)
{
	CURLM *multi = curl_multi_init();
	if (multi == NULL) {
		return NULL;
	}
	if (curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
			    (long)connection_count) != CURLM_OK) {
		(void)curl_multi_cleanup(multi); /* It is empty. */
		return NULL;
	}
	return multi;
}

static CURL *take_easy(struct loop *loop)
{
	if (loop->spare_count > 0) {
		return loop->spare[--loop->spare_count];
	}
	return curl_easy_init();
}

static void give_easy(struct loop *loop, CURL *easy)
{
	if (loop->spare_count == loop->connection_count) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_reset(easy);
	loop->spare[loop->spare_count++] = easy;
}

static void end_request(struct loop *loop, struct net_request *request,
		CURLcode code, bool canceled, const char *timeout)
{
	atomic_fetch_sub(&loop->load, 1);
	request_end(request, code, canceled, timeout);
}

/* Ends an active request. One that is not complete loses its connection. */
static void retire(struct loop *loop, struct net_request *request,
		CURLcode code, bool canceled, const char *timeout)
{
	CURL *easy = request_detach(request);
	DL_DELETE(loop->active, request);
	if (curl_multi_remove_handle(loop->multi, easy) != CURLM_OK) {
		assert(!"a handle of another loop");
	}
	give_easy(loop, easy);
	loop->has_connections = true;
	loop->idle_since_ms = clock_monotonic_ms();
	end_request(loop, request, code, canceled, timeout);
}

static bool activate(struct loop *loop, struct net_request *request)
{
	CURL *easy = take_easy(loop);
	if (easy == NULL) {
		return false;
	}
	if (request_start(request, easy, loop->policy, clock_monotonic_ms()) !=
					0 ||
			curl_multi_add_handle(loop->multi, easy) != CURLM_OK) {
		give_easy(loop, easy);
		return false;
	}
	DL_APPEND(loop->active, request);
	return true;
}

static struct net_request *take_inbox(struct loop *loop)
{
	LOCK_SCOPE(&loop->lock);
	struct net_request *taken = loop->inbox;
	loop->inbox = NULL;
	return taken;
}

static void start_submitted(struct loop *loop)
{
	struct net_request *taken = take_inbox(loop);

	while (taken != NULL) {
		struct net_request *request = taken;
		DL_DELETE(taken, request);
		if (atomic_load(&request->cancel_requested) ||
				atomic_load(&loop->stopping)) {
			end_request(loop, request, CURLE_OK, true, NULL);
		} else if (!activate(loop, request)) {
			end_request(loop, request, CURLE_OUT_OF_MEMORY, false,
					NULL);
		}
	}
}

static void retire_all(struct loop *loop, CURLcode code, bool canceled)
{
	while (loop->active != NULL) {
		retire(loop, loop->active, code, canceled, NULL);
	}
}

static void retire_completed(struct loop *loop)
{
	int left = 0;
	CURLMsg *message = curl_multi_info_read(loop->multi, &left);

	while (message != NULL) {
		assert(message->msg == CURLMSG_DONE);
		CURLcode code = message->data.result;
		char *request = NULL;
		/* It was set when the request was started. */
		(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
				&request);
		retire(loop, (struct net_request *)(void *)request, code, false,
				NULL);
		message = curl_multi_info_read(loop->multi, &left);
	}
}

static void retire_canceled_and_late(struct loop *loop)
{
	uint64_t now_ms = clock_monotonic_ms();
	struct net_request *request;
	struct net_request *next;

	DL_FOREACH_SAFE (loop->active, request, next) {
		if (atomic_load(&request->cancel_requested)) {
			retire(loop, request, CURLE_OK, true, NULL);
		} else if (deadline_at_ms(&request->deadline) <= now_ms) {
			retire(loop, request, CURLE_OK, false,
					deadline_reason(&request->deadline,
							now_ms));
		}
	}
}

/* A loop without transfers for idle_seconds has only connections that are too
 * old to use. A new multi handle is how libcurl closes them without being
 * asked for a transfer. */
static void close_old_connections(struct loop *loop)
{
	uint64_t age_ms = clock_monotonic_ms() - loop->idle_since_ms;
	if (loop->active != NULL || !loop->has_connections ||
			age_ms < loop->policy->idle_seconds * 1000ULL) {
		return;
	}
	CURLM *multi = create_multi(loop->connection_count);
	if (multi == NULL) {
		return; /* Next time. */
	}
	(void)curl_multi_cleanup(loop->multi); /* It has no transfers. */
	loop->multi = multi;
	loop->has_connections = false;
}

static int wait_limit_ms(const struct loop *loop)
{
	uint64_t now_ms = clock_monotonic_ms();
	uint64_t until_ms = now_ms + LONGEST_WAIT_MS;
	const struct net_request *request;

	DL_FOREACH (loop->active, request) {
		uint64_t at_ms = deadline_at_ms(&request->deadline);
		until_ms = at_ms < until_ms ? at_ms : until_ms;
	}
	return until_ms > now_ms ? (int)(until_ms - now_ms) : 0;
}

static void wait_for_events(struct loop *loop)
{
	bool is_idle = loop->active == NULL;
	size_t wait_count = is_idle ? loop->sockets.count : 1;
	int limit_ms = wait_limit_ms(loop);
	if (curl_multi_poll(loop->multi, loop->sockets.waits,
			    (unsigned)wait_count, limit_ms, NULL) != CURLM_OK) {
		/* Without memory it returns at once: do not spin. */
		struct pollfd wake = {.fd = loop->wake_fd, .events = POLLIN};
		(void)poll(&wake, 1, 10);
		return;
	}
	eventfd_t count;
	(void)eventfd_read(loop->wake_fd, &count); /* Often nothing is there. */
	if (is_idle) {
		sockets_end_dead(&loop->sockets);
	}
}

static void *run(void *context)
{
	struct loop *loop = context;

	while (!atomic_load(&loop->stopping)) {
		int running = 0;
		start_submitted(loop);
		if (curl_multi_perform(loop->multi, &running) != CURLM_OK) {
			retire_all(loop, CURLE_OUT_OF_MEMORY, false);
		}
		retire_completed(loop);
		retire_canceled_and_late(loop);
		close_old_connections(loop);
		wait_for_events(loop);
	}
	retire_all(loop, CURLE_OK, true);
	start_submitted(loop); /* Cancels them. */
	return NULL;
}

/* After the thread's end, or before its start. */
static void free_curl(struct loop *loop)
{
	for (size_t i = 0; i < loop->spare_count; i++) {
		curl_easy_cleanup(loop->spare[i]);
	}
	free(loop->spare);
	loop->spare = NULL;
	loop->spare_count = 0;
	if (loop->multi != NULL) {
		(void)curl_multi_cleanup(loop->multi); /* No transfers left. */
	}
	loop->multi = NULL;
	sockets_finish(&loop->sockets);
}

static int start(struct loop *loop)
{
	loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->wake_fd < 0) {
		return -errno;
	}
	loop->spare = calloc(loop->connection_count, sizeof(*loop->spare));
	loop->multi = create_multi(loop->connection_count);
	if (loop->spare == NULL || loop->multi == NULL) {
		return -ENOMEM;
	}
	int error = sockets_init(&loop->sockets, loop->wake_fd);
	if (error != 0) {
		return error;
	}
	error = workers_start_thread("net", run, loop, &loop->thread);
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
	free_curl(loop);
}
