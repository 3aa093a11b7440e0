#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "cache/disk_private.h"
#include "store/object.h"
#include "store/store.h"

#define VERSION_MAX_BYTES 4096

void disk_object_destroy(struct disk_object *object)
{
	if (object == NULL) {
		return;
	}
	free(object->chunks);
	free(object->version_text);
	object_unref(object->version);
	(void)pthread_mutex_destroy(&object->lock); /* Nobody has it. */
	free(object);
}

static int name_version(struct disk_object *object)
{
	char text[VERSION_MAX_BYTES];
	int error = object_version(object->version, text, sizeof(text));
	if (error != 0) {
		return error;
	}
	object->version_text = strdup(text);
	if (object->version_text == NULL) {
		return -ENOMEM;
	}
	object->identity = (struct index_identity){
			.source = store_name(object->version->store),
			.key = object->version->key,
			.key_length = object->version->key_length,
			.version = object->version_text,
			.size = object->version->size,
	};
	return index_identity_name(&object->identity);
}

static int create_object(struct disk_tier *tier, struct object *version,
		struct disk_object **out_object)
{
	struct disk_object *object = calloc(1, sizeof(*object));
	if (object == NULL) {
		return -ENOMEM;
	}
	if (pthread_mutex_init(&object->lock, NULL) != 0) {
		free(object);
		return -ENOMEM;
	}
	object->tier = tier;
	object->version = object_ref(version);
	object->fd = -1;
	object->direct_fd = -1;
	object->references = 1;
	uint64_t size = version->size;
	object->block_count = size / BLOCK_SIZE + (size % BLOCK_SIZE != 0);
	uint64_t chunks = size / INDEX_CHUNK_BYTES +
			  (size % INDEX_CHUNK_BYTES != 0);
	/* Too large for the index: served, not stored. */
	object->storable = version->cacheable && chunks < INDEX_MAX_CHUNKS;
	object->chunk_count = object->storable ? (uint32_t)chunks : 0;
	object->chunks = calloc(
			object->chunk_count + 1U, sizeof(*object->chunks));
	int error = object->chunks == NULL ? -ENOMEM : name_version(object);
	if (error != 0) {
		disk_object_destroy(object);
		return error;
	}
	*out_object = object;
	return 0;
}

void disk_object_clear(struct disk_object *object)
{
	for (uint32_t i = 0; i < object->chunk_count; i++) {
		atomic_store(&object->chunks[i].present, 0);
		atomic_store(&object->chunks[i].checked, 0);
	}
}

static void take_chunk(void *context, const struct index_chunk *chunk)
{
	struct disk_object *object = context;
	if (chunk->number < object->chunk_count) {
		atomic_store(&object->chunks[chunk->number].present,
				chunk->present);
	}
}

int disk_object_load(struct disk_object *object, const struct index_object *row)
{
	struct disk_tier *tier = object->tier;
	disk_object_clear(object);
	{
		LOCK_SCOPE(&object->lock);
		object->row = *row;
	}
	if (row->id == 0) {
		return 0;
	}
	int error;
	{
		LOCK_SCOPE(&tier->reader_lock);
		error = index_each_chunk(
				tier->reader, row->id, take_chunk, object);
	}
	if (error != 0) {
		disk_object_clear(object);
	}
	return error;
}

struct index_object disk_object_row(struct disk_object *object)
{
	LOCK_SCOPE(&object->lock);
	return object->row;
}

/* The rows as they are now; trouble means that nothing is known to be here. */
static void load_rows(struct disk_object *object)
{
	struct disk_tier *tier = object->tier;
	struct index_object row = {.id = 0};
	int error;
	{
		LOCK_SCOPE(&tier->reader_lock);
		error = index_find_object(
				tier->reader, &object->identity, &row);
	}
	if (error == 0) {
		error = disk_object_load(object, &row);
	}
	if (error != 0 && error != -ENOENT) {
		disk_tier_judge_index(tier, error);
	}
}

struct disk_object *disk_object_find(
		struct disk_tier *tier, const uint8_t *name)
{
	struct disk_object *object;
	LOCK_SCOPE(&tier->objects_lock);
	HASH_FIND(hh, tier->objects, name, INDEX_NAME_SIZE, object);
	if (object != NULL) {
		object->references++;
	}
	return object;
}

void disk_object_ref(struct disk_object *object)
{
	LOCK_SCOPE(&object->tier->objects_lock);
	object->references++;
}

void disk_object_unref(struct disk_object *object)
{
	LOCK_SCOPE(&object->tier->objects_lock);
	object->references--;
}

/* An open is a use of all of it: reads may not come to this process. */
static void note_open(struct disk_object *object)
{
	atomic_store(&object->opened, atomic_load(&object->tier->clock));
	atomic_store(&object->touched, true);
}

/* The table has one of each name: the first one made stays. NULL without
 * memory. */
