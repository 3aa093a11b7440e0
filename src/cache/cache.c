#include "cache/cache_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/strbuf.h"
#include "base/workers.h"
#include "cache/disk_tier.h"
#include "store/object.h"
#include "store/store.h"

/* Without memory for the table an open fails; see object_insert_locked. */
#undef uthash_nonfatal_oom
#define uthash_nonfatal_oom(element)                                           \
	do {                                                                   \
	} while (0)

#define IDENTITY_LIMIT 8192

/* ---- The cache ---- */

static int start_threads(struct cache *cache)
{
	int error = workers_start_thread("cache-resume", read_resume_main,
			cache, &cache->resume_thread);
	if (error) {
		return error;
	}
	cache->resume_started = true;
	error = workers_start_thread("cache-writer", writer_main, cache,
			&cache->writer_thread);
	if (error) {
		return error;
	}
	cache->writer_started = true;
	return 0;
}

static void init_lock(struct cache *cache)
{
	pthread_condattr_t monotonic;

	/* These fail only for arguments that are not ours. */
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_mutex_init(&cache->lock, NULL);
	(void)pthread_cond_init(&cache->resume, NULL);
	(void)pthread_cond_init(&cache->writer, &monotonic);
	(void)pthread_cond_init(&cache->objects, NULL);
	(void)pthread_cond_init(&cache->idle, NULL);
	(void)pthread_condattr_destroy(&monotonic);
}

int cache_create(
		const struct cache_settings *settings, struct cache **out_cache)
{
	struct cache *cache = calloc(1, sizeof(*cache));

	if (!cache) {
		return -ENOMEM;
	}
	cache->fetch = settings->fetch;
	cache->counters = settings->counters;
	cache->disk = settings->disk;
	init_lock(cache);
	int error = memory_create(settings->memory_bytes, cache->counters,
			&cache->memory);
	if (!error) {
		error = start_threads(cache);
	}
	if (error) {
		cache_destroy(cache, 0);
		return error;
	}
	*out_cache = cache;
	return 0;
}

static void stop_threads(struct cache *cache, uint64_t deadline_ms)
{
	{
		LOCK_SCOPE(&cache->lock);
		cache->write_deadline_ms = clock_monotonic_ms() + deadline_ms;
		cache->closing = true;
		(void)pthread_cond_broadcast(&cache->resume);
		while (cache->fills) {
			(void)pthread_cond_wait(&cache->idle, &cache->lock);
		}
		cache->last_writes = true;
		(void)pthread_cond_broadcast(&cache->writer);
	}
	if (cache->resume_started) {
		(void)pthread_join(cache->resume_thread, NULL);
	}
	if (cache->writer_started) {
		(void)pthread_join(cache->writer_thread, NULL);
	}
}

/* No other thread is left. */
static void drop_objects(struct cache *cache)
{
	struct cache_object *object;
	struct cache_object *next;
	struct memory_owner *owner;
	LOCK_SCOPE(&cache->lock);

	counters_add(&cache->counters->cache_unwritten,
			memory_write_count(cache->memory));
	HASH_ITER (hh, cache->table, object, next) {
		memory_owner_clear(cache->memory, &object->owner);
	}
	while ((owner = memory_owner_take_unused(cache->memory)) != NULL) {
		object_finish_locked((struct cache_object *)owner);
	}
	assert(!cache->table);
}

