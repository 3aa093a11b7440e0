#include "cache/index_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/index_sql_private.h"

#define APPLICATION_ID 0x73686673 /* "shfs" */
#define SCHEMA_VERSION 1
#define PAGE_BYTES 4096
#define LOG_BYTES 262144

static const char *const statement_text[INDEX_SQL_COUNT] = {
#define INDEX_STATEMENT_TEXT(name, sql) [INDEX_SQL_##name] = sql,
		INDEX_STATEMENTS(INDEX_STATEMENT_TEXT)
#undef INDEX_STATEMENT_TEXT
};

static const char schema[] =
		"CREATE TABLE directory (limit_bytes INTEGER NOT NULL,"
		" clock_bytes INTEGER NOT NULL, block_bytes INTEGER NOT NULL,"
		" object_count INTEGER NOT NULL);"
		"CREATE TABLE object (id INTEGER PRIMARY KEY AUTOINCREMENT,"
		" name BLOB NOT NULL UNIQUE, source TEXT NOT NULL,"
		" key BLOB NOT NULL, version TEXT NOT NULL,"
		" size INTEGER NOT NULL, generation INTEGER NOT NULL,"
		" opened INTEGER NOT NULL);"
		"CREATE TABLE chunk (slot INTEGER PRIMARY KEY,"
		" present INTEGER NOT NULL, allocated INTEGER NOT NULL,"
		" last_use INTEGER NOT NULL, sums BLOB NOT NULL);"
		"CREATE TABLE holder (name TEXT PRIMARY KEY,"
		" granted INTEGER NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE writing (holder TEXT NOT NULL,"
		" name BLOB NOT NULL, PRIMARY KEY (holder, name))"
		" WITHOUT ROWID;"
		"CREATE TABLE listing (source TEXT NOT NULL,"
		" prefix BLOB NOT NULL, taken_ms INTEGER NOT NULL,"
		" bytes INTEGER NOT NULL, blob BLOB NOT NULL,"
		" UNIQUE (source, prefix));";

