#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/log.h"
#include "s3_list_private.h"
#include "s3_private.h"
#include "sigv4_private.h"
#include "store/http_status.h"

#define LOG_MODULE "store"
#define MAX_PARAMETERS 6

struct s3_list_call {
	struct s3_call base;
	const struct store_callbacks_list *callbacks;
	char *prefix;
	char *token;
	struct s3_list *list;
	struct store_page page;
};

static struct s3_list_call *list_call(struct s3_call *call)
{
	return (struct s3_list_call *)((char *)call -
				       offsetof(struct s3_list_call, base));
}

static int give_up(struct s3_list_call *call, int error)
{
	return error == -ENOMEM ? s3_call_give_up(&call->base, error,
						  "no memory")
				: s3_call_give_up(&call->base, -EIO,
						  s3_list_problem(call->list));
}

static int on_headers(struct s3_call *call, const struct net_response *response)
{
	return 0;
}

/* The start is kept: it may be an error document, with status 200. */
static int keep_start(struct s3_call *call, const void *data, size_t length)
{
	const size_t room = S3_ERROR_MAX_BODY - call->body.length;

	return strbuf_add(&call->body, data, length < room ? length : room);
}

static int on_body(struct s3_call *base, const void *data, size_t length)
{
	struct s3_list_call *call = list_call(base);
	int error = keep_start(base, data, length);

	error = error != 0 ? error : s3_list_feed(call->list, data, length);
	if (error == 0) {
		return 0;
	}
	if (s3_list_is_error_document(call->list)) {
		base->is_refused = true;
		return 0;
	}
	return give_up(call, error);
}

static int on_whole(struct s3_call *base, const struct net_result *result)
{
	struct s3_list_call *call = list_call(base);
	const struct s3_list_asked asked = {
			.prefix = call->prefix,
			.token = call->token,
			.reply_time = s3_reply_time(&result->response),
	};
	size_t unnamed = 0;

	if (base->is_refused) {
		return 0;
	}
	const int error = s3_list_finish(
			call->list, &asked, &call->page, &unnamed);
	if (error != 0) {
		return give_up(call, error);
	}
	if (unnamed > 0) {
		counters_add(&base->store->counters->hidden_keys, unnamed);
		log_debug("keys with a NUL are not shown: prefix=%s count=%zu",
				call->prefix, unnamed);
	}
	return 0;
}

static void give(struct s3_call *base, const struct store_outcome *outcome)
{
	struct s3_list_call *call = list_call(base);

	call->callbacks->on_done(base->context, outcome,
			outcome->error == 0 ? &call->page : NULL);
}

/* A prefix with nothing under it is an empty page: a 404 is about the bucket,
 * and says nothing about any name. */
static void judge(const struct net_result *result, const char *code,
		struct store_outcome *out)
{
	http_status_judge(result, code, out);
	if (out->error == -ENOENT) {
		out->error = -EIO;
	}
}

static void free_list(struct s3_call *base)
{
	struct s3_list_call *call = list_call(base);

	s3_list_destroy(call->list);
	free(call->prefix);
	free(call->token);
	free(call);
}

static const struct s3_call_kind list_kind = {
		.status = 200,
		.on_headers = on_headers,
		.on_body = on_body,
		.on_whole = on_whole,
		.give = give,
		.judge = judge,
		.free = free_list,
};

static struct s3_list_call *create_call(struct s3_store *store,
		const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context)
{
	struct s3_list_call *call = calloc(1, sizeof(*call));

	if (call == NULL) {
		return NULL;
	}
	call->callbacks = callbacks;
	s3_call_init(&call->base, store, &list_kind, context,
			&store->counters->requests_list);
	call->prefix = strdup(args->prefix);
	if (args->token != NULL) {
		call->token = strdup(args->token);
	}
	if (call->prefix == NULL ||
			(args->token != NULL && call->token == NULL) ||
			s3_list_create(&call->list) != 0) {
		store_call_unref(&call->base.call);
		return NULL;
	}
	return call;
}

int s3_list_page(struct store *base, const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context,
		struct store_call **out_call)
{
	struct s3_store *store = s3_store_of(base);
	struct s3_list_call *call =
			create_call(store, args, callbacks, context);
	struct sigv4_parameter parameters[MAX_PARAMETERS];
	char max_keys[16];
	size_t count = 0;

	if (call == NULL) {
		return -ENOMEM;
	}
	parameters[count++] = (struct sigv4_parameter){"list-type", "2"};
	parameters[count++] = (struct sigv4_parameter){"encoding-type", "url"};
	parameters[count++] = (struct sigv4_parameter){"prefix", args->prefix};
	if (!args->recursive) {
		parameters[count++] =
				(struct sigv4_parameter){"delimiter", "/"};
	}
	if (args->token != NULL) {
		parameters[count++] = (struct sigv4_parameter){
				"continuation-token", args->token};
	}
	if (args->max_keys > 0) {
		(void)snprintf(max_keys, sizeof(max_keys), "%" PRIu32,
				args->max_keys);
		parameters[count++] =
				(struct sigv4_parameter){"max-keys", max_keys};
	}
	const struct s3_request request = {
			.method = NET_GET,
			.parameters = parameters,
			.parameter_count = count,
	};

	return s3_call_submit(&call->base, &request, out_call);
}
