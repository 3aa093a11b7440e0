#include "store/testing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "memory_store_private.h"

#define DEFAULT_PIECE_BYTES 16384
#define DEFAULT_PAGE_KEYS 1000
#define HELD_WAIT_SECONDS 5

static void free_store(struct memory_store *self)
{
	struct fault *fault = NULL;
	struct fault *next = NULL;
	LL_FOREACH_SAFE (self->faults, fault, next) {
		free(fault);
	}
	memory_objects_destroy(self->objects);
	pthread_mutex_destroy(&self->lock);
	pthread_cond_destroy(&self->work);
	pthread_cond_destroy(&self->arrived);
	free(self->records);
	free(self->store.name);
	free(self->store.prefix);
	free(self);
}

/* Calls that still wait are answered -ECANCELED by the worker, which ends when
 * none is left. */
static void memory_destroy(struct store *store)
{
	struct memory_store *self = memory_store(store);
	{
		LOCK_SCOPE(&self->lock);
		self->stopping = true;
		struct memory_call *call = NULL;
		DL_FOREACH (self->queue, call) {
			atomic_store(&call->canceled, true);
		}
		pthread_cond_broadcast(&self->work);
	}
	pthread_join(self->thread, NULL);
	free_store(self);
}

int memory_store_create(
		const char *name, const char *prefix, struct store **out_store)
{
	struct memory_store *self = calloc(1, sizeof(*self));
	if (self == NULL) {
		return -ENOMEM;
	}
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->work, NULL);
	pthread_cond_init(&self->arrived, NULL);
	self->ops = memory_call_ops;
	self->ops.destroy = memory_destroy;
	self->store.ops = &self->ops;
	self->store.name = strdup(name);
	self->store.prefix = strdup(prefix);
	self->objects = memory_objects_create();
	self->piece_bytes = DEFAULT_PIECE_BYTES;
	self->page_keys = DEFAULT_PAGE_KEYS;
	int error = -ENOMEM;
	if (self->store.name != NULL && self->store.prefix != NULL &&
			self->objects != NULL) {
		error = -pthread_create(
				&self->thread, NULL, memory_worker_main, self);
	}
	if (error != 0) {
		free_store(self);
		return error;
	}
	*out_store = &self->store;
	return 0;
}

/* ---- Orders of the test ---- */

static int put_object(struct store *store, struct memory_object *object)
{
	if (object == NULL) {
		return -ENOMEM;
	}
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	return memory_objects_put(self->objects, object);
}

int memory_store_put(struct store *store, const char *key, const void *data,
		size_t length, const char *etag)
{
	return put_object(store,
			memory_object_create(key, etag,
					data == NULL ? "" : data, length));
}

int memory_store_put_pattern(struct store *store, const char *key,
		uint64_t size, uint32_t seed, const char *etag)
{
	struct memory_object *object =
			memory_object_create(key, etag, NULL, size);
	if (object != NULL) {
		object->seed = seed;
	}
	return put_object(store, object);
}

void memory_store_remove(struct store *store, const char *key)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	memory_objects_remove(self->objects, key);
}

void memory_store_set_mtime(struct store *store, const char *key, int64_t mtime)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	struct memory_object *object = memory_objects_find(self->objects, key);
	if (object != NULL) {
		object->mtime = mtime;
	}
}

void memory_store_set_archived(struct store *store, const char *key)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	struct memory_object *object = memory_objects_find(self->objects, key);
	if (object != NULL) {
		object->archived = true;
	}
}

void memory_store_set_unsettled(
		struct store *store, const char *key, bool unsettled)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	struct memory_object *object = memory_objects_find(self->objects, key);
	if (object != NULL) {
		object->unsettled = unsettled;
	}
}

void memory_store_fail(struct store *store, const char *kind, unsigned first,
		unsigned count, int error, enum store_advice advice,
		uint64_t after_bytes)
{
	struct memory_store *self = memory_store(store);
	struct fault *fault = malloc(sizeof(*fault));
	if (fault == NULL) {
		abort(); /* A test that believes in its fault would lie. */
	}
	*fault = (struct fault){
			.kind = kind == NULL ? '\0' : kind[0],
			.skip = first,
			.count = count,
			.error = error,
			.advice = advice,
			.after_bytes = after_bytes,
	};
	LOCK_SCOPE(&self->lock);
	LL_APPEND(self->faults, fault);
}

void memory_store_hold(struct store *store)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	self->held = true;
}

void memory_store_release(struct store *store)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	self->held = false;
	pthread_cond_broadcast(&self->work);
}

int memory_store_wait_held(struct store *store, unsigned count)
{
	struct memory_store *self = memory_store(store);
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += HELD_WAIT_SECONDS;
	LOCK_SCOPE(&self->lock);
	while (!self->held || self->queued < count) {
		if (pthread_cond_timedwait(&self->arrived, &self->lock, &end) !=
				0) {
			return -ETIMEDOUT;
		}
	}
	return 0;
}

void memory_store_set_piece(struct store *store, size_t bytes)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	self->piece_bytes = bytes;
}

void memory_store_set_page(struct store *store, uint32_t max_keys)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	self->page_keys = max_keys;
}

size_t memory_store_count(struct store *store, char kind)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	size_t count = 0;
	for (size_t i = 0; i < self->record_count; i++) {
		if (kind == 0 || self->records[i].kind == kind) {
			count++;
		}
	}
	return count;
}

int memory_store_get_record(struct store *store, size_t index,
		struct memory_store_record *out_record)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	if (index >= self->record_count) {
		return -ENOENT;
	}
	*out_record = self->records[index];
	return 0;
}

void memory_store_clear_records(struct store *store)
{
	struct memory_store *self = memory_store(store);
	LOCK_SCOPE(&self->lock);
	self->record_count = 0;
}
