#include "exchange_private.h"

#include "base/clock.h"
#include "loop_private.h"
#include "request_private.h"
#include "sockets_private.h"

/* libcurl ends a transfer whose callback takes less than it was given. A body
 * or header is never empty, so that zero is always less. */
#define STOP ((size_t)0)

static void note_received(struct net_request *request, size_t length)
{
	uint64_t now_us = clock_monotonic_us();
	if (request->first_byte_us == 0) {
		uint64_t elapsed_us = now_us - request->submitted_us;
		request->first_byte_us = elapsed_us > 0 ? elapsed_us : 1;
	}
	deadline_received(&request->deadline, length, now_us / 1000);
}

static size_t refuse(struct net_request *request)
{
	request->refused = true;
	return STOP;
}

static bool headers_are_welcome(struct net_request *request)
{
	const struct net_response response = request_response(request);

	return request->callbacks->on_headers == NULL ||
	       request->callbacks->on_headers(request->context, &response) >= 0;
}

size_t exchange_on_header(char *line, size_t size, size_t count, void *context)
{
	struct net_request *request = context;
	size_t length = size * count;
	note_received(request, length);
	if (atomic_load(&request->cancel_requested)) {
		return refuse(request);
	}
	bool was_complete = request->headers.complete;
	if (headers_add_line(&request->headers, line, length) != 0) {
		request->not_http = true;
		return STOP;
	}
	if (request->headers.complete && !was_complete &&
			!headers_are_welcome(request)) {
		return refuse(request);
	}
	return length;
}

size_t exchange_on_body(char *data, size_t size, size_t count, void *context)
{
	struct net_request *request = context;
	size_t length = size * count;
	if (length == 0) {
		return 0;
	}
	note_received(request, length);
	if (atomic_load(&request->cancel_requested)) {
		return refuse(request);
	}
	if (!request->headers.complete) {
		request->not_http = true;
		return STOP;
	}
	request->body_bytes += length;
	if (request->callbacks->on_body != NULL &&
			request->callbacks->on_body(
					request->context, data, length) < 0) {
		return refuse(request);
	}
	return length;
}

int exchange_on_send(void *context, char *remote, char *local, int remote_port,
		int local_port)
{
	struct net_request *request = context;
	request->sent = true;
	deadline_sent(&request->deadline, clock_monotonic_ms());
	return CURL_PREREQFUNC_OK;
}

curl_socket_t exchange_open_socket(
		void *context, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct net_request *request = context;
	curl_socket_t fd = sockets_open(loop_sockets(request->loop), to);
	if (fd == CURL_SOCKET_BAD) {
		request->no_descriptor = true;
	}
	return fd;
}

int exchange_close_socket(void *context, curl_socket_t fd)
{
	return sockets_close(context, fd);
}
