#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cache/disk_private.h"

/*
 * Space. A grant is committed to the index, under this process's name and
 * with the names of the files it is for, before a byte is written. What a
 * write uses moves from `remaining` to the queued row, and with the row's
 * merge from the grant to the row.
 */

/* Chunks or files freed for one write, at most: beyond that the disk is being
 * filled by someone else, and this write is not worth more. */
#define EVICT_MAX 128
/* How often holders are looked at that may have died, while space is short. */
#define SETTLE_MS 10000

struct grant_task {
	struct disk_task task;
	struct disk_object *object;
	struct disk_want want;
	uint64_t bytes;
	int result;
};

static int read_totals(struct disk_tier *tier, struct index_totals *out_totals)
{
	int error = index_get_totals(tier->writer, out_totals);
	if (error == 0) {
		out_totals->log_bytes = disk_dir_log_bytes(&tier->dir);
		atomic_store(&tier->limit_bytes, out_totals->limit_bytes);
		atomic_store(&tier->used_bytes, space_used_bytes(out_totals));
	}
	return error;
}

void disk_grant_refresh(struct disk_tier *tier)
{
	struct index_totals totals;
	(void)read_totals(tier, &totals); /* Then the figures stay old. */
}

/* Changes this holder's grant in the index. */
static int change_grant(struct disk_tier *tier, int64_t bytes)
{
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error;
	}
	error = index_add_granted(tier->writer, tier->holder, bytes);
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
	}
	return error;
}

int disk_grant_return(struct disk_tier *tier, uint64_t keep_bytes)
{
	uint64_t remaining = atomic_load(&tier->remaining);
	while (remaining > keep_bytes) {
		/* First here, so that no writer takes what is given back. */
		if (atomic_compare_exchange_weak(
				    &tier->remaining, &remaining, keep_bytes)) {
			break;
		}
	}
	if (remaining <= keep_bytes) {
		return 0;
	}
	int error = change_grant(
			tier, (int64_t)keep_bytes - (int64_t)remaining);
	if (error != 0) {
		atomic_fetch_add(&tier->remaining, remaining - keep_bytes);
	}
	return error;
}

/* The object's row and its name in this holder's list. */
static int add_row(struct disk_tier *tier, struct disk_object *object,
		struct index_object *out_row)
{
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error;
	}
	error = index_add_object(tier->writer, &object->identity, out_row);
	if (error == 0) {
		error = index_add_writing(tier->writer, tier->holder,
				object->identity.name);
	}
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
	}
	return error;
}

static int prepare_object(struct disk_tier *tier, struct disk_object *object)
{
	struct index_object row = disk_object_row(object);
	if (object->named && row.id != 0) {
		return 0;
	}
	struct index_object known = row;
	int error = add_row(tier, object, &row);
	if (error != 0) {
		return error;
	}
	if (row.id != known.id || row.generation != known.generation) {
		/* What was known is of a row that is gone. */
		disk_object_clear(object);
	}
	LOCK_SCOPE(&object->lock);
	object->row = row;
	object->named = true;
	return 0;
}

/* How much to take when `need` is the least; 0 when there is no room. */
static uint64_t choose_grant(const struct index_totals *totals, uint64_t need,
		uint64_t above_floor)
{
	uint64_t room = space_free_bytes(totals);
	if (room < need) {
		return 0;
	}
	uint64_t take = space_grant_bytes(totals->limit_bytes);
	take = take < room ? take : room;
	take = take < above_floor ? take : above_floor;
	return take > need ? take : need;
}

/* The room is looked at in the transaction that takes it: other processes take
 * from the same. */
static int take_grant(struct disk_tier *tier, uint64_t need,
		uint64_t above_floor, uint64_t *out_taken)
{
	struct index_totals totals;
	uint64_t take = 0;
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error;
	}
	error = read_totals(tier, &totals);
	if (error == 0) {
		take = choose_grant(&totals, need, above_floor);
		error = take == 0 ? -ENOSPC
				  : index_add_granted(tier->writer,
						    tier->holder,
						    (int64_t)take);
	}
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
		return error;
	}
	*out_taken = take;
	return 0;
}

/* Whether the write may be paid for now; takes a new grant when there is
 * room. -ENOSPC: something has to go first. */
static int try_grant(struct disk_tier *tier, uint64_t bytes)
{
	struct space_disk disk;
	int error = space_look(tier->dir.fd, &disk);
	if (error != 0) {
		return error;
	}
	uint64_t above = space_above_floor(&disk, &tier->floor);
	uint64_t remaining = atomic_load(&tier->remaining);
	if (above < bytes) {
		return -ENOSPC;
	}
	if (remaining >= bytes) {
		return 0;
	}
	uint64_t taken = 0;
	error = take_grant(tier, bytes - remaining, above, &taken);
	if (error == 0) {
		atomic_fetch_add(&tier->remaining, taken);
	}
	return error;
}

