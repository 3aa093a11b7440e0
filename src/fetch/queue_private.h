#ifndef FETCH_QUEUE_PRIVATE_H
#define FETCH_QUEUE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fetch/fetch.h"

/*
 * Ranges of one endpoint that wait for a transfer. Under the scheduler's lock.
 *
 * 1. Objects take turns, so that no file starves; the ranges of one object are
 *    served first in, first out, demand before prefetch.
 * 2. A range is found by its object and start, and by its object and end, at
 *    the cost of a hash look-up: joining looks at neighbours only.
 * 3. The object of a queued range is alive: its caller keeps it.
 */
#define QUEUE_BUCKETS 4096

enum queue_class { QUEUE_DEMAND, QUEUE_PREFETCH };
#define QUEUE_CLASSES 2

struct queue_object;

struct queue {
	struct queue_object *turns[QUEUE_CLASSES]; /* Next to serve first. */
	size_t counts[QUEUE_CLASSES];
	struct fetch_range *starts[QUEUE_BUCKETS];
	struct fetch_range *ends[QUEUE_BUCKETS];
	struct queue_object *objects[QUEUE_BUCKETS];
};

/* `first`: before all others of its object (it was served before). -ENOMEM. */
int queue_push(struct queue *queue, struct fetch_range *range, bool first);
void queue_remove(struct queue *queue, struct fetch_range *range);
/* Prefetch becomes demand. */
void queue_promote(struct queue *queue, struct fetch_range *range);

/*
 * Takes what the next request of a class carries: the range whose turn it is
 * and the neighbours that fit whole into `limit_bytes`, as a list in order of
 * offset; no prefetch goes before demand. *out_bytes is what to ask for: less
 * than the first range wants when it alone is over the limit. NULL: none.
 */
struct fetch_range *queue_pop(struct queue *queue, enum queue_class class,
		uint64_t limit_bytes, uint64_t *out_bytes);

/* Takes all ranges that `wanted` says yes to, as a list. */
struct fetch_range *queue_take(struct queue *queue,
		bool (*wanted)(const struct fetch_range *range,
				const void *context),
		const void *context);

static inline uint64_t range_start(const struct fetch_range *range)
{
	return range->offset + range->done_bytes;
}

static inline uint64_t range_end(const struct fetch_range *range)
{
	return range->offset + range->length;
}

#endif
