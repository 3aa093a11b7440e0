#include "loop_run_private.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "request_private.h"

/* Tests move the clock under a waiting loop, so no wait is longer. */
#define LONGEST_WAIT_MS 1000

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
	CURLMcode removed = curl_multi_remove_handle(loop->multi, easy);
	assert(removed == CURLM_OK);
	(void)removed; /* Fails only for a handle of another loop. */
	/* One that failed may keep its buffer (a lookup that found nothing does
	 * in 7.88), and then refuses the options of the next request. */
	if (code == CURLE_OK && !canceled && timeout == NULL) {
		give_easy(loop, easy);
	} else {
		curl_easy_cleanup(easy);
	}
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

void *loop_run(void *context)
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

int loop_run_init(struct loop *loop)
{
	loop->spare = calloc(loop->connection_count, sizeof(*loop->spare));
	loop->multi = create_multi(loop->connection_count);
	if (loop->spare == NULL || loop->multi == NULL) {
		return -ENOMEM;
	}
	return sockets_init(&loop->sockets, loop->wake_fd);
}

void loop_run_finish(struct loop *loop)
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
