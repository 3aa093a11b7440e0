#include "request_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/url.h"
#include "failure_private.h"
#include "loop_private.h"
#include "options_private.h"

static void destroy(struct net_request *request)
{
	headers_finish(&request->headers);
	curl_slist_free_all(request->fields);
	free(request->body);
	free(request->url);
	if (request->loop != NULL) {
		loop_unref(request->loop);
	}
	free(request);
}

/* No control character, which could end the line that it is sent in. */
static bool is_one_line(const char *text)
{
	for (const char *c = text; *c != '\0'; c++) {
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f) {
			return false;
		}
	}
	return true;
}

static int check_spec(const struct net_request_spec *spec)
{
	struct url url;
	int error = url_parse(spec->url, &url);
	if (error != 0) {
		return error;
	}
	url_finish(&url);
	const char *const *fields = spec->headers;
	for (size_t i = 0; fields != NULL && fields[i] != NULL; i++) {
		if (!is_one_line(fields[i])) {
			return -EINVAL;
		}
	}
	return 0;
}

static int add_field(struct net_request *request, const char *field)
{
	struct curl_slist *longer = curl_slist_append(request->fields, field);
	if (longer == NULL) {
		return -ENOMEM;
	}
	request->fields = longer;
	return 0;
}

/* The caller's fields, and those that keep libcurl from adding its own: it
 * would wait for "100 Continue", and name the type of a body that is empty. */
static int copy_fields(struct net_request *request, const char *const *fields)
{
	int error = add_field(request, "Expect:");
	bool has_type = false;

	for (size_t i = 0; fields != NULL && fields[i] != NULL; i++) {
		if (error == 0) {
			error = add_field(request, fields[i]);
		}
		has_type |= strncasecmp(fields[i], "Content-Type:", 13) == 0;
	}
	if (error == 0 && !has_type && request->body_length == 0) {
		error = add_field(request, "Content-Type:");
	}
	return error;
}

static int copy_spec(struct net_request *request,
		const struct net_request_spec *spec)
{
	request->url = strdup(spec->url);
	if (request->url == NULL) {
		return -ENOMEM;
	}
	if (spec->body_length > 0) {
		request->body = malloc(spec->body_length);
		if (request->body == NULL) {
			return -ENOMEM;
		}
		memcpy(request->body, spec->body, spec->body_length);
	}
	return copy_fields(request, spec->headers);
}

int request_create(const struct net_request_spec *spec, struct loop *loop,
		struct net_request **out_request)
{
	int error = check_spec(spec);
	if (error != 0) {
		return error;
	}
	struct net_request *request = calloc(1, sizeof(*request));
	if (request == NULL) {
		return -ENOMEM;
	}
	request->method = spec->method;
	request->body_length = spec->body_length;
	request->no_proxy = spec->no_proxy;
	request->fresh_connection = spec->fresh_connection;
	request->total_timeout_ms = spec->total_timeout_ms;
	request->callbacks = spec->callbacks;
	request->context = spec->context;
	request->submitted_us = clock_monotonic_us();
	atomic_init(&request->references, 2);
	headers_init(&request->headers);
	error = copy_spec(request, spec);
	if (error != 0) {
		destroy(request);
		return error;
	}
	loop_ref(loop);
	request->loop = loop;
	*out_request = request;
	return 0;
}

void net_request_unref(struct net_request *request)
{
	if (request != NULL && atomic_fetch_sub(&request->references, 1) == 1) {
		destroy(request);
	}
}

void net_cancel(struct net_request *request)
{
	atomic_store(&request->cancel_requested, true);
	loop_wake(request->loop);
}

static void begin_deadline(struct net_request *request,
		const struct policy *policy, uint64_t now_ms)
{
	const struct deadline_limits limits = {
			.first_byte_ms = policy->first_byte_timeout_ms,
			.stall_bytes = (uint64_t)policy->stall_bytes_per_second *
				       policy->stall_seconds,
			.stall_ms = policy->stall_seconds * 1000,
			.total_ms = request->total_timeout_ms,
	};
	deadline_begin(&request->deadline, &limits, now_ms);
}

int request_start(struct net_request *request, CURL *easy,
		const struct policy *policy, uint64_t now_ms)
{
	int error = options_apply(request, easy, policy);
	if (error != 0) {
		return error;
	}
	request->easy = easy;
	begin_deadline(request, policy, now_ms);
	return 0;
}

struct net_response request_response(struct net_request *request)
{
	return (struct net_response){
			.status = request->headers.status,
			.content_length = headers_content_length(
					&request->headers),
			.request = request,
	};
}

const char *net_response_header(
		const struct net_response *response, const char *name)
{
	return headers_find(&response->request->headers, name);
}

/* libcurl tells about reuse, since it may have sent the request twice. */
CURL *request_detach(struct net_request *request)
{
	CURL *easy = request->easy;
	long new_connections = 1;
	CURLcode code = curl_easy_getinfo(
			easy, CURLINFO_NUM_CONNECTS, &new_connections);
	request->reused = code == CURLE_OK && new_connections == 0;
	request->easy = NULL;
	return easy;
}

static enum net_failure classify(const struct net_request *request,
		CURLcode code, bool canceled, const char *timeout)
{
	const struct transfer_end end = {
			.code = code,
			.canceled = canceled || request->refused,
			.timed_out = timeout != NULL,
			.not_http = request->not_http,
			.no_descriptor = request->no_descriptor,
			.sent = request->sent,
			.answered = request->first_byte_us != 0,
			.headers_complete = request->headers.complete,
			.reused = request->reused,
			.detail = request->detail,
	};
	return failure_classify(&end);
}

static const char *choose_detail(const struct net_request *request,
		CURLcode code, enum net_failure failure, const char *timeout)
{
	if (timeout != NULL) {
		return timeout;
	}
	if (failure == NET_CANCELED) {
		return "Canceled";
	}
	if (request->detail[0] != '\0') {
		return request->detail;
	}
	return curl_easy_strerror(code);
}

void request_end(struct net_request *request, CURLcode code, bool canceled,
		const char *timeout)
{
	enum net_failure failure = classify(request, code, canceled, timeout);
	const struct net_result result = {
			.failure = failure,
			.response = request_response(request),
			.body_bytes = request->body_bytes,
			.first_byte_us = request->first_byte_us,
			.total_us = clock_monotonic_us() -
				    request->submitted_us,
			.detail = choose_detail(
					request, code, failure, timeout),
	};
	request->callbacks->on_done(request->context, &result);
	net_request_unref(request);
}
