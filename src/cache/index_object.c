#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "cache/index_private.h"
#include "cache/index_sql_private.h"

#define IDENTITY_MAX_BYTES 65536

static void add_field(struct strbuf *text, const void *bytes, size_t length)
{
	uint8_t prefix[8];
	for (unsigned i = 0; i < sizeof(prefix); i++) {
		prefix[i] = (uint8_t)((uint64_t)length >> (8 * i));
	}
	(void)strbuf_add(text, prefix, sizeof(prefix)); /* `failed` tells. */
	(void)strbuf_add(text, bytes, length);
}

int index_identity_name(struct index_identity *identity)
{
	struct strbuf text;
	strbuf_init(&text, IDENTITY_MAX_BYTES);
	uint8_t size[8];
	for (unsigned i = 0; i < sizeof(size); i++) {
		size[i] = (uint8_t)(identity->size >> (8 * i));
	}
	add_field(&text, identity->source, strlen(identity->source));
	add_field(&text, identity->key, identity->key_length);
	add_field(&text, identity->version, strlen(identity->version));
	add_field(&text, size, sizeof(size));
	int error = text.failed ? -ENOMEM
				: digest_sha256(text.text, text.length,
						  identity->name);
	strbuf_finish(&text);
	return error;
}

static bool column_is(
		sqlite3_stmt *row, int column, const void *bytes, size_t length)
{
	const void *value = sqlite3_column_blob(row, column);
	size_t have = (size_t)sqlite3_column_bytes(row, column);
	return have == length &&
	       (length == 0 || memcmp(value, bytes, have) == 0);
}

static bool row_is(sqlite3_stmt *row, const struct index_identity *identity)
{
	return (uint64_t)sqlite3_column_int64(row, 2) == identity->size &&
	       column_is(row, 3, identity->source, strlen(identity->source)) &&
	       column_is(row, 4, identity->key, identity->key_length) &&
	       column_is(row, 5, identity->version, strlen(identity->version));
}

static int find_row(struct index *index, const uint8_t *name,
		const struct index_identity *identity,
		struct index_object *out_object)
{
	sqlite3_stmt *find = index_start(index, INDEX_SQL_FIND_OBJECT);
	(void)sqlite3_bind_blob(find, 1, name, INDEX_NAME_SIZE, SQLITE_STATIC);
	int error = index_row(find);
	if (error == 0 && identity != NULL && !row_is(find, identity)) {
		error = -EUCLEAN;
	}
	if (error == 0) {
		*out_object = (struct index_object){
				.id = sqlite3_column_int64(find, 0),
				.generation = sqlite3_column_int64(find, 1),
				.size = (uint64_t)sqlite3_column_int64(find, 2),
		};
	}
	index_finish(find);
	return error;
}

int index_find_object(struct index *index,
		const struct index_identity *identity,
		struct index_object *out_object)
{
	return find_row(index, identity->name, identity, out_object);
}

int index_find_name(struct index *index, const uint8_t *name,
		struct index_object *out_object)
{
	return find_row(index, name, NULL, out_object);
}

int index_add_object(struct index *index, const struct index_identity *identity,
		struct index_object *out_object)
{
	int error = index_find_object(index, identity, out_object);
	if (error != -ENOENT) {
		return error;
	}
	sqlite3_stmt *add = index_start(index, INDEX_SQL_ADD_OBJECT);
	(void)sqlite3_bind_blob(
			add, 1, identity->name, INDEX_NAME_SIZE, SQLITE_STATIC);
	(void)sqlite3_bind_text(add, 2, identity->source, -1, SQLITE_STATIC);
	(void)sqlite3_bind_blob64(add, 3, identity->key, identity->key_length,
			SQLITE_STATIC);
	(void)sqlite3_bind_text(add, 4, identity->version, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(add, 5, (sqlite3_int64)identity->size);
	error = index_run(add);
	if (error != 0) {
		return error;
	}
	index->object_delta++;
	*out_object = (struct index_object){
			.id = sqlite3_last_insert_rowid(index->database),
			.generation = 1,
			.size = identity->size,
	};
	return 0;
}

static void sum_chunk(void *context, const struct index_chunk *chunk)
{
	struct {
		uint64_t size, bytes;
	} *sum = context;
	sum->bytes += index_chunk_bytes(
			chunk->allocated, chunk->number, sum->size);
}

int index_remove_object(struct index *index, const struct index_object *object,
		uint64_t *out_freed)
{
	struct {
		uint64_t size, bytes;
	} sum = {.size = object->size};
	int error = index_each_chunk(index, object->id, sum_chunk, &sum);
	if (error != 0) {
		return error;
	}
	sqlite3_stmt *chunks = index_start(index, INDEX_SQL_DELETE_CHUNKS);
	(void)sqlite3_bind_int64(chunks, 1, index_slot(object->id, 0));
	(void)sqlite3_bind_int64(chunks, 2,
			index_slot(object->id, INDEX_MAX_CHUNKS - 1));
	error = index_run(chunks);
	if (error != 0) {
		return error;
	}
	sqlite3_stmt *row = index_start(index, INDEX_SQL_REMOVE_OBJECT);
	(void)sqlite3_bind_int64(row, 1, object->id);
	error = index_run(row);
	if (error != 0) {
		return error;
	}
	index->block_delta -= (int64_t)sum.bytes;
	index->object_delta -= sqlite3_changes(index->database);
	*out_freed = sum.bytes;
	return 0;
}

int index_raise_generation(struct index *index, struct index_object *object)
{
	sqlite3_stmt *raise = index_start(index, INDEX_SQL_RAISE);
	(void)sqlite3_bind_int64(raise, 1, object->id);
	int error = index_run(raise);
	if (error == 0) {
		object->generation++;
	}
	return error;
}

int index_touch_object(struct index *index, int64_t id, uint64_t now)
{
	sqlite3_stmt *touch = index_start(index, INDEX_SQL_TOUCH_OBJECT);
	(void)sqlite3_bind_int64(touch, 1, id);
	(void)sqlite3_bind_int64(touch, 2, (sqlite3_int64)now);
	return index_run(touch);
}
