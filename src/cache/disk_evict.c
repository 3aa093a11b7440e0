#include <errno.h>
#include <stdlib.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "base/counters.h"
#include "cache/disk_private.h"
#include "cache/victim_private.h"

/*
 * Frees space: the chunk used longest ago whose file nobody else holds. The
 * order of steps is invariant 4 of disk_private.h.
 */

#define LIST_LEAST 512u
#define LIST_MOST 32768u

static bool is_wanted(const struct disk_want *want,
		const struct disk_object *object, uint32_t number)
{
	return want->object == object &&
	       disk_object_mask(want->first, want->count, number) != 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Keeps readers and writers off the chunk if it may go. Its blocks are gone
 * for them from now on, whatever happens next. */
static bool reserve_chunk(struct disk_object *object,
		const struct index_victim *victim, const struct disk_want *want)
{
	struct disk_chunk *chunk = &object->chunks[victim->number];
	LOCK_SCOPE(&object->lock);
	struct victim_facts facts = {
			.listed_use = victim->last_use,
			.last_use = later(atomic_load(&chunk->last_use),
					atomic_load(&object->opened)),
			.pinned = chunk->pins > 0,
			/* A write queues its row before it unpins. */
			.unmerged = disk_pending_has(object, victim->number),
			.last_resort = want->last_resort,
			.wanted = is_wanted(want, object, victim->number),
	};
	if (victim_judge(&facts) != VICTIM_TAKE) {
		return false;
	}
	chunk->evicting = true;
	atomic_store(&chunk->present, 0);
	atomic_store(&chunk->checked, 0);
	return true;
}

static void settle_chunk(struct disk_object *object, uint32_t number,
		const struct index_object *row)
{
	LOCK_SCOPE(&object->lock);
	object->row = *row;
	object->chunks[number].evicting = false;
}

/* What goes beside the chunk. */
enum extent {
	EXTENT_CHUNK, /* Nothing: an open file is never unlinked. */
	EXTENT_LAST,  /* The file, if that was its last chunk. */
	EXTENT_FILE,  /* All of the file. */
};

/* One transaction: the row goes, the generation is raised, the space becomes
 * this holder's, and the name is kept until the bytes are gone too. */
struct clearing {
	const struct index_victim *victim;
	enum extent extent;
	bool last_resort;
	bool is_written; /* By this process: its name stays for that. */
	/* Set when it has succeeded: */
	struct index_object row;
	bool file_goes;
	uint64_t freed_bytes;
};

static int clear_rows(struct index *index, struct clearing *clearing)
{
	struct index_object *row = &clearing->row;
	bool has_chunks = true;
	int error = index_clear_chunk(index, row, clearing->victim->number,
			&clearing->freed_bytes);
	if (error == 0) {
		error = index_has_chunks(index, row->id, &has_chunks);
	}
	if (error != 0) {
		return error;
	}
	clearing->file_goes = clearing->extent == EXTENT_FILE ||
			      (clearing->extent == EXTENT_LAST && !has_chunks);
	if (!clearing->file_goes) {
		return index_raise_generation(index, row);
	}
	uint64_t rest = 0;
	error = index_remove_object(index, row, &rest);
	clearing->freed_bytes += rest;
	return error;
}

static int clear_and_take(struct disk_tier *tier, struct clearing *clearing)
{
	struct index *index = tier->writer;
	const struct index_victim *victim = clearing->victim;
	uint64_t last_use = 0;
	int error = index_find_name(index, victim->name, &clearing->row);
	if (error == 0) {
		error = index_last_use(index, clearing->row.id, victim->number,
				&last_use);
	}
	if (error != 0) {
		return error;
	}
	if (clearing->row.id != victim->object.id ||
			(last_use > victim->last_use &&
					!clearing->last_resort)) {
		return -EAGAIN; /* Not the chunk that was listed. */
	}
	error = clear_rows(index, clearing);
	if (error == 0) {
		error = index_add_writing(index, tier->holder, victim->name);
	}
	if (error == 0) {
		error = index_add_granted(index, tier->holder,
				(int64_t)clearing->freed_bytes);
	}
	return error;
}

static int clear_in_transaction(
		struct disk_tier *tier, struct clearing *clearing)
{
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error == -EBUSY ? -ETIMEDOUT : error;
	}
	error = clear_and_take(tier, clearing);
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
		disk_tier_judge_index(tier, error);
	}
	return error;
}

static int punch_chunk(struct disk_tier *tier, int fd,
		const struct index_victim *victim)
{
	int error = data_file_punch(fd,
			(uint64_t)victim->number * INDEX_CHUNK_BYTES,
			INDEX_CHUNK_BYTES);
	tier->no_holes = tier->no_holes || error == -EOPNOTSUPP;
	return error;
}

/* Nothing is lost in that file. Or it stays: who settles this holder looks
 * once more. */
static void forget_name(struct disk_tier *tier, const uint8_t *name)
{
	if (index_begin(tier->writer) != 0) {
		return;
	}
	int error = index_remove_writing(tier->writer, tier->holder, name);
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
	}
}

static bool is_named(struct disk_object *object)
{
	LOCK_SCOPE(&object->lock);
	return object->named;
}

