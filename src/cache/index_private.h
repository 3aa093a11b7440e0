#ifndef CACHE_INDEX_PRIVATE_H
#define CACHE_INDEX_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"

/*
 * The index of a cache directory: which blocks of which object versions have
 * bytes in a data file, and who holds how much of the limit. SQLite and
 * nothing else; synchronous. One connection is one struct index and belongs to
 * one thread at a time.
 *
 * Invariants:
 * 1. directory.block_bytes is the sum of index_chunk_bytes() over all rows'
 *    `allocated`. Only index_chunk.c changes either.
 * 2. present is a part of allocated: a block may hold space without being
 *    good, never the reverse.
 * 3. No read transaction outlives the call that made it.
 *
 * Errors: -EBUSY (another process writes), -ENOSPC (the index is full or the
 * disk is), -EUCLEAN (the index cannot be trusted), -ENOMEM, -EIO.
 */
struct index;

#define INDEX_CHUNK_BLOCKS 64u
#define INDEX_CHUNK_BYTES (UINT64_C(64) << 16)
#define INDEX_MAX_CHUNKS (UINT32_C(1) << 24)
#define INDEX_NAME_SIZE DIGEST_SHA256_SIZE
#define INDEX_HOLDER_SIZE 17 /* 16 hexadecimal digits and a NUL. */

/* What tells one object version from all others. Borrows its strings. */
struct index_identity {
	uint8_t name[INDEX_NAME_SIZE]; /* Of the other fields. */
	const char *source;
	const char *key;
	size_t key_length;
	const char *version;
	uint64_t size;
};

/* Fills `name`: SHA-256 over the length-prefixed fields. 0 or -EIO, -ENOMEM. */
int index_identity_name(struct index_identity *identity);

struct index_object {
	int64_t id;	    /* Never used again once the row is gone. */
	int64_t generation; /* Raised by any hole. */
	uint64_t size;
};

struct index_chunk {
	uint32_t number;
	uint64_t present, allocated;
	uint64_t last_use;
};

/* Creates a new, empty index in an existing empty file. */
int index_create(const char *path, uint64_t limit_bytes);

enum index_role { INDEX_WRITER, INDEX_READER };

/* -EUCLEAN for anything that is not an index of this release. */
int index_open(const char *path, enum index_role role, unsigned busy_ms,
		struct index **out_index);
void index_close(struct index *index);

/* Writers only. Everything that changes rows is called between the two.
 * After any error the caller rolls back. */
int index_begin(struct index *index);
int index_commit(struct index *index);
void index_rollback(struct index *index);

/* Bounds the database; more is -ENOSPC. */
int index_set_max_bytes(struct index *index, uint64_t bytes);
/* Gives free pages and the log back to the file system. Outside of begin and
 * commit. */
int index_shrink(struct index *index);

/* -ENOENT when there is none; -EUCLEAN when the row has other fields. */
int index_find_object(struct index *index,
		const struct index_identity *identity,
		struct index_object *out_object);
int index_find_name(struct index *index, const uint8_t *name,
		struct index_object *out_object);
int index_add_object(struct index *index, const struct index_identity *identity,
		struct index_object *out_object);
/* Removes its chunks too; *out_freed is what they held. */
int index_remove_object(struct index *index, const struct index_object *object,
		uint64_t *out_freed);
int index_raise_generation(struct index *index, struct index_object *object);
int index_touch_object(struct index *index, int64_t id, uint64_t now);

/* Bytes that the blocks of `mask` in chunk `number` take on a disk. */
uint64_t index_chunk_bytes(uint64_t mask, uint32_t number, uint64_t size);

typedef void (*index_chunk_fn)(void *context, const struct index_chunk *chunk);
int index_each_chunk(struct index *index, int64_t id, index_chunk_fn fn,
		void *context);
int index_has_chunks(struct index *index, int64_t id, bool *out_has);
/* -ENOENT without a row. `out_sums` may be NULL. */
int index_get_chunk(struct index *index, int64_t id, uint32_t number,
		struct index_chunk *out_chunk,
		uint32_t out_sums[INDEX_CHUNK_BLOCKS]);

struct index_merge {
	uint32_t number;
	uint64_t set;	   /* Blocks written: their sums are laid over. */
	uint64_t drop;	   /* Blocks found bad. */
	uint64_t last_use; /* Never set back. */
	const uint32_t *sums;
};
int index_merge_chunk(struct index *index, const struct index_object *object,
		const struct index_merge *merge);
/* Makes the row say exactly this, and deletes it when nothing is allocated.
 * `chunk->present` has only bits that the row has already. */
int index_limit_chunk(struct index *index, const struct index_object *object,
		const struct index_chunk *chunk);
/* Deletes the row; *out_freed is what it held. No row: 0. */
int index_clear_chunk(struct index *index, const struct index_object *object,
		uint32_t number, uint64_t *out_freed);

/* The chunks that were used longest ago, oldest first. */
struct index_victim {
	struct index_object object;
	uint8_t name[INDEX_NAME_SIZE];
	uint32_t number;
	uint64_t last_use;
};
int index_oldest(struct index *index, struct index_victim *victims,
		size_t capacity, size_t *out_count);
/* The same measure for one chunk now; -ENOENT when it is gone. */
int index_last_use(struct index *index, int64_t id, uint32_t number,
		uint64_t *out_last_use);

struct index_totals {
	uint64_t limit_bytes;
	uint64_t clock_bytes;	/* Demanded so far: the clock of uses. */
	uint64_t block_bytes;	/* Held by rows. */
	uint64_t granted_bytes; /* Held by all holders. */
	uint64_t object_count;
	uint64_t page_bytes; /* The database file. */
	uint64_t log_bytes;  /* Its log: filled in by who knows the file. */
};
int index_get_totals(struct index *index, struct index_totals *out_totals);
int index_set_limit(struct index *index, uint64_t limit_bytes);
int index_advance_clock(
		struct index *index, uint64_t bytes, uint64_t *out_clock);

/* A holder is a process that has taken space it may not have filled yet. Its
 * `writing` names are the data files that may have bytes without rows. */
int index_add_holder(struct index *index, const char *holder);
int index_remove_holder(struct index *index, const char *holder);
/* -ENOENT when the holder is gone; a grant never goes below 0. */
int index_add_granted(struct index *index, const char *holder, int64_t bytes);
int index_add_writing(
		struct index *index, const char *holder, const uint8_t *name);
int index_remove_writing(
		struct index *index, const char *holder, const uint8_t *name);
/* The first holder whose name is greater than `after`; -ENOENT at the end. */
int index_next_holder(struct index *index, const char *after,
		char out_holder[INDEX_HOLDER_SIZE]);
/* Likewise for its names; `after` NULL for the first. */
int index_next_writing(struct index *index, const char *holder,
		const uint8_t *after, uint8_t out_name[INDEX_NAME_SIZE]);

/* Listings. get: -ENOENT; the caller frees *out_blob. */
int index_get_listing(struct index *index, const char *source,
		const char *prefix, void **out_blob, size_t *out_length,
		uint64_t *out_taken_ms);
/* Keeps all listings within `max_total`, dropping the oldest. */
int index_put_listing(struct index *index, const char *source,
		const char *prefix, const void *blob, size_t length,
		uint64_t taken_ms, uint64_t max_total);
int index_remove_listing(
		struct index *index, const char *source, const char *prefix);

#endif
