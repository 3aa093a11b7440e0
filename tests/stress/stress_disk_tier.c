#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cache/disk_tier.h"
#include "disk_rig.h"

/*
 * Readers at random places of a few objects, one writer, and a limit that
 * holds half of them: eviction, filling, opening, closing and a pool of few
 * descriptors meet. Any wrong byte ends it.
 */

#define READERS 8
#define KEYS 10
#define SECONDS 4

static struct disk_rig rig;
static atomic_bool stopping;
static _Atomic uint64_t hits, misses, stored;

static void die(const char *what, const char *key)
{
	(void)fprintf(stderr, "stress_disk_tier: %s: %s\n", what, key);
	abort();
}

static uint64_t name_key(unsigned number, char key[16])
{
	(void)snprintf(key, 16, "k%u", number);
	return (uint64_t)(number % 4 + 2) * RIG_MIB + number * 777;
}

static void read_some(struct disk_object *object, const char *key,
		uint64_t size, unsigned *seed)
{
	uint64_t blocks = (size + BLOCK_SIZE - 1) / BLOCK_SIZE;
	for (int i = 0; i < 10; i++) {
		uint64_t first = (uint64_t)rand_r(seed) % blocks;
		size_t count = 1 + (size_t)rand_r(seed) % 17;
		if (count > blocks - first) {
			count = (size_t)(blocks - first);
		}
		disk_object_touch(object, first, count);
		int error = disk_rig_read(object, key, size, first, count);
		if (error == -EBADMSG) {
			die("wrong bytes", key);
		}
		atomic_fetch_add(error == 0 ? &hits : &misses, 1);
	}
}

static void *run_reader(void *context)
{
	unsigned seed = (unsigned)(uintptr_t)context;
	while (!atomic_load(&stopping)) {
		char key[16];
		uint64_t size = name_key((unsigned)rand_r(&seed) % KEYS, key);
		struct disk_object *object = disk_rig_object(&rig, key, size);
		if (object == NULL) {
			die("cannot open", key);
		}
		read_some(object, key, size, &seed);
		disk_object_close(object);
	}
	return NULL;
}

static void *run_writer(void *context)
{
	(void)context;
	unsigned seed = 99;
	while (!atomic_load(&stopping)) {
		char key[16];
		uint64_t size = name_key((unsigned)rand_r(&seed) % KEYS, key);
		struct disk_object *object = disk_rig_object(&rig, key, size);
		uint64_t blocks = (size + BLOCK_SIZE - 1) / BLOCK_SIZE;
		for (uint64_t at = 0; at < blocks; at += 24) {
			size_t count = blocks - at < 24 ? (size_t)(blocks - at)
							: 24;
			if (disk_rig_write(object, key, size, at, count) == 0) {
				atomic_fetch_add(&stored, 1);
			}
		}
		disk_object_close(object);
	}
	return NULL;
}

static void watch(void)
{
	uint64_t end_ms = clock_monotonic_ms() + SECONDS * 1000;
	while (clock_monotonic_ms() < end_ms) {
		if (disk_rig_is_over(rig.dir, rig.settings.limit_bytes)) {
			die("over its limit", rig.dir);
		}
		struct disk_usage usage;
		disk_tier_usage(rig.tier, &usage);
		(void)disk_listing_put(rig.tier, "s", "p/", "x", 1, 1);
		(void)disk_tier_flush(rig.tier);
	}
}

int main(void)
{
	disk_rig_init(&rig);
	rig.settings.limit_bytes = 16 * RIG_MIB;
	rig.settings.max_open_files = 6;
	if (disk_rig_open(&rig) != 0) {
		die("cannot open the tier", rig.message);
	}
	pthread_t readers[READERS];
	pthread_t writer;
	for (uintptr_t i = 0; i < READERS; i++) {
		if (pthread_create(&readers[i], NULL, run_reader,
				    (void *)(i + 1)) != 0) {
			die("no thread", "");
		}
	}
	if (pthread_create(&writer, NULL, run_writer, NULL) != 0) {
		die("no thread", "");
	}
	watch();
	atomic_store(&stopping, true);
	for (int i = 0; i < READERS; i++) {
		(void)pthread_join(readers[i], NULL);
	}
	(void)pthread_join(writer, NULL);
	uint64_t damaged = counters_get(&rig.counters.cache_damaged);
	uint64_t evicted = counters_get(&rig.counters.cache_evictions);
	(void)printf("hits=%llu misses=%llu stored=%llu evicted=%llu"
		     " damaged=%llu\n",
			(unsigned long long)hits, (unsigned long long)misses,
			(unsigned long long)stored, (unsigned long long)evicted,
			(unsigned long long)damaged);
	disk_rig_finish(&rig);
	return damaged == 0 && hits > 0 && evicted > 0 ? 0 : 1;
}