/* The bytes are gone, so the space may be used; else it stays lost until
 * someone compares file and index. */
static void take_space(
		struct disk_tier *tier, int error, const struct clearing *done)
{
	counters_add(&tier->counters->cache_evictions, 1);
	if (error != 0) {
		tier->leaked = true;
		return;
	}
	atomic_fetch_add(&tier->remaining, done->freed_bytes);
	if (!done->is_written && !tier->leaked) {
		forget_name(tier, done->victim->name);
	}
}

static int evict_open(struct disk_tier *tier, const struct index_victim *victim,
		const struct disk_want *want, struct disk_hold *hold)
{
	struct disk_object *object = hold->object;
	if (want->whole_file || tier->no_holes ||
			victim->number >= object->chunk_count ||
			!reserve_chunk(object, victim, want)) {
		return -EAGAIN;
	}
	struct index_object known = disk_object_row(object);
	struct clearing clearing = {
			.victim = victim,
			.extent = EXTENT_CHUNK,
			.last_resort = want->last_resort,
			.is_written = is_named(object),
	};
	int error = clear_in_transaction(tier, &clearing);
	if (error == 0) {
		take_space(tier, punch_chunk(tier, hold->fd, victim),
				&clearing);
	}
	settle_chunk(object, victim->number,
			error == 0 ? &clearing.row : &known);
	return error;
}

static int evict_closed(struct disk_tier *tier,
		const struct index_victim *victim, const struct disk_want *want,
		const struct disk_hold *hold)
{
	bool whole = want->whole_file || tier->no_holes;
	struct clearing clearing = {
			.victim = victim,
			.extent = whole ? EXTENT_FILE : EXTENT_LAST,
			.last_resort = want->last_resort,
	};
	int error = clear_in_transaction(tier, &clearing);
	if (error != 0) {
		return error;
	}
	int freeing = clearing.file_goes
				      ? data_file_unlink(tier->dir.objects_fd,
							victim->name)
				      : punch_chunk(tier, hold->fd, victim);
	take_space(tier, freeing, &clearing);
	return 0;
}

static int evict_victim(struct disk_tier *tier,
		const struct index_victim *victim, const struct disk_want *want)
{
	struct victim_admission admission = {
			.now = atomic_load(&tier->clock),
			.victim_use = victim->last_use,
	};
	if (!victim_admits(&admission)) {
		return -EAGAIN;
	}
	struct disk_hold hold;
	int error = disk_hold_take(
			tier, victim->name, victim->object.size, &hold);
	if (error == -ENOENT || error == -ESTALE) {
		disk_evict_forget(tier, victim->name);
		return -EAGAIN;
	}
	if (error != 0) {
		return -EBUSY; /* Someone has it, or it cannot be opened. */
	}
	error = hold.object != NULL ? evict_open(tier, victim, want, &hold)
				    : evict_closed(tier, victim, want, &hold);
	disk_hold_release(&hold);
	return error;
}

/* A new list of the oldest chunks; -ENOENT when it is of no use. */
static int list_victims(struct disk_tier *tier, size_t capacity)
{
	if (capacity > tier->victim_capacity) {
		struct index_victim *larger = reallocarray(
				tier->victims, capacity, sizeof(*larger));
		if (larger == NULL) {
			return -ENOMEM;
		}
		tier->victims = larger;
		tier->victim_capacity = capacity;
	}
	/* Rows and times that wait would make chunks look busy, and objects
	 * that were just closed files. */
	(void)disk_merge_all(tier);
	disk_merge_retire(tier);
	size_t count = 0;
	int error = index_oldest(tier->writer, tier->victims, capacity, &count);
	if (error != 0) {
		disk_tier_judge_index(tier, error);
		return error;
	}
	tier->victim_count = count;
	tier->victim_next = 0;
	return 0;
}

/* Goes through the list. The chunks of one file lie side by side in it and
 * mostly share its fate. */
static int evict_from_list(struct disk_tier *tier, const struct disk_want *want)
{
	int64_t busy_id = 0;
	while (tier->victim_next < tier->victim_count) {
		const struct index_victim *victim =
				&tier->victims[tier->victim_next++];
		if (victim->object.id == busy_id) {
			continue;
		}
		int error = evict_victim(tier, victim, want);
		if (error == -EBUSY) {
			busy_id = victim->object.id;
		} else if (error != -EAGAIN && error != -ENOENT) {
			return error;
		}
	}
	return -ENOENT;
}

int disk_evict_one(struct disk_tier *tier, const struct disk_want *want)
{
	int error = evict_from_list(tier, want);
	/* A list full of chunks that others use says nothing of the rest. */
	for (size_t capacity = LIST_LEAST;
			error == -ENOENT && capacity <= LIST_MOST;
			capacity *= 8) {
		error = list_victims(tier, capacity);
		if (error == 0) {
			bool is_all = tier->victim_count < capacity;
			error = evict_from_list(tier, want);
			if (is_all) {
				break;
			}
		}
	}
	if (error == -ENOENT) {
		/* Reads that go on make everything look used since. */
		struct disk_want pressed = *want;
		pressed.last_resort = true;
		tier->victim_next = 0;
		error = evict_from_list(tier, &pressed);
	}
	return error;
}
