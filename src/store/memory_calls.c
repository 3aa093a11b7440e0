#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "memory_store_private.h"
#include "store/object.h"

/* ---- The worker: one call after another, callbacks without the lock. ---- */

static struct store_outcome outcome_of(const struct memory_call *call,
		int error, enum store_advice advice)
{
	return (struct store_outcome){
			.error = error,
			.advice = advice,
			.answered = error != -ECANCELED &&
				    advice != STORE_UNREACHABLE,
			.first_byte_us = 1,
			.total_us = 1,
			.detail = call->fault.error != 0 ? "ordered fault"
							 : strerror(-error),
	};
}

/* What ends the call before its answer is looked at. */
static bool outcome_early(
		const struct memory_call *call, struct store_outcome *outcome)
{
	if (atomic_load(&call->canceled)) {
		*outcome = outcome_of(call, -ECANCELED, STORE_FINAL);
		return true;
	}
	if (call->fault.error != 0) {
		*outcome = outcome_of(
				call, call->fault.error, call->fault.advice);
		return true;
	}
	return false;
}

static void run_stat(struct memory_call *call)
{
	struct store_outcome outcome;
	struct object *object = NULL;
	if (!outcome_early(call, &outcome)) {
		LOCK_SCOPE(&call->store->lock);
		const struct memory_object *found = memory_objects_find(
				call->store->objects, call->key);
		outcome = outcome_of(
				call, found == NULL ? -ENOENT : 0, STORE_FINAL);
		if (found != NULL) {
			object = object_create(&call->store->store, found->key,
					found->etag, found->size, found->mtime);
			outcome.error = object == NULL ? -ENOMEM : 0;
		}
		if (object != NULL) {
			object->archived = found->archived;
			object->cacheable = !found->unsettled;
		}
	}
	call->callbacks.stat->on_done(call->context, &outcome, object);
	object_unref(object);
}

static void run_list(struct memory_call *call)
{
	struct memory_page page = {0};
	struct store_outcome outcome;
	if (!outcome_early(call, &outcome)) {
		LOCK_SCOPE(&call->store->lock);
		uint32_t keys = call->store->page_keys;
		if (call->args.max_keys > 0 && call->args.max_keys < keys) {
			keys = call->args.max_keys;
		}
		const int error = memory_objects_list(
				call->store->objects, &call->args, keys, &page);
		outcome = outcome_of(call, error, STORE_FINAL);
	}
	call->callbacks.list->on_done(call->context, &outcome,
			outcome.error == 0 ? &page.page : NULL);
	memory_page_finish(&page);
}

/* Gives `length` bytes in pieces; a negative errno when it was ended. */
static int give_pieces(struct memory_call *call,
		const struct memory_object *found, uint64_t length,
		size_t piece_bytes)
{
	CLEANUP_FREE uint8_t *piece = malloc(piece_bytes);
	if (piece == NULL) {
		return -ENOMEM;
	}
	uint64_t done = 0;
	while (done < length) {
		if (atomic_load(&call->canceled)) {
			return -ECANCELED;
		}
		const size_t now = length - done < piece_bytes
						   ? (size_t)(length - done)
						   : piece_bytes;
		memory_object_read(found, call->offset + done, now, piece);
		if (call->callbacks.get->on_data(call->context,
				    call->offset + done, piece, now) < 0) {
			return -ECANCELED;
		}
		done += now;
	}
	return 0;
}

/* The version that was asked for, with a reference; NULL: changed or gone. */
static struct memory_object *find_version_locked(struct memory_call *call)
{
	struct memory_object *found = memory_objects_find(
			call->store->objects, call->object->key);
	if (found == NULL || found->size != call->object->size ||
			!object_etag_equal(found->etag, call->object->etag)) {
		return NULL;
	}
	found->references++;
	return found;
}

static void run_get(struct memory_call *call)
{
	struct memory_object *found = NULL;
	size_t piece_bytes = 0;
	{
		LOCK_SCOPE(&call->store->lock);
		found = find_version_locked(call);
		piece_bytes = call->store->piece_bytes;
	}
	const struct fault *fault = &call->fault;
	uint64_t length = call->length;
	if (fault->error != 0 && fault->after_bytes < length) {
		length = fault->after_bytes;
	}
	int error = found == NULL && fault->error == 0 ? -ESTALE : 0;
	if (found != NULL) {
		error = give_pieces(call, found, length, piece_bytes);
	}
	struct store_outcome outcome = outcome_of(call, error, STORE_FINAL);
	if (error == 0) {
		(void)outcome_early(call, &outcome); /* Else it stays 0. */
	}
	call->callbacks.get->on_done(call->context, &outcome);
	LOCK_SCOPE(&call->store->lock);
	memory_object_unref(found);
}

static struct memory_call *take_call_locked(struct memory_store *self)
{
	struct memory_call *call = NULL;
	DL_FOREACH (self->queue, call) {
		if (!self->held || atomic_load(&call->canceled)) {
			DL_DELETE(self->queue, call);
			self->queued--;
			return call;
		}
	}
	return NULL;
}

