#ifndef TESTS_CACHE_RIG_H
#define TESTS_CACHE_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/block_pool.h"
#include "base/counters.h"
#include "cache/cache.h"
#include "store/object.h"

/* A cache over the fake fetch, with or without the fake disk, and one object
 * of it that is open. */
struct rig {
	struct counters counters;
	struct cache *cache;
	struct object *version;
	struct cache_object *object;
};

#define KIB ((uint64_t)1024)
#define MIB ((uint64_t)1 << 20)

void rig_open(struct rig *rig, uint64_t memory_bytes, uint64_t size, bool disk);
void rig_close(struct rig *rig, uint64_t deadline_ms);
struct object *rig_version(const char *key, const char *etag, uint64_t size);

/* A read with a note of its end. */
struct rig_read {
	struct cache_read read;
	unsigned done; /* Calls of on_done. */
};

int rig_start(struct rig *rig, struct rig_read *read, uint64_t offset,
		size_t length);
/* Waits until on_done came; false after 5 s. */
bool rig_wait(struct rig_read *read);
unsigned rig_done(struct rig_read *read);
/* Whether the parts are exactly the bytes asked for. */
bool rig_right(const struct rig_read *read);
/* Starts, finishes the one new range, checks the bytes, releases. */
void rig_read_through(struct rig *rig, uint64_t offset, size_t length);
/* Waits until the gauge of used memory is `bytes`; false after 5 s. */
bool rig_wait_used(struct rig *rig, uint64_t bytes);

#endif
