#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "aws_credentials_private.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "s3_private.h"

static struct s3_call *s3_call_of(struct store_call *call)
{
	return (struct s3_call *)((char *)call -
				  offsetof(struct s3_call, call));
}

/* ---- Canceling and freeing ---- */

static void cancel(struct store_call *base)
{
	struct s3_call *call = s3_call_of(base);
	struct net_request *request = NULL;

	{
		LOCK_SCOPE(&call->store->lock);
		call->is_canceled = true;
		request = call->net_request;
	}
	if (request != NULL) {
		net_cancel(request);
	}
}

static void free_call(struct store_call *base)
{
	struct s3_call *call = s3_call_of(base);

	if (call->net_request != NULL) {
		net_request_unref(call->net_request);
	}
	aws_credentials_unref(call->used);
	strbuf_finish(&call->body);
	call->kind->free(call);
}

static const struct store_call_ops call_ops = {
		.cancel = cancel, .free = free_call};

static void leave_store(struct s3_call *call)
{
	struct s3_store *store = call->store;

	LOCK_SCOPE(&store->lock);
	DL_DELETE(store->calls, call);
	store->call_count--;
	if (store->call_count == 0) {
		(void)pthread_cond_broadcast(&store->idle); /* Cannot fail. */
	}
}

static struct s3_call *first_to_cancel(struct s3_store *store)
{
	struct s3_call *call;

	LOCK_SCOPE(&store->lock);
	DL_FOREACH (store->calls, call) {
		if (!call->is_canceled) {
			atomic_fetch_add(&call->call.references, 1);
			return call;
		}
	}
	return NULL;
}

void s3_call_end_all(struct s3_store *store)
{
	struct s3_call *call = first_to_cancel(store);

	while (call != NULL) {
		cancel(&call->call);
		store_call_unref(&call->call);
		call = first_to_cancel(store);
	}
	LOCK_SCOPE(&store->lock);
	while (store->call_count > 0) {
		(void)pthread_cond_wait(&store->idle, &store->lock);
	}
}

/* ---- The answer ---- */

int s3_call_give_up(struct s3_call *call, int error, const char *problem)
{
	call->problem = problem;
	call->problem_error = error;
	return error;
}

int s3_call_enough(struct s3_call *call)
{
	call->is_enough = true;
	return -ECANCELED;
}

int64_t s3_reply_time(const struct net_response *response)
{
	const char *date = net_response_header(response, "Date");
	int64_t seconds = 0;

	if (date == NULL || clock_parse_http(date, &seconds) != 0) {
		return 0;
	}
	return seconds;
}

/* A success of another kind has nothing to say: a 200 to a range request may
 * be the whole object. */
static int on_headers(void *context, const struct net_response *response)
{
	struct s3_call *call = context;

	if (response->status == call->kind->status) {
		return call->kind->on_headers(call, response);
	}
	call->is_refused = true;
	return response->status >= 200 && response->status < 300
			       ? s3_call_enough(call)
			       : 0;
}

/* An error document is kept as far as anybody reads it. */
static int keep_body(struct s3_call *call, const void *data, size_t length)
{
	const size_t room = S3_ERROR_MAX_BODY - call->body.length;
	const int error = strbuf_add(
			&call->body, data, length < room ? length : room);

	return error != 0 || length > room ? s3_call_enough(call) : 0;
}

static int on_body(void *context, const void *data, size_t length)
{
	struct s3_call *call = context;

	if (call->is_refused) {
		return keep_body(call, data, length);
	}
	return call->kind->on_body(call, data, length);
}

/* ---- The end ---- */

static void judge_unusable(struct s3_call *call, struct store_outcome *outcome)
{
	outcome->error = call->problem_error;
	outcome->advice =
			call->problem_error == -EIO ? STORE_RETRY : STORE_FINAL;
	(void)snprintf(call->detail, sizeof(call->detail),
			"answer not as asked: %s", call->problem);
}

/* What to make of an answer that gives no reason, "" for nothing. */
static const char *hint_for(const struct s3_call *call, int status)
{
	if (status >= 200 && status < 300) {
		return ": not the kind of answer asked for";
	}
	if (status >= 300 && status < 400) {
		return ": a redirect, which is not followed; check the region "
		       "and the endpoint";
	}
	/* An answer to HEAD has no body to say why. */
	return status == 400 && call->sent.is_signed
			       ? ": no reason given; a wrong region or keys "
				 "that ran "
				 "out look like this"
			       : "";
}

