#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "s3_private.h"
#include "store/http_status.h"
#include "store/object.h"

struct s3_stat_call {
	struct s3_call base;
	const struct store_callbacks_stat *callbacks;
	char *key;
	struct object *object; /* From the answer. */
};

static struct s3_stat_call *stat_call(struct s3_call *call)
{
	return (struct s3_stat_call *)((char *)call -
				       offsetof(struct s3_stat_call, base));
}

static int on_headers(struct s3_call *call, const struct net_response *response)
{
	return 0;
}

/* An answer to HEAD has none. */
static int on_body(struct s3_call *call, const void *data, size_t length)
{
	return s3_call_enough(call);
}

static int on_whole(struct s3_call *base, const struct net_result *result)
{
	struct s3_stat_call *call = stat_call(base);
	const struct net_response *response = &result->response;
	const struct s3_head_answer answer = {
			.content_length = net_response_header(
					response, "Content-Length"),
			.etag = net_response_header(response, "ETag"),
			.last_modified = net_response_header(
					response, "Last-Modified"),
			.date = net_response_header(response, "Date"),
			.storage_class = net_response_header(
					response, "x-amz-storage-class"),
			.restore = net_response_header(
					response, "x-amz-restore"),
			.archive_status = net_response_header(
					response, "x-amz-archive-status"),
	};
	struct s3_head head;
	const char *problem = s3_head_read(&answer, &head);

	if (problem != NULL) {
		return s3_call_give_up(base, -EIO, problem);
	}
	call->object = object_create(&base->store->store, call->key, head.etag,
			head.size, head.mtime);
	if (call->object == NULL) {
		return s3_call_give_up(base, -ENOMEM, "no memory");
	}
	call->object->archived = head.archived;
	call->object->cacheable = !head.unsettled;
	return 0;
}

static void give(struct s3_call *base, const struct store_outcome *outcome)
{
	struct s3_stat_call *call = stat_call(base);

	call->callbacks->on_done(base->context, outcome,
			outcome->error == 0 ? call->object : NULL);
}

static void free_stat(struct s3_call *base)
{
	struct s3_stat_call *call = stat_call(base);

	object_unref(call->object);
	free(call->key);
	free(call);
}

static const struct s3_call_kind stat_kind = {
		.status = 200,
		.on_headers = on_headers,
		.on_body = on_body,
		.on_whole = on_whole,
		.give = give,
		.judge = http_status_judge,
		.free = free_stat,
};

int s3_stat(struct store *base, const char *key,
		const struct store_callbacks_stat *callbacks, void *context,
		struct store_call **out_call)
{
	struct s3_store *store = s3_store_of(base);
	struct s3_stat_call *call = calloc(1, sizeof(*call));

	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks = callbacks;
	call->key = strdup(key);
	s3_call_init(&call->base, store, &stat_kind, context,
			&store->counters->requests_head);
	if (call->key == NULL) {
		store_call_unref(&call->base.call);
		return -ENOMEM;
	}
	const struct s3_request request = {.method = NET_HEAD, .key = key};

	return s3_call_submit(&call->base, &request, out_call);
}
