#include "memory_objects_private.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "store/testing.h"

struct slot {
	struct memory_object *object;
	UT_hash_handle hh;
};

struct memory_objects {
	struct slot *slots; /* Hash by key. */
	/* The slots in byte order of their keys; NULL after a change. */
	struct memory_object **sorted;
};

uint8_t memory_store_byte(uint32_t seed, uint64_t offset)
{
	uint64_t x = offset + ((uint64_t)seed << 40) + 0x9e3779b97f4a7c15U;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
	return (uint8_t)(x ^ (x >> 31));
}

struct memory_object *memory_object_create(const char *key, const char *etag,
		const void *data, uint64_t size)
{
	static atomic_uint versions;
	char own_etag[32];
	snprintf(own_etag, sizeof(own_etag), "\"m%u\"",
			atomic_fetch_add(&versions, 1));
	struct memory_object *object = calloc(1, sizeof(*object));
	if (object == NULL) {
		return NULL;
	}
	object->references = 1;
	object->size = size;
	object->mtime = MEMORY_STORE_MTIME;
	object->key = strdup(key);
	object->etag = strdup(etag == NULL ? own_etag : etag);
	object->data = data == NULL ? NULL : malloc(size + 1);
	if (object->key == NULL || object->etag == NULL ||
			(data != NULL && object->data == NULL)) {
		memory_object_unref(object);
		return NULL;
	}
	if (data != NULL) {
		memcpy(object->data, data, size);
	}
	return object;
}

void memory_object_unref(struct memory_object *object)
{
	if (object == NULL || --object->references > 0) {
		return;
	}
	free(object->key);
	free(object->etag);
	free(object->data);
	free(object);
}

void memory_object_read(const struct memory_object *object, uint64_t offset,
		size_t length, uint8_t *out)
{
	if (object->data != NULL) {
		memcpy(out, object->data + offset, length);
		return;
	}
	for (size_t i = 0; i < length; i++) {
		out[i] = memory_store_byte(object->seed, offset + i);
	}
}

struct memory_objects *memory_objects_create(void)
{
	return calloc(1, sizeof(struct memory_objects));
}

void memory_objects_destroy(struct memory_objects *objects)
{
	if (objects == NULL) {
		return;
	}
	struct slot *slot = NULL;
	struct slot *next = NULL;
	HASH_ITER (hh, objects->slots, slot, next) {
		HASH_DEL(objects->slots, slot);
		memory_object_unref(slot->object);
		free(slot);
	}
	free(objects->sorted);
	free(objects);
}

static void forget_order(struct memory_objects *objects)
{
	free(objects->sorted);
	objects->sorted = NULL;
}

void memory_objects_remove(struct memory_objects *objects, const char *key)
{
	struct slot *slot = NULL;
	HASH_FIND_STR(objects->slots, key, slot);
	if (slot != NULL) {
		HASH_DEL(objects->slots, slot);
		memory_object_unref(slot->object);
		free(slot);
		forget_order(objects);
	}
}

int memory_objects_put(
		struct memory_objects *objects, struct memory_object *object)
{
	struct slot *slot = malloc(sizeof(*slot));
	if (slot == NULL) {
		memory_object_unref(object);
		return -ENOMEM;
	}
	memory_objects_remove(objects, object->key);
	slot->object = object;
	HASH_ADD_KEYPTR(hh, objects->slots, object->key, strlen(object->key),
			slot);
	forget_order(objects);
	return 0;
}

struct memory_object *memory_objects_find(
		struct memory_objects *objects, const char *key)
{
	struct slot *slot = NULL;
	HASH_FIND_STR(objects->slots, key, slot);
	return slot == NULL ? NULL : slot->object;
}

static int compare_keys(const void *a, const void *b)
{
	const struct memory_object *const *first = a;
	const struct memory_object *const *second = b;
	return strcmp((*first)->key, (*second)->key);
}

