#ifndef NET_REQUEST_PRIVATE_H
#define NET_REQUEST_PRIVATE_H

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deadline_private.h"
#include "headers_private.h"
#include "net/net.h"

struct loop;

/* What all requests of a net have in common. Owned by the net. */
struct policy {
	char *ca_bundle;      /* NULL: libcurl's. */
	char *proxy;	      /* NULL: from the environment. */
	char *bind_interface; /* NULL: any. */
	uint32_t connect_timeout_ms;
	uint32_t first_byte_timeout_ms;
	uint32_t stall_bytes_per_second;
	uint32_t stall_seconds;
	uint32_t idle_seconds;
};

/*
 * One request, from net_submit to the last reference. Two references to begin
 * with: the caller's, and its loop's until on_done was called.
 *
 *   queued --request_start--> active --request_detach, request_end--> done
 *   queued --request_end--> done
 */
struct net_request {
	/* Set at creation. */
	struct loop *loop; /* A reference. */
	enum net_method method;
	char *url;
	struct curl_slist *fields;
	void *body;
	size_t body_length;
	bool no_proxy;
	bool fresh_connection;
	uint32_t total_timeout_ms;
	const struct net_callbacks *callbacks;
	void *context;
	uint64_t submitted_us;

	/* Any thread. */
	atomic_uint references;
	atomic_bool cancel_requested;

	/* The loop's thread only; before, guarded by the loop's lock. */
	struct net_request *prev;
	struct net_request *next;

	/* The loop's thread only. */
	CURL *easy; /* The loop's; NULL unless active. */
	struct deadline deadline;
	struct headers headers;
	bool sent;
	bool reused;
	bool refused; /* By a callback. */
	bool not_http;
	bool no_descriptor;
	uint64_t body_bytes;
	uint64_t first_byte_us;
	char detail[CURL_ERROR_SIZE];
};

int request_create(const struct net_request_spec *spec, struct loop *loop,
		struct net_request **out_request);

/* What is known by now. */
struct net_response request_response(struct net_request *request);

/* Sets `easy` up for the request, which is active from now on. -ENOMEM. */
int request_start(struct net_request *request, CURL *easy,
		const struct policy *policy, uint64_t now_ms);

/* Takes the handle back; what it knows about the end is noted. */
CURL *request_detach(struct net_request *request);

/*
 * Calls on_done and drops the loop's reference. `canceled` and `timeout`, a
 * reason or NULL, say that the loop ended it; otherwise `code` is libcurl's.
 */
void request_end(struct net_request *request, CURLcode code, bool canceled,
		const char *timeout);

#endif
