#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/index_private.h"
#include "cache/index_sql_private.h"

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

static int trim(struct index *index, uint64_t max_total)
{
	for (;;) {
		sqlite3_stmt *sum = index_start(index, INDEX_SQL_LISTING_BYTES);
		int error = index_row(sum);
		uint64_t total = 0;
		if (error == 0) {
			total = (uint64_t)sqlite3_column_int64(sum, 0);
		}
		index_finish(sum);
		if (error != 0 || total <= max_total) {
			return error;
		}
		error = index_run(index_start(index, INDEX_SQL_OLDEST_LISTING));
		if (error != 0) {
			return error;
		}
	}
}

int index_put_listing(struct index *index, const char *source,
		const char *prefix, const void *blob, size_t length,
		uint64_t taken_ms, uint64_t max_total)
{
	if (length > max_total) {
		return index_remove_listing(index, source, prefix);
	}
	int error = trim(index, max_total - length);
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