static int sort_objects(struct memory_objects *objects)
{
	if (objects->sorted != NULL) {
		return 0;
	}
	const size_t count = HASH_COUNT(objects->slots);
	objects->sorted = calloc(count + 1, sizeof(struct memory_object *));
	if (objects->sorted == NULL) {
		return -ENOMEM;
	}
	size_t i = 0;
	for (struct slot *slot = objects->slots; slot != NULL;
			slot = slot->hh.next) {
		objects->sorted[i++] = slot->object;
	}
	qsort(objects->sorted, count, sizeof(struct memory_object *),
			compare_keys);
	return 0;
}

/* The first object whose key is at least `key`, or, with `past`, the first
 * that neither is `key` nor begins with it. */
static size_t seek(const struct memory_objects *objects, const char *key,
		bool past)
{
	const size_t length = strlen(key);
	size_t low = 0;
	size_t high = HASH_COUNT(objects->slots);
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *here = objects->sorted[middle]->key;
		const int order = past ? strncmp(here, key, length)
				       : strcmp(here, key);
		if (order < 0 || (past && order == 0)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* A token is the last key or prefix of its page. */
static size_t seek_start(const struct memory_objects *objects,
		const struct store_list_args *args)
{
	if (args->token == NULL) {
		return seek(objects, args->prefix, false);
	}
	const size_t length = strlen(args->token);
	if (!args->recursive && length > 0 && args->token[length - 1] == '/' &&
			strcmp(args->token, args->prefix) != 0) {
		return seek(objects, args->token, true);
	}
	const size_t index = seek(objects, args->token, false);
	const bool same = index < HASH_COUNT(objects->slots) &&
			  strcmp(objects->sorted[index]->key, args->token) == 0;
	return same ? index + 1 : index;
}

/* Writes the entry that the object stands for: itself, or the part of its key
 * up to the delimiter. */
static int make_entry(const struct memory_object *object,
		const struct store_list_args *args, struct store_entry *entry)
{
	const char *rest = object->key + strlen(args->prefix);
	const char *slash = args->recursive ? NULL : strchr(rest, '/');
	const size_t length = slash == NULL ? strlen(object->key)
					    : (size_t)(slash + 1 - object->key);
	*entry = (struct store_entry){
			.key = strndup(object->key, length),
			.key_length = length,
			.is_prefix = slash != NULL,
			.etag = strdup(slash == NULL ? object->etag : ""),
	};
	if (slash == NULL) {
		entry->size = object->size;
		entry->mtime = object->mtime;
		entry->archived = object->archived;
		entry->unsettled = object->unsettled;
	}
	return entry->key == NULL || entry->etag == NULL ? -ENOMEM : 0;
}

void memory_page_finish(struct memory_page *page)
{
	for (size_t i = 0; i < page->page.entry_count; i++) {
		free((char *)page->entries[i].key);
		free((char *)page->entries[i].etag);
	}
	free(page->entries);
	free(page->token);
}

int memory_objects_list(struct memory_objects *objects,
		const struct store_list_args *args, uint32_t max_keys,
		struct memory_page *out_page)
{
	struct memory_page page = {
			.entries = calloc(max_keys, sizeof(struct store_entry)),
	};
	if (page.entries == NULL || sort_objects(objects) < 0) {
		goto fail;
	}
	const size_t count = HASH_COUNT(objects->slots);
	const size_t prefix_length = strlen(args->prefix);
	size_t i = seek_start(objects, args);
	while (i < count && page.page.entry_count < max_keys &&
			strncmp(objects->sorted[i]->key, args->prefix,
					prefix_length) == 0) {
		struct store_entry *entry =
				&page.entries[page.page.entry_count++];
		if (make_entry(objects->sorted[i], args, entry) < 0) {
			goto fail;
		}
		i = entry->is_prefix ? seek(objects, entry->key, true) : i + 1;
	}
	if (i < count && page.page.entry_count > 0 &&
			strncmp(objects->sorted[i]->key, args->prefix,
					prefix_length) == 0) {
		page.token = strdup(
				page.entries[page.page.entry_count - 1].key);
		if (page.token == NULL) {
			goto fail;
		}
	}
	page.page.entries = page.entries;
	page.page.next_token = page.token;
	*out_page = page;
	return 0;
fail:
	memory_page_finish(&page);
	return -ENOMEM;
}
