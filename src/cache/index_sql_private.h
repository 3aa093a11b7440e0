#ifndef CACHE_INDEX_SQL_PRIVATE_H
#define CACHE_INDEX_SQL_PRIVATE_H

#include <sqlite3.h>

#include "cache/index_private.h"

/* What the index_*.c files share: prepared statements by number. */
#define INDEX_STATEMENTS(X)                                                    \
	X(BEGIN, "BEGIN IMMEDIATE")                                            \
	X(COMMIT, "COMMIT")                                                    \
	X(ROLLBACK, "ROLLBACK")                                                \
	X(ADD_TOTALS, "UPDATE directory SET block_bytes = block_bytes + ?1,"   \
		      " object_count = object_count + ?2")                     \
	X(FIND_OBJECT, "SELECT id, generation, size, source, key, version"     \
		       " FROM object WHERE name = ?1")                         \
	X(ADD_OBJECT, "INSERT INTO object (name, source, key, version, size,"  \
		      " generation, opened) VALUES (?1, ?2, ?3, ?4, ?5, 1,"    \
		      " (SELECT clock_bytes FROM directory))")                 \
	X(REMOVE_OBJECT, "DELETE FROM object WHERE id = ?1")                   \
	X(RAISE, "UPDATE object SET generation = generation + 1"               \
		 " WHERE id = ?1")                                             \
	X(TOUCH_OBJECT, "UPDATE object SET opened = max(opened, ?2)"           \
			" WHERE id = ?1")                                      \
	X(CHUNKS, "SELECT slot, present, allocated, last_use FROM chunk"       \
		  " WHERE slot BETWEEN ?1 AND ?2")                             \
	X(HAS_CHUNKS, "SELECT EXISTS (SELECT 1 FROM chunk"                     \
		      " WHERE slot BETWEEN ?1 AND ?2)")                        \
	X(GET_CHUNK, "SELECT present, allocated, last_use, sums FROM chunk"    \
		     " WHERE slot = ?1")                                       \
	X(PUT_CHUNK, "INSERT INTO chunk (slot, present, allocated, last_use,"  \
		     " sums) VALUES (?1, ?2, ?3, ?4, ?5)"                      \
		     " ON CONFLICT (slot) DO UPDATE SET present = ?2,"         \
		     " allocated = ?3, last_use = ?4, sums = ?5")              \
	X(LIMIT_CHUNK, "UPDATE chunk SET present = ?2, allocated = ?3"         \
		       " WHERE slot = ?1")                                     \
	X(TOUCH_CHUNK, "UPDATE chunk SET last_use = max(last_use, ?2)"         \
		       " WHERE slot = ?1")                                     \
	X(DELETE_CHUNK, "DELETE FROM chunk WHERE slot = ?1")                   \
	X(DELETE_CHUNKS, "DELETE FROM chunk WHERE slot BETWEEN ?1 AND ?2")     \
	X(OLDEST, "SELECT o.id, o.generation, o.size, o.name, c.slot,"         \
		  " max(c.last_use, o.opened) AS used"                         \
		  " FROM chunk c JOIN object o ON o.id = c.slot >> 24"         \
		  " ORDER BY used, c.last_use LIMIT ?1")                       \
	X(LAST_USE, "SELECT max(c.last_use, o.opened) FROM chunk c"            \
		    " JOIN object o ON o.id = c.slot >> 24"                    \
		    " WHERE c.slot = ?1")                                      \
	X(TOTALS, "SELECT limit_bytes, clock_bytes, block_bytes,"              \
		  " object_count,"                                             \
		  " (SELECT coalesce(sum(granted), 0) FROM holder)"            \
		  " FROM directory")                                           \
	X(SET_LIMIT, "UPDATE directory SET limit_bytes = ?1")                  \
	X(ADVANCE, "UPDATE directory SET clock_bytes = clock_bytes + ?1"       \
		   " RETURNING clock_bytes")                                   \
	X(ADD_HOLDER, "INSERT INTO holder (name, granted) VALUES (?1, 0)")     \
	X(REMOVE_HOLDER, "DELETE FROM holder WHERE name = ?1")                 \
	X(REMOVE_NAMES, "DELETE FROM writing WHERE holder = ?1")               \
	X(ADD_GRANTED, "UPDATE holder SET granted = max(0, granted + ?2)"      \
		       " WHERE name = ?1")                                     \
	X(ADD_WRITING, "INSERT OR IGNORE INTO writing (holder, name)"          \
		       " VALUES (?1, ?2)")                                     \
	X(REMOVE_WRITING, "DELETE FROM writing WHERE holder = ?1"              \
			  " AND name = ?2")                                    \
	X(NEXT_HOLDER, "SELECT name FROM holder WHERE name > ?1"               \
		       " ORDER BY name LIMIT 1")                               \
	X(NEXT_WRITING, "SELECT name FROM writing WHERE holder = ?1"           \
			" AND name > ?2 ORDER BY name LIMIT 1")                \
	X(GET_LISTING, "SELECT taken_ms, blob FROM listing"                    \
		       " WHERE source = ?1 AND prefix = ?2")                   \
	X(PUT_LISTING, "INSERT OR REPLACE INTO listing"                        \
		       " (source, prefix, taken_ms, bytes, blob)"              \
		       " VALUES (?1, ?2, ?3, ?4, ?5)")                         \
	X(DELETE_LISTING, "DELETE FROM listing WHERE source = ?1"              \
			  " AND prefix = ?2")                                  \
	X(LISTING_BYTES, "SELECT coalesce(sum(bytes), 0) FROM listing")        \
	X(OLDEST_LISTINGS, "SELECT taken_ms, bytes FROM listing"               \
			   " ORDER BY taken_ms")                               \
	X(TRIM_LISTINGS, "DELETE FROM listing WHERE taken_ms <= ?1")           \
	X(PAGE_COUNT, "PRAGMA page_count")

enum index_statement {
#define INDEX_STATEMENT_NAME(name, sql) INDEX_SQL_##name,
	INDEX_STATEMENTS(INDEX_STATEMENT_NAME)
#undef INDEX_STATEMENT_NAME
			INDEX_SQL_COUNT
};

struct index {
	sqlite3 *database;
	sqlite3_stmt *statements[INDEX_SQL_COUNT];
	/* What the open transaction adds to the totals. */
	int64_t block_delta;
	int64_t object_delta;
	uint64_t listing_room; /* Bytes of listings until room is made. */
};

/* Maps a result of SQLite to a negative errno; OK, ROW and DONE are 0. */
int index_error(int result);

/* A prepared statement, ready to bind; NULL when it cannot be prepared.
 * index_finish() resets it: no read transaction stays open. */
sqlite3_stmt *index_start(struct index *index, enum index_statement which);
/* Runs to the end and resets. 0 or an error. */
int index_run(sqlite3_stmt *statement);
/* Steps to one row: 0, -ENOENT, or an error. */
int index_row(sqlite3_stmt *statement);
void index_finish(sqlite3_stmt *statement);

int index_run_text(struct index *index, const char *sql);

/* Rowids of chunks: an object's chunks lie together, in order. */
static inline int64_t index_slot(int64_t id, uint32_t number)
{
	return (int64_t)((uint64_t)id << 24 | number);
}

#endif
