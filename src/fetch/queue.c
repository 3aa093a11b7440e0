#include "queue_private.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

struct queue_link {
	struct queue_object *prev, *next;
};

struct queue_object {
	const struct object *object;
	struct queue_object *chain;
	struct fetch_range *ranges[QUEUE_CLASSES];
	struct queue_link turns[QUEUE_CLASSES];
};

static enum queue_class class_of(const struct fetch_range *range)
{
	return range->demand ? QUEUE_DEMAND : QUEUE_PREFETCH;
}

static size_t bucket_of(const struct object *object, uint64_t offset)
{
	const uint64_t mixed = ((uint64_t)(uintptr_t)object ^ (offset >> 9) ^
					       (offset << 40)) *
			       0x9e3779b97f4a7c15U;
	return (size_t)(mixed >> 32) % QUEUE_BUCKETS;
}

/* ---- Look-up by start and by end ---- */

static struct fetch_range *find_start(const struct queue *queue,
		const struct object *object, uint64_t offset)
{
	struct fetch_range *range = queue->starts[bucket_of(object, offset)];
	while (range != NULL && (range->object != object ||
						range_start(range) != offset)) {
		range = range->start_chain;
	}
	return range;
}

static struct fetch_range *find_end(const struct queue *queue,
		const struct object *object, uint64_t offset)
{
	struct fetch_range *range = queue->ends[bucket_of(object, offset)];
	while (range != NULL && (range->object != object ||
						range_end(range) != offset)) {
		range = range->end_chain;
	}
	return range;
}

static void index_add(struct queue *queue, struct fetch_range *range)
{
	struct fetch_range **start = &queue->starts[bucket_of(
			range->object, range_start(range))];
	struct fetch_range **end = &queue->ends[bucket_of(
			range->object, range_end(range))];
	LL_PREPEND2(*start, range, start_chain);
	LL_PREPEND2(*end, range, end_chain);
}

static void index_remove(struct queue *queue, struct fetch_range *range)
{
	struct fetch_range **start = &queue->starts[bucket_of(
			range->object, range_start(range))];
	struct fetch_range **end = &queue->ends[bucket_of(
			range->object, range_end(range))];
	LL_DELETE2(*start, range, start_chain);
	LL_DELETE2(*end, range, end_chain);
}

/* ---- Objects and their turns ---- */

static struct queue_object *object_get(
		struct queue *queue, const struct object *object)
{
	struct queue_object **bucket = &queue->objects[bucket_of(object, 0)];
	struct queue_object *group = NULL;
	LL_SEARCH_SCALAR2(*bucket, group, object, object, chain);
	if (group != NULL) {
		return group;
	}
	group = calloc(1, sizeof(*group));
	if (group != NULL) {
		group->object = object;
		LL_PREPEND2(*bucket, group, chain);
	}
	return group;
}

static void turn_add(struct queue *queue, struct queue_object *group,
		enum queue_class class, bool first)
{
	if (first) {
		DL_PREPEND2(queue->turns[class], group, turns[class].prev,
				turns[class].next);
	} else {
		DL_APPEND2(queue->turns[class], group, turns[class].prev,
				turns[class].next);
	}
}

static void turn_remove(struct queue *queue, struct queue_object *group,
		enum queue_class class)
{
	DL_DELETE2(queue->turns[class], group, turns[class].prev,
			turns[class].next);
}

static void link_range(struct queue *queue, struct queue_object *group,
		struct fetch_range *range, bool first)
{
	const enum queue_class class = class_of(range);
	if (group->ranges[class] == NULL) {
		turn_add(queue, group, class, first);
	}
	if (first) {
		DL_PREPEND(group->ranges[class], range);
	} else {
		DL_APPEND(group->ranges[class], range);
	}
	queue->counts[class]++;
}

static void unlink_range(struct queue *queue, struct queue_object *group,
		struct fetch_range *range)
{
	const enum queue_class class = class_of(range);
	DL_DELETE(group->ranges[class], range);
	queue->counts[class]--;
	if (group->ranges[class] == NULL) {
		turn_remove(queue, group, class);
	}
}

/* ---- Interface ---- */

int queue_push(struct queue *queue, struct fetch_range *range, bool first)
{
	struct queue_object *group = object_get(queue, range->object);
	if (group == NULL) {
		return -ENOMEM;
	}
	range->group = group;
	link_range(queue, group, range, first);
	index_add(queue, range);
	return 0;
}

void queue_remove(struct queue *queue, struct fetch_range *range)
{
	struct queue_object *group = range->group;
	index_remove(queue, range);
	unlink_range(queue, group, range);
	range->group = NULL;
	if (group->ranges[QUEUE_DEMAND] == NULL &&
			group->ranges[QUEUE_PREFETCH] == NULL) {
		struct queue_object **bucket =
				&queue->objects[bucket_of(group->object, 0)];
		LL_DELETE2(*bucket, group, chain);
		free(group);
	}
}

void queue_promote(struct queue *queue, struct fetch_range *range)
{
	if (range->demand) {
		return;
	}
	unlink_range(queue, range->group, range);
	range->demand = true;
	link_range(queue, range->group, range, false);
}

/* The end of the turn of a group that has more. */
static void rotate(struct queue *queue, enum queue_class class)
{
	struct queue_object *group = queue->turns[class];
	turn_remove(queue, group, class);
	turn_add(queue, group, class, false);
}

static bool fits(const struct fetch_range *range, uint64_t room)
{
	return range != NULL && range_end(range) - range_start(range) <= room;
}

struct fetch_range *queue_pop(struct queue *queue, enum queue_class class,
		uint64_t limit_bytes, uint64_t *out_bytes)
{
	if (queue->turns[class] == NULL) {
		return NULL;
	}
	struct fetch_range *list = NULL;
	struct fetch_range *range = queue->turns[class]->ranges[class];
	const struct object *object = range->object;
	uint64_t start = range_start(range);
	uint64_t end = range_end(range);
	rotate(queue, class);
	queue_remove(queue, range);
	DL_APPEND(list, range);
	if (end - start > limit_bytes) {
		*out_bytes = limit_bytes;
		return list;
	}
	range = find_start(queue, object, end);
	while (fits(range, limit_bytes - (end - start))) {
		end = range_end(range);
		queue_remove(queue, range);
		DL_APPEND(list, range);
		range = find_start(queue, object, end);
	}
	range = find_end(queue, object, start);
	while (fits(range, limit_bytes - (end - start)) &&
			class_of(range) == class) {
		start = range_start(range);
		queue_remove(queue, range);
		DL_PREPEND(list, range);
		range = find_end(queue, object, start);
	}
	*out_bytes = end - start;
	return list;
}

struct fetch_range *queue_take(struct queue *queue,
		bool (*wanted)(const struct fetch_range *range,
				const void *context),
		const void *context)
{
	struct fetch_range *list = NULL;
	for (size_t i = 0; i < QUEUE_BUCKETS; i++) {
		struct fetch_range *range = NULL;
		struct fetch_range *next = NULL;
		for (range = queue->starts[i]; range != NULL; range = next) {
			next = range->start_chain;
			if (wanted(range, context)) {
				queue_remove(queue, range);
				DL_APPEND(list, range);
			}
		}
	}
	return list;
}
