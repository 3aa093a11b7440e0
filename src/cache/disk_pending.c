#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cache/disk_pending_private.h"

/*
 * Rows that are not in the index yet: blocks written, and blocks found bad.
 * New ones join the table `queued`; the index thread turns it into `flushing`,
 * writes that, and frees it, or puts it back when the index is busy. Readers
 * find sums in both. Each entry keeps its object and the object's descriptor.
 */

#define PENDING_MAX 4096u
#define PENDING_MANY 128u

/* Rows keep their files open: with few of these they must not wait long. */
static bool are_many(const struct disk_tier *tier, size_t count)
{
	return count >= PENDING_MANY || count >= tier->files.max_count / 2;
}

int disk_pending_init(struct disk_pending_table *table)
{
	*table = (struct disk_pending_table){.queued = NULL};
	return pthread_mutex_init(&table->lock, NULL) == 0 ? 0 : -ENOMEM;
}

void disk_pending_finish(struct disk_pending_table *table)
{
	struct disk_pending *entry;
	struct disk_pending *next;
	HASH_ITER (hh, table->queued, entry, next) {
		/* The index did not take it; its object is gone. */
		HASH_DELETE(hh, table->queued, entry);
		free(entry);
	}
	(void)pthread_mutex_destroy(&table->lock); /* No thread is left. */
}

static struct disk_pending *find(struct disk_pending *entries,
		struct disk_object *object, uint32_t number)
{
	struct disk_pending_key key;
	memset(&key, 0, sizeof(key)); /* Padding is compared too. */
	key.object = object;
	key.number = number;
	struct disk_pending *entry;
	HASH_FIND(hh, entries, &key, sizeof(key), entry);
	return entry;
}

/* Finds or makes the queued entry. NULL without memory or room. */
static struct disk_pending *queued_entry(struct disk_pending_table *table,
		struct disk_object *object, uint32_t number)
{
	struct disk_pending *entry = find(table->queued, object, number);
	if (entry != NULL) {
		return entry;
	}
	if (HASH_COUNT(table->queued) >= PENDING_MAX) {
		return NULL;
	}
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL) {
		return NULL;
	}
	entry->key.object = object;
	entry->key.number = number;
	HASH_ADD(hh, table->queued, key, sizeof(entry->key), entry);
	if (entry->hh.tbl == NULL) {
		free(entry);
		return NULL;
	}
	disk_files_hold(object);
	atomic_fetch_add(&object->unmerged, 1);
	return entry;
}

static void free_entry(struct disk_pending *entry)
{
	disk_files_release(entry->key.object);
	/* Last: the object may be gone from now on. */
	atomic_fetch_sub(&entry->key.object->unmerged, 1);
	free(entry);
}

static void take_sums(
		struct disk_pending *entry, uint64_t set, const uint32_t *sums)
{
	for (unsigned i = 0; i < DISK_CHUNK_BLOCKS; i++) {
		if (set >> i & 1) {
			entry->sums[i] = sums[i];
		}
	}
	entry->set |= set;
	entry->drop &= ~set;
}

int disk_pending_add(struct disk_object *object, uint32_t number, uint64_t set,
		const uint32_t *sums, uint64_t charged_bytes)
{
	struct disk_pending_table *table = &object->tier->pending;
	size_t count;
	{
		LOCK_SCOPE(&table->lock);
		struct disk_pending *entry =
				queued_entry(table, object, number);
		if (entry == NULL) {
			return -ENOBUFS;
		}
		take_sums(entry, set, sums);
		entry->charged_bytes += charged_bytes;
		count = HASH_COUNT(table->queued);
	}
	if (are_many(object->tier, count)) {
		disk_thread_rows_are_many(object->tier);
	}
	return 0;
}

int disk_pending_drop(
		struct disk_object *object, uint32_t number, uint64_t mask)
{
	struct disk_pending_table *table = &object->tier->pending;
	LOCK_SCOPE(&table->lock);
	struct disk_pending *entry = queued_entry(table, object, number);
	if (entry == NULL) {
		return -ENOBUFS;
	}
	entry->drop |= mask;
	entry->set &= ~mask;
	return 0;
}

uint64_t disk_pending_sums(struct disk_object *object, uint32_t number,
		uint32_t sums[DISK_CHUNK_BLOCKS])
{
	struct disk_pending_table *table = &object->tier->pending;
	LOCK_SCOPE(&table->lock);
	uint64_t found = 0;
	struct disk_pending *newest_first[] = {
			find(table->queued, object, number),
			find(table->flushing, object, number)};
	for (unsigned i = 0; i < 2; i++) {
		struct disk_pending *entry = newest_first[i];
		if (entry == NULL) {
			continue;
		}
		for (unsigned b = 0; b < DISK_CHUNK_BLOCKS; b++) {
			if ((entry->set & ~found) >> b & 1) {
				sums[b] = entry->sums[b];
			}
		}
		found |= entry->set;
	}
	return found;
}

bool disk_pending_has(struct disk_object *object, uint32_t number)
{
	struct disk_pending_table *table = &object->tier->pending;
	LOCK_SCOPE(&table->lock);
	return find(table->queued, object, number) != NULL ||
	       find(table->flushing, object, number) != NULL;
}

struct disk_pending *disk_pending_take(struct disk_tier *tier)
{
	struct disk_pending_table *table = &tier->pending;
	LOCK_SCOPE(&table->lock);
	table->flushing = table->queued;
	table->queued = NULL;
	return table->flushing;
}

/* Its bytes have no row and will not get one. */
static void lose(struct disk_tier *tier, struct disk_pending *entry)
{
	disk_object_clear(entry->key.object);
	tier->leaked = true;
	free_entry(entry);
}

void disk_pending_put_back(struct disk_tier *tier)
{
	struct disk_pending_table *table = &tier->pending;
	LOCK_SCOPE(&table->lock);
	struct disk_pending *entry;
	struct disk_pending *next;
	HASH_ITER (hh, table->flushing, entry, next) {
		struct disk_pending *newer = find(table->queued,
				entry->key.object, entry->key.number);
		HASH_DELETE(hh, table->flushing, entry);
		if (newer != NULL) {
			uint64_t set = newer->set;
			uint64_t drop = newer->drop;
			take_sums(entry, set, newer->sums);
			entry->drop |= drop;
			entry->set &= ~drop;
			entry->charged_bytes += newer->charged_bytes;
			HASH_DELETE(hh, table->queued, newer);
			free_entry(newer);
		}
		HASH_ADD(hh, table->queued, key, sizeof(entry->key), entry);
		if (entry->hh.tbl == NULL) {
			lose(tier, entry);
		}
	}
}

void disk_pending_done(struct disk_tier *tier)
{
	struct disk_pending_table *table = &tier->pending;
	struct disk_pending *done;
	{
		LOCK_SCOPE(&table->lock);
		done = table->flushing;
		table->flushing = NULL;
	}
	struct disk_pending *entry;
	struct disk_pending *next;
	HASH_ITER (hh, done, entry, next) {
		HASH_DELETE(hh, done, entry);
		free_entry(entry);
	}
}