int index_error(int result)
{
	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_SCHEMA:
	case SQLITE_CONSTRAINT:
		return -EUCLEAN;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

sqlite3_stmt *index_start(struct index *index, enum index_statement which)
{
	sqlite3_stmt **statement = &index->statements[which];
	if (*statement == NULL) {
		(void)sqlite3_prepare_v3(index->database, statement_text[which],
				-1, SQLITE_PREPARE_PERSISTENT, statement,
				NULL); /* NULL says it failed. */
	}
	return *statement;
}

void index_finish(sqlite3_stmt *statement)
{
	/* Reset repeats the step's error; the other is always SQLITE_OK. */
	(void)sqlite3_reset(statement);
	(void)sqlite3_clear_bindings(statement);
}

int index_run(sqlite3_stmt *statement)
{
	if (statement == NULL) {
		return -EIO;
	}
	int result;
	do {
		result = sqlite3_step(statement);
	} while (result == SQLITE_ROW);
	index_finish(statement);
	return index_error(result);
}

int index_row(sqlite3_stmt *statement)
{
	if (statement == NULL) {
		return -EIO;
	}
	int result = sqlite3_step(statement);
	return result == SQLITE_DONE ? -ENOENT : index_error(result);
}

int index_run_text(struct index *index, const char *sql)
{
	return index_error(
			sqlite3_exec(index->database, sql, NULL, NULL, NULL));
}

/* The one number that a pragma or a query gives. */
static int query_number(struct index *index, const char *sql, int64_t *out)
{
	sqlite3_stmt *statement = NULL;
	int result = sqlite3_prepare_v2(
			index->database, sql, -1, &statement, NULL);
	if (result != SQLITE_OK) {
		return index_error(result);
	}
	int error = index_row(statement);
	if (error == 0) {
		*out = sqlite3_column_int64(statement, 0);
	}
	(void)sqlite3_finalize(statement); /* Repeats the step's error. */
	return error;
}

static int connect_file(
		const char *path, unsigned busy_ms, struct index **out_index)
{
	struct index *index = calloc(1, sizeof(*index));
	if (index == NULL) {
		return -ENOMEM;
	}
	int result = sqlite3_open_v2(path, &index->database,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
					SQLITE_OPEN_NOFOLLOW,
			NULL);
	if (result == SQLITE_OK) {
		result = sqlite3_busy_timeout(index->database, (int)busy_ms);
	}
	if (result != SQLITE_OK) {
		index_close(index);
		return index_error(result);
	}
	*out_index = index;
	return 0;
}

int index_create(const char *path, uint64_t limit_bytes)
{
	struct index *index = NULL;
	int error = connect_file(path, 0, &index);
	if (error != 0) {
		return error;
	}
	char *sql = sqlite3_mprintf(
			"PRAGMA page_size = %d;"
			"PRAGMA auto_vacuum = INCREMENTAL;"
			"PRAGMA journal_mode = WAL;"
			"PRAGMA synchronous = NORMAL;"
			"BEGIN IMMEDIATE;"
			"PRAGMA application_id = %d;"
			"PRAGMA user_version = %d;"
			"%s"
			"INSERT INTO directory VALUES (%lld, 0, 0, 0);"
			"COMMIT;",
			PAGE_BYTES, APPLICATION_ID, SCHEMA_VERSION, schema,
			(long long)limit_bytes);
	error = sql == NULL ? -ENOMEM : index_run_text(index, sql);
	sqlite3_free(sql);
	index_close(index);
	return error;
}

/* Whether this is an index of this release, as far as one can tell without
 * reading all of it. */
static int check_trust(struct index *index)
{
	int64_t application = 0;
	int64_t version = 0;
	int64_t rows = 0;
	int error = query_number(index, "PRAGMA application_id", &application);
	if (error == 0) {
		error = query_number(index, "PRAGMA user_version", &version);
	}
	if (error != 0) {
		return error;
	}
	if (application != APPLICATION_ID || version != SCHEMA_VERSION) {
		return -EUCLEAN;
	}
	error = query_number(index, "SELECT count(*) FROM directory", &rows);
	if (error == 0 && rows != 1) {
		error = -EUCLEAN;
	}
	return error;
}

static int set_up(struct index *index, enum index_role role)
{
	char *sql = sqlite3_mprintf("PRAGMA journal_mode = WAL;"
				    "PRAGMA synchronous = NORMAL;"
				    "PRAGMA wal_autocheckpoint = %d;"
				    "PRAGMA journal_size_limit = %d;"
				    "PRAGMA temp_store = MEMORY;"
				    "PRAGMA query_only = %d;",
			LOG_BYTES / PAGE_BYTES, LOG_BYTES,
			role == INDEX_READER);
	int error = sql == NULL ? -ENOMEM : index_run_text(index, sql);
	sqlite3_free(sql);
	return error;
}

int index_open(const char *path, enum index_role role, unsigned busy_ms,
		struct index **out_index)
{
	struct index *index = NULL;
	int error = connect_file(path, busy_ms, &index);
	if (error != 0) {
		return error;
	}
	error = check_trust(index);
	if (error == 0) {
		error = set_up(index, role);
	}
	for (int i = 0; error == 0 && i < INDEX_SQL_COUNT; i++) {
		if (index_start(index, (enum index_statement)i) == NULL) {
			error = -EUCLEAN; /* Tables are missing. */
		}
	}
	if (error != 0) {
		index_close(index);
		return error == -ENOENT ? -EUCLEAN : error;
	}
	*out_index = index;
	return 0;
}

void index_close(struct index *index)
{
	if (index == NULL) {
		return;
	}
	for (int i = 0; i < INDEX_SQL_COUNT; i++) {
		(void)sqlite3_finalize(index->statements[i]); /* As above. */
	}
	(void)sqlite3_close(index->database); /* Nothing is left open. */
	free(index);
}

int index_begin(struct index *index)
{
	index->block_delta = 0;
	index->object_delta = 0;
	return index_run(index_start(index, INDEX_SQL_BEGIN));
}

int index_commit(struct index *index)
{
	if (index->block_delta != 0 || index->object_delta != 0) {
		sqlite3_stmt *add = index_start(index, INDEX_SQL_ADD_TOTALS);
		(void)sqlite3_bind_int64(add, 1, index->block_delta);
		(void)sqlite3_bind_int64(add, 2, index->object_delta);
		int error = index_run(add);
		if (error != 0) {
			return error;
		}
	}
	return index_run(index_start(index, INDEX_SQL_COMMIT));
}

void index_rollback(struct index *index)
{
	if (!sqlite3_get_autocommit(index->database)) {
		/* Fails only when SQLite has rolled back already. */
		(void)index_run(index_start(index, INDEX_SQL_ROLLBACK));
	}
}

int index_set_max_bytes(struct index *index, uint64_t bytes)
{
	char sql[64];
	(void)sqlite3_snprintf(sizeof(sql), sql, "PRAGMA max_page_count = %llu",
			(unsigned long long)(bytes / PAGE_BYTES));
	return index_run_text(index, sql);
}

int index_shrink(struct index *index)
{
	return index_run_text(index, "PRAGMA incremental_vacuum;"
				     "PRAGMA wal_checkpoint(TRUNCATE);");
}
