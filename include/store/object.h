#ifndef STORE_OBJECT_H
#define STORE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/*
 * One version of one object: immutable and counted. Everything above the
 * store names bytes by it; two versions of a key are two objects.
 */
struct object {
	struct store *store; /* Borrowed; outlives all objects. */
	char *key;	     /* Full key in the bucket, NUL-terminated bytes. */
	size_t key_length;
	char *etag;	  /* As it came, quotes included; "" if none. */
	bool etag_strong; /* May be sent in If-Match. */
	/* False for a version that cannot be told from its successor (no strong
	 * ETag and changed under 2 s before the answer): served, not cached. */
	bool cacheable;
	bool archived; /* Storage class that must be restored before a read. */
	uint64_t size;
	int64_t mtime; /* Seconds since the epoch. */
};

/* Copies its arguments. NULL without memory. */
struct object *object_create(struct store *store, const char *key,
		const char *etag, uint64_t size, int64_t mtime);
struct object *object_ref(struct object *object);
void object_unref(struct object *object);

/* What names this version in cache and logs: the strong ETag, else
 * "W/" etag, size and mtime. Writes a NUL-terminated text of < size bytes;
 * -EMSGSIZE if it does not fit. */
int object_version(const struct object *object, char *buffer, size_t size);

/* Compares ETags of the listing form and the header form: quotes aside, weak
 * marks kept. */
bool object_etag_equal(const char *a, const char *b);

#endif