static struct disk_object *publish(struct disk_object *object)
{
	struct disk_tier *tier = object->tier;
	struct disk_object *other;
	LOCK_SCOPE(&tier->objects_lock);
	HASH_FIND(hh, tier->objects, object->identity.name, INDEX_NAME_SIZE,
			other);
	if (other != NULL) {
		other->references++;
		return other;
	}
	HASH_ADD(hh, tier->objects, identity.name, INDEX_NAME_SIZE, object);
	return object->hh.tbl != NULL ? object : NULL;
}

int disk_object_open(struct disk_tier *tier, struct object *version,
		struct disk_object **out_object)
{
	if (disk_tier_is_off(tier)) {
		return -EIO;
	}
	struct disk_object *object = NULL;
	int error = create_object(tier, version, &object);
	if (error != 0) {
		return error == -ENOMEM ? error : -EIO;
	}
	struct disk_object *known =
			disk_object_find(tier, object->identity.name);
	if (known == NULL) {
		if (object->storable) {
			load_rows(object);
		}
		known = publish(object);
	}
	if (known != object) {
		disk_object_destroy(object);
	}
	if (known == NULL) {
		return -ENOMEM;
	}
	note_open(known);
	*out_object = known;
	return 0;
}

void disk_object_close(struct disk_object *object)
{
	if (object != NULL) {
		disk_object_unref(object); /* The index thread retires it. */
	}
}

bool disk_object_has(const struct disk_object *object, uint64_t block)
{
	uint64_t number = block / DISK_CHUNK_BLOCKS;
	if (number >= object->chunk_count || disk_tier_is_off(object->tier)) {
		return false;
	}
	uint64_t present = atomic_load_explicit(
			&object->chunks[number].present, memory_order_acquire);
	return (present >> (block % DISK_CHUNK_BLOCKS) & 1) != 0;
}

size_t disk_object_block_bytes(const struct disk_object *object, uint64_t block)
{
	uint64_t left = object->identity.size - block * BLOCK_SIZE;
	return left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE;
}

uint64_t disk_object_bytes(const struct disk_object *object)
{
	if (disk_tier_is_off(object->tier)) {
		return 0;
	}
	uint64_t blocks = 0;
	for (uint32_t i = 0; i < object->chunk_count; i++) {
		blocks += (uint64_t)__builtin_popcountll(
				atomic_load(&object->chunks[i].present));
	}
	uint64_t bytes = blocks * BLOCK_SIZE;
	if (blocks > 0 && disk_object_has(object, object->block_count - 1)) {
		bytes -= BLOCK_SIZE - disk_object_block_bytes(object,
						      object->block_count - 1);
	}
	return bytes;
}

uint64_t disk_object_mask(uint64_t first, size_t count, uint32_t number)
{
	uint64_t start = (uint64_t)number * DISK_CHUNK_BLOCKS;
	uint64_t end = start + DISK_CHUNK_BLOCKS;
	uint64_t from = first > start ? first : start;
	uint64_t to = first + count < end ? first + count : end;
	if (from >= to) {
		return 0;
	}
	uint64_t bits = to - from == DISK_CHUNK_BLOCKS
					? UINT64_MAX
					: (UINT64_C(1) << (to - from)) - 1;
	return bits << (from - start);
}

bool disk_object_is_present(
		const struct disk_object *object, uint64_t first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!disk_object_has(object, first + i)) {
			return false;
		}
	}
	return true;
}

static uint32_t chunk_of(uint64_t block)
{
	return (uint32_t)(block / DISK_CHUNK_BLOCKS);
}

int disk_object_pin(struct disk_object *object, uint64_t first, size_t count)
{
	uint32_t from = chunk_of(first);
	uint32_t to = chunk_of(first + count - 1);
	LOCK_SCOPE(&object->lock);
	for (uint32_t i = from; i <= to; i++) {
		if (object->chunks[i].evicting) {
			return -EAGAIN;
		}
	}
	for (uint32_t i = from; i <= to; i++) {
		object->chunks[i].pins++;
	}
	return 0;
}

void disk_object_unpin(struct disk_object *object, uint64_t first, size_t count)
{
	LOCK_SCOPE(&object->lock);
	for (uint32_t i = chunk_of(first); i <= chunk_of(first + count - 1);
			i++) {
		object->chunks[i].pins--;
	}
}

void disk_object_touch(struct disk_object *object, uint64_t first, size_t count)
{
	if (count == 0 || first + count > object->block_count ||
			object->chunk_count == 0) {
		return;
	}
	struct disk_tier *tier = object->tier;
	uint64_t bytes = count * BLOCK_SIZE;
	uint64_t now = atomic_fetch_add(&tier->clock, bytes) + bytes;
	atomic_fetch_add(&tier->demanded, bytes);
	for (uint32_t i = chunk_of(first); i <= chunk_of(first + count - 1);
			i++) {
		atomic_store(&object->chunks[i].last_use, now);
		atomic_store(&object->chunks[i].touched, true);
	}
	atomic_store(&object->touched, true);
}
