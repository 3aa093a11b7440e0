#include <errno.h>
#include <string.h>

#include "base/block_pool.h"
#include "cache/index_private.h"
#include "cache/index_sql_private.h"

#define DISK_UNIT 4096u

uint64_t index_chunk_bytes(uint64_t mask, uint32_t number, uint64_t size)
{
	uint64_t bytes = (uint64_t)__builtin_popcountll(mask) * BLOCK_SIZE;
	uint64_t last = (size - 1) / BLOCK_SIZE;
	uint64_t tail = size % BLOCK_SIZE;
	bool has_last = size > 0 && last / INDEX_CHUNK_BLOCKS == number &&
			(mask >> (last % INDEX_CHUNK_BLOCKS) & 1) != 0;
	if (has_last && tail != 0) {
		bytes -= BLOCK_SIZE -
			 (tail + DISK_UNIT - 1) / DISK_UNIT * DISK_UNIT;
	}
	return bytes;
}

static void read_masks(sqlite3_stmt *row, int first, struct index_chunk *chunk)
{
	chunk->present = (uint64_t)sqlite3_column_int64(row, first);
	chunk->allocated = (uint64_t)sqlite3_column_int64(row, first + 1);
	chunk->last_use = (uint64_t)sqlite3_column_int64(row, first + 2);
	chunk->present &= chunk->allocated; /* A row may be damaged. */
}

int index_each_chunk(struct index *index, int64_t id, index_chunk_fn fn,
		void *context)
{
	sqlite3_stmt *rows = index_start(index, INDEX_SQL_CHUNKS);
	(void)sqlite3_bind_int64(rows, 1, index_slot(id, 0));
	(void)sqlite3_bind_int64(rows, 2, index_slot(id, INDEX_MAX_CHUNKS - 1));
	int error;
	while ((error = index_row(rows)) == 0) {
		struct index_chunk chunk = {
				.number = (uint32_t)(sqlite3_column_int64(
								     rows, 0) &
						     (INDEX_MAX_CHUNKS - 1)),
		};
		read_masks(rows, 1, &chunk);
		fn(context, &chunk);
	}
	index_finish(rows);
	return error == -ENOENT ? 0 : error;
}

int index_has_chunks(struct index *index, int64_t id, bool *out_has)
{
	sqlite3_stmt *row = index_start(index, INDEX_SQL_HAS_CHUNKS);
	(void)sqlite3_bind_int64(row, 1, index_slot(id, 0));
	(void)sqlite3_bind_int64(row, 2, index_slot(id, INDEX_MAX_CHUNKS - 1));
	int error = index_row(row);
	if (error == 0) {
		*out_has = sqlite3_column_int(row, 0) != 0;
	}
	index_finish(row);
	return error;
}

int index_get_chunk(struct index *index, int64_t id, uint32_t number,
		struct index_chunk *out_chunk,
		uint32_t out_sums[INDEX_CHUNK_BLOCKS])
{
	sqlite3_stmt *row = index_start(index, INDEX_SQL_GET_CHUNK);
	(void)sqlite3_bind_int64(row, 1, index_slot(id, number));
	int error = index_row(row);
	if (error == 0) {
		out_chunk->number = number;
		read_masks(row, 0, out_chunk);
	}
	if (error == 0 && out_sums != NULL) {
		size_t room = INDEX_CHUNK_BLOCKS * sizeof(uint32_t);
		size_t have = (size_t)sqlite3_column_bytes(row, 3);
		memset(out_sums, 0, room);
		if (have > 0) {
			memcpy(out_sums, sqlite3_column_blob(row, 3),
					have < room ? have : room);
		}
	}
	index_finish(row);
	return error;
}

static int put_chunk(struct index *index, int64_t id,
		const struct index_chunk *chunk, const uint32_t *sums)
{
	/* Sums end with the last block that has one: small objects need few. */
	int count = chunk->allocated == 0
				    ? 0
				    : 64 - __builtin_clzll(chunk->allocated);
	sqlite3_stmt *put = index_start(index, INDEX_SQL_PUT_CHUNK);
	(void)sqlite3_bind_int64(put, 1, index_slot(id, chunk->number));
	(void)sqlite3_bind_int64(put, 2, (sqlite3_int64)chunk->present);
	(void)sqlite3_bind_int64(put, 3, (sqlite3_int64)chunk->allocated);
	(void)sqlite3_bind_int64(put, 4, (sqlite3_int64)chunk->last_use);
	(void)sqlite3_bind_blob(put, 5, sums, count * (int)sizeof(*sums),
			SQLITE_STATIC);
	return index_run(put);
}

static int touch_chunk(struct index *index, int64_t id, uint32_t number,
		uint64_t last_use)
{
	sqlite3_stmt *touch = index_start(index, INDEX_SQL_TOUCH_CHUNK);
	(void)sqlite3_bind_int64(touch, 1, index_slot(id, number));
	(void)sqlite3_bind_int64(touch, 2, (sqlite3_int64)last_use);
	return index_run(touch);
}

