#ifndef STORE_MEMORY_OBJECTS_PRIVATE_H
#define STORE_MEMORY_OBJECTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/*
 * What a memory store holds: versions of objects by key, and pages of their
 * listings. Not thread-safe: the store's lock guards it, the count of a version
 * too.
 */
struct memory_object {
	unsigned references;
	char *key;
	char *etag;
	uint8_t *data; /* NULL: a pattern. */
	uint32_t seed;
	uint64_t size;
	int64_t mtime;
	bool archived;
	bool unsettled;
};

struct memory_objects;

struct memory_objects *memory_objects_create(void);
void memory_objects_destroy(struct memory_objects *objects);

/* Takes over `object`, also on failure; replaces what has its key. */
int memory_objects_put(
		struct memory_objects *objects, struct memory_object *object);
void memory_objects_remove(struct memory_objects *objects, const char *key);
/* Borrowed; NULL: not there. */
struct memory_object *memory_objects_find(
		struct memory_objects *objects, const char *key);

/* One reference. `etag` NULL: one of its own. Data is copied. */
struct memory_object *memory_object_create(const char *key, const char *etag,
		const void *data, uint64_t size);
void memory_object_unref(struct memory_object *object);

/* Copies [offset, offset + length), which lies inside. */
void memory_object_read(const struct memory_object *object, uint64_t offset,
		size_t length, uint8_t *out);

/*
 * A page of at most `max_keys` entries in byte order, as a store sends it. It
 * owns its strings: memory_page_finish().
 */
struct memory_page {
	struct store_page page;
	struct store_entry *entries;
	char *token;
};
int memory_objects_list(struct memory_objects *objects,
		const struct store_list_args *args, uint32_t max_keys,
		struct memory_page *out_page);
void memory_page_finish(struct memory_page *page);

#endif
