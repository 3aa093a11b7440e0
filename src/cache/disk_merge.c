#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "cache/disk_pending_private.h"

/* Objects looked at in one round. */
#define OBJECT_BATCH 512

/* What one transaction settles with the grant and the clock. */
struct merge_result {
	uint64_t charged_bytes; /* Now held by rows. */
	uint64_t clock;
};

/* The row of the object is not the one the bytes were written under: a file
 * that was removed by hand, or forgotten. Its bytes do not count. */
static void give_up_object(struct disk_tier *tier, struct disk_object *object)
{
	disk_object_clear(object);
	disk_files_discard(object);
	tier->leaked = true;
}

static int merge_entry(struct disk_tier *tier, struct disk_pending *entry,
		struct merge_result *result)
{
	struct disk_object *object = entry->key.object;
	struct index_object known = disk_object_row(object);
	struct index_object row = {.id = 0};
	int error = index_find_name(tier->writer, object->identity.name, &row);
	if (error != 0 && error != -ENOENT) {
		return error;
	}
	if (row.id != known.id || row.generation != known.generation ||
			row.id == 0) {
		give_up_object(tier, object);
		return 0;
	}
	struct disk_chunk *chunk = &object->chunks[entry->key.number];
	/* New blocks count as used now. */
	uint64_t last_use = atomic_load(
			entry->set != 0 ? &tier->clock : &chunk->last_use);
	struct index_merge merge = {
			.number = entry->key.number,
			.set = entry->set,
			.drop = entry->drop,
			.last_use = last_use,
			.sums = entry->sums,
	};
	result->charged_bytes += entry->charged_bytes;
	return index_merge_chunk(tier->writer, &row, &merge);
}

static int merge_times(struct disk_tier *tier, struct disk_object *object)
{
	struct index_object row = disk_object_row(object);
	if (!atomic_exchange(&object->touched, false) || row.id == 0) {
		return 0;
	}
	int error = index_touch_object(
			tier->writer, row.id, atomic_load(&object->opened));
	for (uint32_t i = 0; error == 0 && i < object->chunk_count; i++) {
		struct disk_chunk *chunk = &object->chunks[i];
		if (!atomic_exchange(&chunk->touched, false)) {
			continue;
		}
		struct index_merge merge = {
				.number = i,
				.last_use = atomic_load(&chunk->last_use),
		};
		error = index_merge_chunk(tier->writer, &row, &merge);
	}
	return error;
}

/* References to objects whose times are newer than their rows. */
static size_t find_touched(struct disk_tier *tier, struct disk_object **out)
{
	size_t count = 0;
	LOCK_SCOPE(&tier->objects_lock);
	struct disk_object *object = tier->objects;
	for (; object != NULL && count < OBJECT_BATCH;
			object = object->hh.next) {
		if (atomic_load(&object->touched)) {
			object->references++;
			out[count++] = object;
		}
	}
	return count;
}

static int merge_in_transaction(struct disk_tier *tier,
		struct disk_pending *entries, struct disk_object **touched,
		size_t touched_count, struct merge_result *result)
{
	int error = 0;
	for (struct disk_pending *entry = entries; error == 0 && entry != NULL;
			entry = entry->hh.next) {
		error = merge_entry(tier, entry, result);
	}
	for (size_t i = 0; error == 0 && i < touched_count; i++) {
		error = merge_times(tier, touched[i]);
	}
	if (error == 0) {
		error = index_advance_clock(tier->writer,
				atomic_load(&tier->demanded), &result->clock);
	}
	if (error == 0 && result->charged_bytes > 0) {
		error = index_add_granted(tier->writer, tier->holder,
				-(int64_t)result->charged_bytes);
	}
	return error;
}

static void raise_clock(struct disk_tier *tier, uint64_t clock)
{
	uint64_t now = atomic_load(&tier->clock);
	while (now < clock && !atomic_compare_exchange_weak(
					      &tier->clock, &now, clock)) {
	}
}

int disk_merge_all(struct disk_tier *tier)
{
	struct disk_object *touched[OBJECT_BATCH];
	size_t touched_count = find_touched(tier, touched);
	struct disk_pending *entries = disk_pending_take(tier);
	if (entries == NULL && touched_count == 0) {
		return 0;
	}
	struct merge_result result = {.charged_bytes = 0};
	uint64_t demanded = atomic_load(&tier->demanded);
	int error = index_begin(tier->writer);
	if (error == 0) {
		error = merge_in_transaction(
				tier, entries, touched, touched_count, &result);
		if (error == 0) {
			error = index_commit(tier->writer);
		}
		if (error != 0) {
			index_rollback(tier->writer);
		}
	}
	if (error == 0) {
		atomic_fetch_sub(&tier->demanded, demanded);
		raise_clock(tier, result.clock);
		disk_pending_done(tier);
		disk_grant_refresh(tier);
	} else {
		/* Times that are lost only make a chunk look older. */
		disk_pending_put_back(tier);
		disk_tier_judge_index(tier, error);
	}
	for (size_t i = 0; i < touched_count; i++) {
		disk_object_unref(touched[i]);
	}
	return error;
}

/* Takes objects out of the table that nobody has open. */
static size_t take_idle(struct disk_tier *tier, struct disk_object **out)
{
	size_t count = 0;
	LOCK_SCOPE(&tier->objects_lock);
	struct disk_object *object;
	struct disk_object *next;
	HASH_ITER (hh, tier->objects, object, next) {
		if (count == OBJECT_BATCH) {
			break;
		}
		if (object->references == 0 && !atomic_load(&object->touched) &&
				atomic_load(&object->unmerged) == 0) {
			HASH_DELETE(hh, tier->objects, object);
			out[count++] = object;
		}
	}
	return count;
}

/* They have no bytes without rows any more. */
static int forget_names(struct disk_tier *tier, struct disk_object **objects,
		size_t count)
{
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error;
	}
	for (size_t i = 0; error == 0 && i < count; i++) {
		if (objects[i]->named) {
			error = index_remove_writing(tier->writer, tier->holder,
					objects[i]->identity.name);
		}
	}
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
	}
	return error;
}

static bool any_named(struct disk_object **objects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (objects[i]->named) {
			return true;
		}
	}
	return false;
}

void disk_merge_retire(struct disk_tier *tier)
{
	struct disk_object *idle[OBJECT_BATCH];
	size_t count = take_idle(tier, idle);
	for (size_t i = 0; i < count; i++) {
		bool is_empty = disk_object_row(idle[i]).id != 0 &&
				disk_object_bytes(idle[i]) == 0;
		disk_files_close(idle[i]);
		if (is_empty) {
			/* Or the next one who has it empty does. */
			(void)disk_evict_empty(tier, idle[i]->identity.name);
		}
	}
	/* Names of lost space stay: the next user looks at them. */
	if (!tier->leaked && any_named(idle, count)) {
		(void)forget_names(tier, idle, count); /* They may stay. */
	}
	for (size_t i = 0; i < count; i++) {
		disk_object_destroy(idle[i]);
	}
}
