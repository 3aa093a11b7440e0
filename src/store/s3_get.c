#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/counters.h"
#include "s3_private.h"
#include "store/http_status.h"
#include "store/object.h"

struct s3_get_call {
	struct s3_call base;
	const struct store_callbacks_get *callbacks;
	struct object *object;
	uint64_t offset, length;
	uint64_t received;
	bool sent_bare; /* The ETag went without quotes. */
};

static struct s3_get_call *get_call(struct s3_call *call)
{
	return (struct s3_get_call *)((char *)call -
				      offsetof(struct s3_get_call, base));
}

static int on_headers(struct s3_call *base, const struct net_response *response)
{
	struct s3_get_call *call = get_call(base);
	const struct s3_range_answer answer = {
			.status = response->status,
			.content_range = net_response_header(
					response, "Content-Range"),
			.content_length = response->content_length,
			.etag = net_response_header(response, "ETag"),
			.last_modified = net_response_header(
					response, "Last-Modified"),
	};
	int error = 0;
	const char *problem = s3_range_problem(call->object, call->offset,
			call->length, &answer, &error);

	if (problem != NULL) {
		return s3_call_give_up(base, error, problem);
	}
	if (s3_etag_is_bare(call->object->etag) && answer.etag != NULL) {
		atomic_store(&base->store->bare_etags,
				s3_etag_is_bare(answer.etag));
	}
	return 0;
}

/* Bytes beyond the range are dropped, and the connection with them: nobody
 * knows where its next answer begins. */
static int on_body(struct s3_call *base, const void *data, size_t length)
{
	struct s3_get_call *call = get_call(base);
	const uint64_t left = call->length - call->received;
	const size_t taken = length < left ? length : (size_t)left;

	counters_add(&base->store->counters->bytes_store, length);
	if (taken > 0 && call->callbacks->on_data(base->context,
					 call->offset + call->received, data,
					 taken) < 0) {
		return -ECANCELED;
	}
	call->received += taken;
	return taken < length ? s3_call_enough(base) : 0;
}

static int on_whole(struct s3_call *base, const struct net_result *result)
{
	struct s3_get_call *call = get_call(base);

	return call->received < call->length
			       ? s3_call_give_up(base, -EIO,
						 "a body that is too short")
			       : 0;
}

/* Whether what was refused is the form of the ETag and not the version: then
 * the other form is sent next. */
static bool repair_etag(const struct s3_get_call *call)
{
	if (!call->object->etag_strong ||
			!s3_etag_is_bare(call->object->etag)) {
		return false;
	}
	atomic_store(&call->base.store->bare_etags, !call->sent_bare);
	return true;
}

static void give(struct s3_call *base, const struct store_outcome *outcome)
{
	const struct s3_get_call *call = get_call(base);
	struct store_outcome told = *outcome;

	if (outcome->http_status == 412 && outcome->error == -ESTALE &&
			repair_etag(call)) {
		told.advice = STORE_REPAIRED;
		told.repair = STORE_REPAIR_ETAG;
	}
	call->callbacks->on_done(base->context, &told);
}

static void free_get(struct s3_call *base)
{
	struct s3_get_call *call = get_call(base);

	object_unref(call->object);
	free(call);
}

static const struct s3_call_kind get_kind = {
		.status = 206,
		.on_headers = on_headers,
		.on_body = on_body,
		.on_whole = on_whole,
		.give = give,
		.judge = http_status_judge_range,
		.free = free_get,
};

/* Writes what If-Match says of the version; NULL: nothing. */
static const char *if_match(struct s3_get_call *call, char *buffer, size_t size)
{
	const char *etag = call->object->etag;

	if (!call->object->etag_strong) {
		return NULL;
	}
	call->sent_bare = s3_etag_is_bare(etag) &&
			  atomic_load(&call->base.store->bare_etags);
	if (!s3_etag_is_bare(etag) || call->sent_bare) {
		return etag;
	}
	(void)snprintf(buffer, size, "\"%s\"", etag); /* At most S3_ETAG_MAX. */
	return buffer;
}

int s3_get(struct store *base, struct object *object, uint64_t offset,
		uint64_t length, const struct store_callbacks_get *callbacks,
		void *context, struct store_call **out_call)
{
	struct s3_store *store = s3_store_of(base);
	struct s3_get_call *call = calloc(1, sizeof(*call));
	char range[64];
	char etag[S3_ETAG_MAX + 3];

	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks = callbacks;
	call->object = object_ref(object);
	call->offset = offset;
	call->length = length;
	s3_call_init(&call->base, store, &get_kind, context,
			&store->counters->requests_get);
	(void)snprintf(range, sizeof(range), "bytes=%" PRIu64 "-%" PRIu64,
			offset, offset + length - 1);
	const struct s3_request request = {
			.method = NET_GET,
			.key = object->key,
			.range = range,
			.if_match = if_match(call, etag, sizeof(etag)),
	};

	return s3_call_submit(&call->base, &request, out_call);
}