int index_merge_chunk(struct index *index, const struct index_object *object,
		const struct index_merge *merge)
{
	if (merge->set == 0 && merge->drop == 0) {
		return touch_chunk(index, object->id, merge->number,
				merge->last_use);
	}
	struct index_chunk old = {.number = merge->number};
	uint32_t sums[INDEX_CHUNK_BLOCKS] = {0};
	int error = index_get_chunk(
			index, object->id, merge->number, &old, sums);
	if (error == -ENOENT && merge->set == 0) {
		return 0;
	}
	if (error != 0 && error != -ENOENT) {
		return error;
	}
	for (unsigned i = 0; i < INDEX_CHUNK_BLOCKS; i++) {
		if (merge->set >> i & 1) {
			sums[i] = merge->sums[i];
		}
	}
	struct index_chunk new = {
			.number = merge->number,
			.present = (old.present & ~merge->drop) | merge->set,
			.allocated = old.allocated | merge->set,
			.last_use = merge->last_use > old.last_use
						    ? merge->last_use
						    : old.last_use,
	};
	error = put_chunk(index, object->id, &new, sums);
	if (error == 0) {
		uint64_t added = new.allocated & ~old.allocated;
		index->block_delta += (int64_t)index_chunk_bytes(
				added, new.number, object->size);
	}
	return error;
}

int index_limit_chunk(struct index *index, const struct index_object *object,
		const struct index_chunk *chunk)
{
	struct index_chunk old;
	int error = index_get_chunk(
			index, object->id, chunk->number, &old, NULL);
	if (error == -ENOENT) {
		return 0;
	}
	if (error != 0) {
		return error;
	}
	if (chunk->allocated == 0) {
		uint64_t freed;
		return index_clear_chunk(index, object, chunk->number, &freed);
	}
	sqlite3_stmt *limit = index_start(index, INDEX_SQL_LIMIT_CHUNK);
	(void)sqlite3_bind_int64(
			limit, 1, index_slot(object->id, chunk->number));
	(void)sqlite3_bind_int64(limit, 2, (sqlite3_int64)chunk->present);
	(void)sqlite3_bind_int64(limit, 3, (sqlite3_int64)chunk->allocated);
	error = index_run(limit);
	if (error == 0) {
		index->block_delta +=
				(int64_t)index_chunk_bytes(chunk->allocated,
						chunk->number, object->size) -
				(int64_t)index_chunk_bytes(old.allocated,
						chunk->number, object->size);
	}
	return error;
}

int index_clear_chunk(struct index *index, const struct index_object *object,
		uint32_t number, uint64_t *out_freed)
{
	struct index_chunk old;
	int error = index_get_chunk(index, object->id, number, &old, NULL);
	if (error == -ENOENT) {
		*out_freed = 0;
		return 0;
	}
	if (error != 0) {
		return error;
	}
	sqlite3_stmt *clear = index_start(index, INDEX_SQL_DELETE_CHUNK);
	(void)sqlite3_bind_int64(clear, 1, index_slot(object->id, number));
	error = index_run(clear);
	if (error == 0) {
		*out_freed = index_chunk_bytes(
				old.allocated, number, object->size);
		index->block_delta -= (int64_t)*out_freed;
	}
	return error;
}

int index_oldest(struct index *index, struct index_victim *victims,
		size_t capacity, size_t *out_count)
{
	sqlite3_stmt *rows = index_start(index, INDEX_SQL_OLDEST);
	(void)sqlite3_bind_int64(rows, 1, (sqlite3_int64)capacity);
	size_t count = 0;
	int error = 0;
	while (count < capacity && (error = index_row(rows)) == 0) {
		if (sqlite3_column_bytes(rows, 3) != INDEX_NAME_SIZE) {
			error = -EUCLEAN;
			break;
		}
		struct index_victim *victim = &victims[count++];
		victim->object = (struct index_object){
				.id = sqlite3_column_int64(rows, 0),
				.generation = sqlite3_column_int64(rows, 1),
				.size = (uint64_t)sqlite3_column_int64(rows, 2),
		};
		memcpy(victim->name, sqlite3_column_blob(rows, 3),
				INDEX_NAME_SIZE);
		victim->number = (uint32_t)(sqlite3_column_int64(rows, 4) &
					    (INDEX_MAX_CHUNKS - 1));
		victim->last_use = (uint64_t)sqlite3_column_int64(rows, 5);
	}
	index_finish(rows);
	if (error != 0 && error != -ENOENT) {
		return error;
	}
	*out_count = count;
	return 0;
}

int index_last_use(struct index *index, int64_t id, uint32_t number,
		uint64_t *out_last_use)
{
	sqlite3_stmt *row = index_start(index, INDEX_SQL_LAST_USE);
	(void)sqlite3_bind_int64(row, 1, index_slot(id, number));
	int error = index_row(row);
	if (error == 0) {
		*out_last_use = (uint64_t)sqlite3_column_int64(row, 0);
	}
	index_finish(row);
	return error;
}