void cache_destroy(struct cache *cache, uint64_t deadline_ms)
{
	if (!cache) {
		return;
	}
	fill_cancel_prefetch(cache, NULL, SIZE_MAX);
	stop_threads(cache, deadline_ms);
	if (cache->memory) {
		drop_objects(cache);
	}
	while (cache->spare_fills) {
		struct fill *fill = cache->spare_fills;
		cache->spare_fills = fill->next;
		free(fill);
	}
	memory_destroy(cache->memory);
	(void)pthread_cond_destroy(&cache->idle);
	(void)pthread_cond_destroy(&cache->objects);
	(void)pthread_cond_destroy(&cache->writer);
	(void)pthread_cond_destroy(&cache->resume);
	(void)pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void cache_freed_locked(struct cache *cache)
{
	if (cache->memory_queue) {
		(void)pthread_cond_signal(&cache->resume);
	}
	if (memory_has_unused(cache->memory)) {
		(void)pthread_cond_signal(&cache->writer);
	}
}

/* ---- Objects ---- */

size_t object_block_length(const struct cache_object *object, uint64_t number)
{
	uint64_t left = object->version->size - number * BLOCK_SIZE;

	return left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE;
}

bool object_is_written(const struct cache_object *object)
{
	return object->disk && object->version->cacheable;
}

/*
 * What makes two opens the same object: store, key, version and size. A
 * version that cannot be told from its successor is the same only as itself.
 */
static int make_identity(
		struct object *version, char **out_identity, size_t *out_length)
{
	struct strbuf text;
	char name[1024];

	strbuf_init(&text, IDENTITY_LIMIT);
	int error = object_version(version, name, sizeof(name));
	if (!version->cacheable || error) {
		(void)strbuf_printf(&text, "%p", (void *)version);
	} else {
		(void)strbuf_printf(&text, "%s %llu %s ",
				store_name(version->store),
				(unsigned long long)version->size, name);
		(void)strbuf_add_char(&text, '\0');
		(void)strbuf_add(&text, version->key, version->key_length);
	}
	*out_length = text.length;
	*out_identity = strbuf_take(&text); /* NULL if any of it failed. */
	strbuf_finish(&text);
	return *out_identity ? 0 : -ENOMEM;
}

static void object_free(struct cache_object *object)
{
	if (object) {
		object_unref(object->version);
		free(object->identity);
		free(object);
	}
}

static int object_create_closed(struct cache *cache, struct object *version,
		struct cache_object **out_object)
{
	struct cache_object *object = calloc(1, sizeof(*object));

	if (!object) {
		return -ENOMEM;
	}
	object->cache = cache;
	object->version = object_ref(version);
	int error = make_identity(
			version, &object->identity, &object->identity_length);
	if (error) {
		object_free(object);
		return error;
	}
	*out_object = object;
	return 0;
}

/* Waits while another thread opens or closes it. NULL: it is not open. */
static struct cache_object *find_idle_locked(
		struct cache *cache, const struct cache_object *like)
{
	for (;;) {
		struct cache_object *object;

		HASH_FIND(hh, cache->table, like->identity,
				like->identity_length, object);
		if (!object || !object->busy) {
			return object;
		}
		(void)pthread_cond_wait(&cache->objects, &cache->lock);
	}
}

static int object_insert_locked(
		struct cache *cache, struct cache_object *object)
{
	HASH_ADD_KEYPTR(hh, cache->table, object->identity,
			object->identity_length, object);
	return object->hh.tbl ? 0 : -ENOMEM;
}

/* Opens the disk object without the lock; `busy` keeps others out. */
static void object_open_disk(struct cache_object *object)
{
	struct cache *cache = object->cache;
	struct disk_object *disk = NULL;

	if (disk_object_open(cache->disk, object->version, &disk) != 0) {
		disk = NULL; /* Served without a disk tier. */
	}
	LOCK_SCOPE(&cache->lock);
	object->disk = disk;
	object->busy = false;
	(void)pthread_cond_broadcast(&cache->objects);
}

int cache_open(struct cache *cache, struct object *version,
		struct cache_object **out_object)
{
	struct cache_object *fresh = NULL;
	struct cache_object *object;
	int error = object_create_closed(cache, version, &fresh);

	if (error) {
		return error;
	}
	{
		LOCK_SCOPE(&cache->lock);
		object = find_idle_locked(cache, fresh);
		if (!object) {
			error = object_insert_locked(cache, fresh);
		}
		if (!object && !error) {
			object = fresh;
			object->busy = cache->disk && version->cacheable;
		}
		if (object) {
			object->opens++;
			memory_owner_hold(cache->memory, &object->owner);
		}
	}
	if (object != fresh) {
		object_free(fresh);
	}
	if (!object) {
		return error;
	}
	if (object == fresh && object->busy) {
		object_open_disk(object);
	}
	*out_object = object;
	return 0;
}

void cache_close(struct cache_object *object)
{
	struct cache *cache = object->cache;
	bool last;
	{
		LOCK_SCOPE(&cache->lock);
		last = --object->opens == 0;
		if (last) {
			memory_owner_rest(cache->memory, &object->owner);
		}
	}
	if (last) {
		fill_cancel_prefetch(cache, object, SIZE_MAX);
	}
	LOCK_SCOPE(&cache->lock);
	memory_owner_drop(cache->memory, &object->owner);
	cache_freed_locked(cache);
}

void object_finish_locked(struct cache_object *object)
{
	struct cache *cache = object->cache;

	assert(object->opens == 0);
	assert(!object->waiting);
	if (object->disk) {
		object->busy = true;
		(void)pthread_mutex_unlock(&cache->lock);
		disk_object_close(object->disk);
		(void)pthread_mutex_lock(&cache->lock);
	}
	HASH_DEL(cache->table, object);
	(void)pthread_cond_broadcast(&cache->objects);
	object_free(object);
}

uint64_t cache_take_dropped(struct cache_object *object)
{
	LOCK_SCOPE(&object->cache->lock);
	uint64_t dropped = object->owner.dropped;

	object->owner.dropped = 0;
	return dropped;
}

uint64_t cache_object_disk_bytes(const struct cache_object *object)
{
	return object->disk ? disk_object_bytes(object->disk) : 0;
}

struct object *cache_object_version(const struct cache_object *object)
{
	return object->version;
}
