/*
 * Many threads read, prefetch, open and close a few objects over a store in
 * memory that fails now and then, in little memory, with and without a disk
 * tier. Every byte is checked. For TSan: no assertion on time.
 */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "cache/cache.h"
#include "cache/disk_tier.h"
#include "fetch/fetch.h"
#include "store/object.h"
#include "store/testing.h"

#define THREADS 16
#define OBJECTS 6
#define ROUNDS 6
#define MIB ((uint64_t)1 << 20)

static struct counters counters;
static struct store *store;
static struct cache *cache;
static struct object *objects[OBJECTS];
static atomic_uint wrong, failed, finished;

struct waited_read {
	struct cache_read read;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
};

static void on_done(struct cache_read *read)
{
	struct waited_read *waited = (struct waited_read *)read;
	LOCK_SCOPE(&waited->lock);

	waited->is_done = true;
	(void)pthread_cond_signal(&waited->done);
}

static bool right(const struct cache_read *read, uint32_t seed)
{
	uint64_t offset = read->offset;

	for (int i = 0; i < read->part_count; i++) {
		const uint8_t *bytes = read->parts[i].iov_base;

		/* Each 61st byte and both ends: TSan is slow. */
		for (size_t j = 0; j < read->parts[i].iov_len; j += 61) {
			if (bytes[j] != memory_store_byte(seed, offset + j)) {
				return false;
			}
		}
		offset += read->parts[i].iov_len;
	}
	return offset == read->offset + read->length;
}

static void read_once(struct cache_object *object, uint32_t seed,
		uint64_t offset, size_t length)
{
	struct waited_read waited = {
			.read = {.offset = offset,
					.length = length,
					.on_done = on_done},
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.done = PTHREAD_COND_INITIALIZER,
	};

	if (cache_read_start(object, &waited.read) == -EINPROGRESS) {
		LOCK_SCOPE(&waited.lock);
		while (!waited.is_done) {
			(void)pthread_cond_wait(&waited.done, &waited.lock);
		}
	}
	if (waited.read.error) {
		atomic_fetch_add(&failed, 1);
	} else if (!right(&waited.read, seed)) {
		atomic_fetch_add(&wrong, 1);
	}
	atomic_fetch_add(&finished, 1);
	cache_read_release(&waited.read);
}

static void *work(void *context)
{
	unsigned short seed[3] = {(unsigned short)(uintptr_t)context, 1, 2};

	for (int round = 0; round < ROUNDS; round++) {
		uint32_t index = (uint32_t)nrand48(seed) % OBJECTS;
		uint64_t size = objects[index]->size;
		struct cache_object *object;

		if (cache_open(cache, objects[index], &object) != 0) {
			abort();
		}
		for (int i = 0; i < 4; i++) {
			uint64_t offset = (uint64_t)nrand48(seed) % size;
			uint64_t length = 1 + (uint64_t)nrand48(seed) % MIB;
			if (nrand48(seed) % 2) {
				(void)cache_prefetch(object, offset, 2 * MIB,
						256 << 10);
			}
			length = length < size - offset ? length
							: size - offset;
			read_once(object, index, offset, (size_t)length);
			(void)cache_take_dropped(object);
		}
		cache_close(object);
	}
	return NULL;
}

static int remove_entry(const char *path, const struct stat *st, int type,
		struct FTW *at)
{
	return remove(path);
}

static void make_objects(void)
{
	for (uint32_t i = 0; i < OBJECTS; i++) {
		char key[16];
		uint64_t size = (i + 1) * MIB + i * 1001;

		(void)snprintf(key, sizeof(key), "key%u", i);
		if (memory_store_put_pattern(store, key, size, i, "\"e\"") !=
				0) {
			abort();
		}
		objects[i] = object_create(
				store, key, "\"e\"", size, MEMORY_STORE_MTIME);
		objects[i]->cacheable = i > 0; /* One of each kind. */
	}
}

static void run(bool with_disk, bool stop)
{
	char dir[] = "/tmp/shardfs-stress-XXXXXX";
	char message[256] = "";
	struct disk_tier *disk = NULL;
	struct fetch *fetch;
	struct fetch_settings fetch_settings = {.counters = &counters,
			.part_size = MIB,
			.max_connections = 16,
			.timeout_ms = 20000,
			.retries = 10};
	struct disk_tier_settings disk_settings = {.counters = &counters,
			.dir = dir,
			.limit_bytes = 16 * MIB,
			.verify = DISK_VERIFY_ALWAYS,
			.trust_network_fs = true};
	struct cache_settings settings = {
			.counters = &counters, .memory_bytes = 8 * MIB};

	if (memory_store_create("mem://bucket", "", &store) != 0 ||
			fetch_create(&fetch_settings, &fetch) != 0 ||
			!mkdtemp(dir)) {
		abort();
	}
	if (with_disk && disk_tier_open(&disk_settings, &disk, message,
					 sizeof(message)) != 0) {
		(void)fprintf(stderr, "%s\n", message);
		abort();
	}
	settings.fetch = fetch;
	settings.disk = disk;
	if (cache_create(&settings, &cache) != 0) {
		abort();
	}
	make_objects();
	memory_store_fail(store, "get", 20, 5, -EIO, STORE_RETRY, 30000);
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < THREADS; i++) {
		(void)pthread_create(&threads[i], NULL, work,
				(void *)(i + 1 + 100 * with_disk));
	}
	if (stop) {
		while (atomic_load(&finished) < 100) {
			(void)sched_yield();
		}
		fetch_stop(fetch, -EIO);
		cache_stop(cache, -EIO);
	}
	for (size_t i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	cache_destroy(cache, 2000);
	fetch_destroy(fetch);
	disk_tier_close(disk);
	for (size_t i = 0; i < OBJECTS; i++) {
		object_unref(objects[i]);
	}
	store_destroy(store);
	(void)nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	run(false, false);
	run(true, false);
	if (atomic_load(&failed) > 0) {
		(void)fprintf(stderr, "%u reads failed\n",
				atomic_load(&failed));
		return 1;
	}
	atomic_store(&finished, 0);
	run(true, true);
	if (atomic_load(&wrong) > 0 ||
			counters_get(&counters.memory_used_bytes) > 0 ||
			counters_get(&counters.memory_waiters) > 0) {
		(void)fprintf(stderr, "wrong=%u\n", atomic_load(&wrong));
		return 1;
	}
	return 0;
}