static void describe(struct s3_call *call, const struct net_result *result)
{
	const int status = result->response.status;
	const struct s3_error *error = &call->error;

	if (status == 0 || result->failure != NET_OK) {
		(void)snprintf(call->detail, sizeof(call->detail), "%s",
				result->detail);
	} else if (call->is_refused && error->code[0] == '\0') {
		(void)snprintf(call->detail, sizeof(call->detail), "%d%s",
				status, hint_for(call, status));
	} else {
		(void)snprintf(call->detail, sizeof(call->detail), "%d%s%s%s%s",
				status, error->code[0] != '\0' ? " " : "",
				error->code,
				error->message[0] != '\0' ? ": " : "",
				error->message);
	}
}

/* Mends what can be mended. The outcome is final already. */
static void repair(struct s3_call *call, const struct net_response *response,
		struct store_outcome *outcome)
{
	const struct s3_refusal refusal = {
			.status = response->status,
			.error = &call->error,
			.region_header = net_response_header(
					response, "x-amz-bucket-region"),
			.date = net_response_header(response, "Date"),
	};
	struct s3_remedy remedy;

	s3_diagnose(&call->sent, &refusal, &remedy);
	outcome->repair = STORE_REPAIR_NONE;
	if (s3_store_repair(call->store, &call->sent, call->used, &remedy)) {
		outcome->advice = STORE_REPAIRED;
		outcome->repair = remedy.repair;
	}
}

static void judge(struct s3_call *call, const struct net_result *result,
		struct store_outcome *outcome)
{
	struct net_result judged = *result;

	if (call->is_refused && call->body.length > 0) {
		s3_error_parse(call->body.text, call->body.length,
				&call->error);
	}
	if (call->is_enough) {
		judged.failure = NET_OK; /* We cut it ourselves. */
	}
	call->kind->judge(&judged, call->error.code, outcome);
	if (call->problem != NULL) {
		judge_unusable(call, outcome);
		return;
	}
	describe(call, &judged);
	if (judged.failure == NET_OK && outcome->error != 0 &&
			outcome->advice == STORE_FINAL) {
		repair(call, &result->response, outcome);
	}
}

static void on_done(void *context, const struct net_result *result)
{
	struct s3_call *call = context;
	struct store_outcome outcome = {.detail = call->detail};
	const bool whole = result->failure == NET_OK || call->is_enough;

	if (whole && result->response.status == call->kind->status &&
			call->problem == NULL) {
		(void)call->kind->on_whole(call, result); /* Sets problem. */
	}
	judge(call, result, &outcome);
	call->kind->give(call, &outcome);
	leave_store(call);
	store_call_unref(&call->call);
}

/* ---- Beginning ---- */

void s3_call_init(struct s3_call *call, struct s3_store *store,
		const struct s3_call_kind *kind, void *context,
		_Atomic uint64_t *request_counter)
{
	store_call_init(&call->call, &call_ops, NULL);
	call->store = store;
	call->kind = kind;
	call->context = context;
	call->request_counter = request_counter;
	strbuf_init(&call->body, S3_ERROR_MAX_BODY);
}

static void enter_store(struct s3_call *call)
{
	LOCK_SCOPE(&call->store->lock);
	DL_APPEND(call->store->calls, call);
	call->store->call_count++;
}

/* The answer may have come and been given by now. */
static void on_queued(struct s3_call *call, struct net_request *request)
{
	bool is_canceled = false;

	{
		LOCK_SCOPE(&call->store->lock);
		call->net_request = request;
		is_canceled = call->is_canceled;
	}
	if (is_canceled) {
		net_cancel(request);
	}
}

int s3_call_submit(struct s3_call *call, const struct s3_request *request,
		struct store_call **out_call)
{
	static const struct net_callbacks callbacks = {
			.on_headers = on_headers,
			.on_body = on_body,
			.on_done = on_done,
	};
	struct net_request *queued = NULL;

	/* The caller's, or ours until we return. It is handed out before the
	 * answer can come. */
	atomic_fetch_add(&call->call.references, 1);
	if (out_call != NULL) {
		*out_call = &call->call;
	}
	enter_store(call);
	counters_add(call->request_counter, 1);
	const int error = s3_request_submit(call->store, request, &callbacks,
			call, &call->sent, &call->used, &queued);
	if (error == 0) {
		on_queued(call, queued);
	} else {
		counters_sub(call->request_counter, 1);
		leave_store(call);
		store_call_unref(&call->call);
	}
	if (error != 0 && out_call != NULL) {
		*out_call = NULL;
	}
	if (error != 0 || out_call == NULL) {
		store_call_unref(&call->call);
	}
	return error;
}