void *memory_worker_main(void *context)
{
	struct memory_store *self = context;
	for (;;) {
		struct memory_call *call = NULL;
		{
			LOCK_SCOPE(&self->lock);
			call = take_call_locked(self);
			while (call == NULL && !self->stopping) {
				pthread_cond_wait(&self->work, &self->lock);
				call = take_call_locked(self);
			}
		}
		if (call == NULL) {
			return NULL;
		}
		if (call->kind == 's') {
			run_stat(call);
		} else if (call->kind == 'l') {
			run_list(call);
		} else {
			run_get(call);
		}
		store_call_unref(&call->call);
	}
}

/* ---- Calls ---- */

static void call_cancel(struct store_call *base)
{
	struct memory_call *call = (struct memory_call *)base;
	atomic_store(&call->canceled, true);
	LOCK_SCOPE(&call->store->lock);
	pthread_cond_broadcast(&call->store->work);
}

static void call_free(struct store_call *base)
{
	struct memory_call *call = (struct memory_call *)base;
	free(call->key);
	free(call->token);
	object_unref(call->object);
	free(call);
}

static const struct store_call_ops call_ops = {
		.cancel = call_cancel,
		.free = call_free,
};

/* Every fault counts the call; the first that is due decides. */
static void order_fault_locked(
		struct memory_store *self, struct memory_call *call)
{
	for (struct fault *fault = self->faults; fault != NULL;
			fault = fault->next) {
		if (fault->kind != 0 && fault->kind != call->kind) {
			continue;
		}
		if (fault->skip > 0) {
			fault->skip--;
		} else if (fault->count > 0) {
			fault->count--;
			if (call->fault.error == 0) {
				call->fault = *fault;
			}
		}
	}
}

static int record_call_locked(
		struct memory_store *self, const struct memory_call *call)
{
	if (self->record_count == self->record_capacity) {
		const size_t capacity = self->record_capacity * 2 + 64;
		struct memory_store_record *records = realloc(
				self->records, capacity * sizeof(*records));
		if (records == NULL) {
			return -ENOMEM;
		}
		self->records = records;
		self->record_capacity = capacity;
	}
	struct memory_store_record *record =
			&self->records[self->record_count++];
	record->kind = call->kind;
	record->offset = call->offset;
	record->length = call->length;
	record->recursive = call->args.recursive;
	snprintf(record->key, sizeof(record->key), "%s", call->key);
	return 0;
}

static struct memory_call *make_call(
		struct store *store, char kind, const char *key, void *context)
{
	struct memory_call *call = calloc(1, sizeof(*call));
	if (call == NULL) {
		return NULL;
	}
	call->store = memory_store(store);
	call->kind = kind;
	call->context = context;
	call->key = strdup(key);
	if (call->key == NULL) {
		free(call);
		return NULL;
	}
	return call;
}

static int queue_call(struct memory_call *call, struct store_call **out_call)
{
	struct memory_store *self = call->store;
	LOCK_SCOPE(&self->lock);
	if (record_call_locked(self, call) < 0) {
		call_free(&call->call);
		return -ENOMEM;
	}
	order_fault_locked(self, call);
	store_call_init(&call->call, &call_ops, out_call);
	DL_APPEND(self->queue, call);
	self->queued++;
	pthread_cond_broadcast(&self->work);
	pthread_cond_broadcast(&self->arrived);
	return 0;
}

static int memory_stat(struct store *store, const char *key,
		const struct store_callbacks_stat *callbacks, void *context,
		struct store_call **out_call)
{
	struct memory_call *call = make_call(store, 's', key, context);
	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks.stat = callbacks;
	return queue_call(call, out_call);
}

static int memory_list(struct store *store, const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context,
		struct store_call **out_call)
{
	struct memory_call *call = make_call(store, 'l', args->prefix, context);
	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks.list = callbacks;
	call->args = *args;
	call->args.prefix = call->key;
	if (args->token != NULL) {
		call->token = strdup(args->token);
		call->args.token = call->token;
		if (call->token == NULL) {
			call_free(&call->call);
			return -ENOMEM;
		}
	}
	return queue_call(call, out_call);
}

static int memory_get(struct store *store, struct object *object,
		uint64_t offset, uint64_t length,
		const struct store_callbacks_get *callbacks, void *context,
		struct store_call **out_call)
{
	struct memory_call *call = make_call(store, 'g', object->key, context);
	if (call == NULL) {
		return -ENOMEM;
	}
	call->callbacks.get = callbacks;
	call->object = object_ref(object);
	call->offset = offset;
	call->length = length;
	return queue_call(call, out_call);
}

static int memory_url(
		const struct store *store, const char *key, struct strbuf *out)
{
	return strbuf_printf(out, "%s/%s", store->name, key);
}

static int memory_describe(const struct store *store, struct strbuf *out)
{
	return strbuf_printf(out, "%s: objects in memory", store->name);
}

const struct store_ops memory_call_ops = {
		.stat = memory_stat,
		.list = memory_list,
		.get = memory_get,
		.url = memory_url,
		.describe = memory_describe,
};
