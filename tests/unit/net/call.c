#include "call.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "http_server.h"

static int on_headers(void *context, const struct net_response *response)
{
	struct call *call = context;
	LOCK_SCOPE(&call->lock);
	call->headers_count++;
	call->headers_status = response->status;
	call->headers_length = response->content_length;
	const char *etag = net_response_header(response, "eTaG");
	(void)snprintf(call->etag, sizeof(call->etag), "%s",
			etag != NULL ? etag : "");
	return call->refuse_headers ? -1 : 0;
}

static int on_body(void *context, const void *data, size_t length)
{
	struct call *call = context;
	const unsigned char *bytes = data;
	LOCK_SCOPE(&call->lock);
	for (size_t i = 0; i < length; i++) {
		size_t at = call->body_length + i;
		call->body_differs |= bytes[i] != server_byte(at);
		if (at < sizeof(call->body) - 1) {
			call->body[at] = (char)bytes[i];
		}
	}
	call->body_length += length;
	pthread_cond_broadcast(&call->changed);
	bool refuse = call->refuse_body_after > 0 &&
		      call->body_length >= call->refuse_body_after;
	return refuse ? -1 : 0;
}

static void on_done(void *context, const struct net_result *result)
{
	struct call *call = context;
	if (call->then != NULL) {
		call->then(call);
	}
	LOCK_SCOPE(&call->lock);
	call->result = *result;
	(void)snprintf(call->detail, sizeof(call->detail), "%s",
			result->detail);
	call->done_count++;
	pthread_cond_broadcast(&call->changed);
}

struct call *call_create(uint16_t port, const char *path)
{
	static const struct net_callbacks callbacks = {
			.on_headers = on_headers,
			.on_body = on_body,
			.on_done = on_done,
	};
	struct call *call = calloc(1, sizeof(*call));
	assert(call != NULL);
	(void)snprintf(call->url, sizeof(call->url), "http://127.0.0.1:%u%s",
			(unsigned)port, path);
	call->spec.url = call->url;
	call->spec.callbacks = &callbacks;
	call->spec.context = call;
	pthread_mutex_init(&call->lock, NULL);
	pthread_cond_init(&call->changed, NULL);
	return call;
}

void call_destroy(struct call *call)
{
	net_request_unref(call->request);
	pthread_mutex_destroy(&call->lock);
	pthread_cond_destroy(&call->changed);
	free(call);
}

int call_start(struct call *call, struct net *net)
{
	return net_submit(net, &call->spec, &call->request);
}

void call_wait(struct call *call)
{
	LOCK_SCOPE(&call->lock);
	while (call->done_count == 0) {
		pthread_cond_wait(&call->changed, &call->lock);
	}
}

void call_wait_body(struct call *call, size_t length)
{
	LOCK_SCOPE(&call->lock);
	while (call->body_length < length && call->done_count == 0) {
		pthread_cond_wait(&call->changed, &call->lock);
	}
}

enum net_failure call_run(struct call *call, struct net *net)
{
	int error = call_start(call, net);
	assert(error == 0);
	call_wait(call);
	return call->result.failure;
}