static int take_space(struct disk_tier *tier, const struct grant_task *grant)
{
	int error = try_grant(tier, grant->bytes);
	uint64_t now_ms = clock_monotonic_ms();
	if (error == -ENOSPC && now_ms >= tier->next_settle_ms) {
		tier->next_settle_ms = now_ms + SETTLE_MS;
		(void)disk_reconcile_holders(tier); /* Eviction helps too. */
		error = try_grant(tier, grant->bytes);
	}
	for (int i = 0; error == -ENOSPC && i < EVICT_MAX; i++) {
		error = disk_evict_one(tier, &grant->want);
		if (error == -ENOENT) {
			return -EDQUOT; /* All of it is in use. */
		}
		if (error == 0) {
			error = try_grant(tier, grant->bytes);
		}
	}
	if (error != 0) {
		return error;
	}
	uint64_t most = 2 * space_grant_bytes(atomic_load(&tier->limit_bytes));
	if (most < grant->bytes) {
		most = grant->bytes;
	}
	(void)disk_grant_return(tier, most); /* Or with the next one. */
	return 0;
}

/* A file system out of files is helped by removing whole files only. */
static int make_room_for_file(
		struct disk_tier *tier, const struct grant_task *grant)
{
	struct disk_want want = grant->want;
	want.whole_file = true;
	for (int i = 0; i < EVICT_MAX; i++) {
		struct space_disk disk;
		int error = space_look(tier->dir.fd, &disk);
		if (error != 0 || space_has_files(&disk, &tier->floor)) {
			return error;
		}
		error = disk_evict_one(tier, &want);
		if (error != 0) {
			return error == -ENOENT ? -EDQUOT : error;
		}
	}
	return -ENOSPC;
}

static void run_grant(struct disk_tier *tier, struct disk_task *task)
{
	struct grant_task *grant = (struct grant_task *)task;
	int error = 0;
	if (disk_object_row(grant->object).id == 0) {
		error = make_room_for_file(tier, grant);
	}
	if (error == 0) {
		error = prepare_object(tier, grant->object);
	}
	if (error == 0) {
		error = take_space(tier, grant);
	}
	disk_tier_judge_index(tier, error);
	grant->result = error;
}

/* Takes from what was granted before, if the file is named already. */
static bool take_remaining(struct disk_object *object, uint64_t bytes)
{
	struct disk_tier *tier = object->tier;
	{
		LOCK_SCOPE(&object->lock);
		if (!object->named || object->row.id == 0) {
			return false;
		}
	}
	uint64_t remaining = atomic_load(&tier->remaining);
	while (remaining >= bytes) {
		if (atomic_compare_exchange_weak(&tier->remaining, &remaining,
				    remaining - bytes)) {
			return true;
		}
	}
	return false;
}

int disk_grant_take(struct disk_object *object, uint64_t first, size_t count,
		uint64_t bytes)
{
	while (!take_remaining(object, bytes)) {
		struct grant_task grant = {
				.task.run = run_grant,
				.object = object,
				.want = {.object = object,
						.first = first,
						.count = count},
				.bytes = bytes,
		};
		disk_thread_call(object->tier, &grant.task);
		if (grant.result != 0) {
			return grant.result;
		}
	}
	return 0;
}

static void run_recover(struct disk_tier *tier, struct disk_task *task)
{
	struct grant_task *recover = (struct grant_task *)task;
	struct disk_object *object = recover->object;
	int error = disk_merge_all(tier);
	if (error == 0 && atomic_load(&object->unmerged) == 0) {
		error = disk_reconcile_object(tier, object->identity.name);
	} else {
		error = -EBUSY;
	}
	if (error == 0) {
		atomic_fetch_add(&tier->remaining, recover->bytes);
	} else {
		tier->leaked = true;
	}
}

void disk_grant_recover(struct disk_object *object, uint64_t bytes)
{
	struct grant_task recover = {
			.task.run = run_recover,
			.object = object,
			.bytes = bytes,
	};
	disk_thread_call(object->tier, &recover.task);
}

static bool is_over_limit(const struct index_totals *totals)
{
	return space_used_bytes(totals) >
	       totals->limit_bytes - totals->limit_bytes / 100;
}

int disk_grant_enforce(struct disk_tier *tier)
{
	struct disk_want want = {.object = NULL};
	struct index_totals totals;
	int error = read_totals(tier, &totals);
	if (error != 0 || !is_over_limit(&totals)) {
		return error;
	}
	while (error == 0 && is_over_limit(&totals)) {
		error = disk_evict_one(tier, &want);
		if (error == 0) {
			error = disk_grant_return(tier, 0);
		}
		if (error == 0) {
			error = read_totals(tier, &totals);
		}
	}
	/* The index itself may be what is too large; if that fails, the next
	 * writes meet the limit. */
	(void)index_shrink(tier->writer);
	return error;
}
