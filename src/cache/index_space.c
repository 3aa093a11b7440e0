#include <errno.h>
#include <string.h>

#include "cache/index_private.h"
#include "cache/index_sql_private.h"

#define PAGE_BYTES 4096

int index_get_totals(struct index *index, struct index_totals *out_totals)
{
	sqlite3_stmt *pages = index_start(index, INDEX_SQL_PAGE_COUNT);
	int error = index_row(pages);
	uint64_t page_count = 0;
	if (error == 0) {
		page_count = (uint64_t)sqlite3_column_int64(pages, 0);
	}
	index_finish(pages);
	if (error != 0) {
		return error;
	}
	sqlite3_stmt *row = index_start(index, INDEX_SQL_TOTALS);
	error = index_row(row);
	if (error == 0) {
		*out_totals = (struct index_totals){
				.limit_bytes = (uint64_t)sqlite3_column_int64(
						row, 0),
				.clock_bytes = (uint64_t)sqlite3_column_int64(
						row, 1),
				.block_bytes = (uint64_t)sqlite3_column_int64(
						row, 2),
				.object_count = (uint64_t)sqlite3_column_int64(
						row, 3),
				.granted_bytes = (uint64_t)sqlite3_column_int64(
						row, 4),
				.page_bytes = page_count * PAGE_BYTES,
		};
	}
	index_finish(row);
	return error == -ENOENT ? -EUCLEAN : error;
}

int index_set_limit(struct index *index, uint64_t limit_bytes)
{
	sqlite3_stmt *set = index_start(index, INDEX_SQL_SET_LIMIT);
	(void)sqlite3_bind_int64(set, 1, (sqlite3_int64)limit_bytes);
	return index_run(set);
}

int index_advance_clock(
		struct index *index, uint64_t bytes, uint64_t *out_clock)
{
	sqlite3_stmt *advance = index_start(index, INDEX_SQL_ADVANCE);
	(void)sqlite3_bind_int64(advance, 1, (sqlite3_int64)bytes);
	int error = index_row(advance);
	if (error == 0) {
		*out_clock = (uint64_t)sqlite3_column_int64(advance, 0);
	}
	index_finish(advance);
	return error;
}

static void bind_holder(sqlite3_stmt *statement, const char *holder)
{
	(void)sqlite3_bind_text(statement, 1, holder, -1, SQLITE_STATIC);
}

static void bind_name(sqlite3_stmt *statement, const uint8_t *name)
{
	(void)sqlite3_bind_blob(
			statement, 2, name, INDEX_NAME_SIZE, SQLITE_STATIC);
}

int index_add_holder(struct index *index, const char *holder)
{
	sqlite3_stmt *add = index_start(index, INDEX_SQL_ADD_HOLDER);
	bind_holder(add, holder);
	return index_run(add);
}

int index_remove_holder(struct index *index, const char *holder)
{
	sqlite3_stmt *names = index_start(index, INDEX_SQL_REMOVE_NAMES);
	bind_holder(names, holder);
	int error = index_run(names);
	if (error != 0) {
		return error;
	}
	sqlite3_stmt *remove = index_start(index, INDEX_SQL_REMOVE_HOLDER);
	bind_holder(remove, holder);
	return index_run(remove);
}

int index_add_granted(struct index *index, const char *holder, int64_t bytes)
{
	sqlite3_stmt *add = index_start(index, INDEX_SQL_ADD_GRANTED);
	bind_holder(add, holder);
	(void)sqlite3_bind_int64(add, 2, bytes);
	int error = index_run(add);
	if (error != 0) {
		return error;
	}
	return sqlite3_changes(index->database) == 1 ? 0 : -ENOENT;
}

int index_add_writing(
		struct index *index, const char *holder, const uint8_t *name)
{
	sqlite3_stmt *add = index_start(index, INDEX_SQL_ADD_WRITING);
	bind_holder(add, holder);
	bind_name(add, name);
	return index_run(add);
}

int index_remove_writing(
		struct index *index, const char *holder, const uint8_t *name)
{
	sqlite3_stmt *remove = index_start(index, INDEX_SQL_REMOVE_WRITING);
	bind_holder(remove, holder);
	bind_name(remove, name);
	return index_run(remove);
}

int index_next_holder(struct index *index, const char *after,
		char out_holder[INDEX_HOLDER_SIZE])
{
	sqlite3_stmt *next = index_start(index, INDEX_SQL_NEXT_HOLDER);
	bind_holder(next, after);
	int error = index_row(next);
	if (error == 0) {
		const char *name = (const char *)sqlite3_column_text(next, 0);
		int length = sqlite3_column_bytes(next, 0);
		if (name == NULL || length != INDEX_HOLDER_SIZE - 1) {
			error = -EUCLEAN;
		} else {
			memcpy(out_holder, name, INDEX_HOLDER_SIZE);
		}
	}
	index_finish(next);
	return error;
}

int index_next_writing(struct index *index, const char *holder,
		const uint8_t *after, uint8_t out_name[INDEX_NAME_SIZE])
{
	sqlite3_stmt *next = index_start(index, INDEX_SQL_NEXT_WRITING);
	bind_holder(next, holder);
	(void)sqlite3_bind_blob(next, 2,
			after == NULL ? (const void *)"" : after,
			after == NULL ? 0 : INDEX_NAME_SIZE, SQLITE_STATIC);
	int error = index_row(next);
	if (error == 0) {
		if (sqlite3_column_bytes(next, 0) != INDEX_NAME_SIZE) {
			error = -EUCLEAN;
		} else {
			memcpy(out_name, sqlite3_column_blob(next, 0),
					INDEX_NAME_SIZE);
		}
	}
	index_finish(next);
	return error;
}
