#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/index_private.h"
#include "cache/index_sql_private.h"

#define LISTING_ROOM_PARTS 8u

static void bind_place(
		sqlite3_stmt *statement, const char *source, const char *prefix)
{
	(void)sqlite3_bind_text(statement, 1, source, -1, SQLITE_STATIC);
	/* Keys are bytes, not text. */
	(void)sqlite3_bind_blob64(
			statement, 2, prefix, strlen(prefix), SQLITE_STATIC);
}

int index_get_listing(struct index *index, const char *source,
		const char *prefix, void **out_blob, size_t *out_length,
		uint64_t *out_taken_ms)
{
	sqlite3_stmt *row = index_start(index, INDEX_SQL_GET_LISTING);
	bind_place(row, source, prefix);
	int error = index_row(row);
	if (error != 0) {
		index_finish(row);
		return error;
	}
	const void *blob = sqlite3_column_blob(row, 1);
	size_t length = (size_t)sqlite3_column_bytes(row, 1);
	void *copy = malloc(length + 1);
	if (copy == NULL) {
		error = -ENOMEM;
	} else {
		if (length > 0) {
			memcpy(copy, blob, length);
		}
		*out_blob = copy;
		*out_length = length;
		*out_taken_ms = (uint64_t)sqlite3_column_int64(row, 0);
	}
	index_finish(row);
	return error;
}

static int total_bytes(struct index *index, uint64_t *out_total)
{
	sqlite3_stmt *sum = index_start(index, INDEX_SQL_LISTING_BYTES);
	int error = index_row(sum);
	if (error == 0) {
		*out_total = (uint64_t)sqlite3_column_int64(sum, 0);
	}
	index_finish(sum);
	return error;
}

/* The time of the last that has to go for the oldest to make up `bytes`. */
static int find_cutoff(
		struct index *index, uint64_t bytes, int64_t *out_taken_ms)
{
	sqlite3_stmt *rows = index_start(index, INDEX_SQL_OLDEST_LISTINGS);
	uint64_t found = 0;
	int error = 0;
	while (found < bytes && (error = index_row(rows)) == 0) {
		*out_taken_ms = sqlite3_column_int64(rows, 0);
		found += (uint64_t)sqlite3_column_int64(rows, 1);
	}
	index_finish(rows);
	return error == -ENOENT ? 0 : error;
}

static int trim(struct index *index, uint64_t most)
{
	uint64_t total = 0;
	int error = total_bytes(index, &total);
	if (error != 0 || total <= most) {
		return error;
	}
	int64_t cutoff = INT64_MIN;
	error = find_cutoff(index, total - most, &cutoff);
	if (error != 0) {
		return error;
	}
	sqlite3_stmt *remove = index_start(index, INDEX_SQL_TRIM_LISTINGS);
	(void)sqlite3_bind_int64(remove, 1, cutoff);
	return index_run(remove);
}

/* To know what all of them take, all are looked at: so room is made for many
 * at once. */
static int make_room(struct index *index, uint64_t length, uint64_t max_total)
{
	if (length <= index->listing_room) {
		index->listing_room -= length;
		return 0;
	}
	uint64_t room = max_total / LISTING_ROOM_PARTS;
	room = room > length ? room : length;
	int error = trim(index, max_total - room);
	index->listing_room = error == 0 ? room - length : 0;
	return error;
}

int index_put_listing(struct index *index, const char *source,
		const char *prefix, const void *blob, size_t length,
		uint64_t taken_ms, uint64_t max_total)
{
	if (length > max_total) {
		return index_remove_listing(index, source, prefix);
	}
	int error = make_room(index, length, max_total);
	if (error != 0) {
		return error;
	}
	sqlite3_stmt *put = index_start(index, INDEX_SQL_PUT_LISTING);
	bind_place(put, source, prefix);
	(void)sqlite3_bind_int64(put, 3, (sqlite3_int64)taken_ms);
	(void)sqlite3_bind_int64(put, 4, (sqlite3_int64)length);
	(void)sqlite3_bind_blob64(
			put, 5, length == 0 ? "" : blob, length, SQLITE_STATIC);
	return index_run(put);
}

int index_remove_listing(
		struct index *index, const char *source, const char *prefix)
{
	sqlite3_stmt *remove = index_start(index, INDEX_SQL_DELETE_LISTING);
	bind_place(remove, source, prefix);
	return index_run(remove);
}
