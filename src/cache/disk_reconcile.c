#include <errno.h>
#include <string.h>

#include "base/block_pool.h"
#include "base/cleanup.h"
#include "cache/disk_private.h"

/*
 * Finds bytes that no row knows: a process was killed between its bytes and
 * their row, or between clearing a row and making the hole. Compares a file
 * with its rows under the file's exclusive lock. Blocks without a bit are
 * freed, bits without bytes are dropped.
 */

static void free_blocks(int fd, uint32_t number, uint64_t mask, int *error)
{
	for (unsigned i = 0; i < DISK_CHUNK_BLOCKS && *error == 0; i++) {
		if (mask >> i & 1) {
			uint64_t block = (uint64_t)number * DISK_CHUNK_BLOCKS +
					 i;
			*error = data_file_punch(
					fd, block * BLOCK_SIZE, BLOCK_SIZE);
		}
	}
}

/* Writes what is true of one chunk, in the open transaction. The bytes are
 * freed first: a row that still counts them does no harm. */
static int compare_chunk(struct disk_tier *tier, const struct index_object *row,
		uint32_t number, const struct disk_hold *hold)
{
	struct index_chunk chunk = {.number = number};
	int error = index_get_chunk(
			tier->writer, row->id, number, &chunk, NULL);
	if (error != 0 && error != -ENOENT) {
		return error;
	}
	uint64_t allocated = 0;
	error = data_file_allocated(hold->fd, number, row->size, &allocated);
	if (error == 0) {
		free_blocks(hold->fd, number, allocated & ~chunk.present,
				&error);
	}
	if (error != 0) {
		return error;
	}
	chunk.present &= allocated;
	chunk.allocated = chunk.present;
	if (hold->object != NULL) {
		struct disk_chunk *known = &hold->object->chunks[number];
		atomic_fetch_and(&known->present, chunk.present);
		atomic_fetch_and(&known->checked, chunk.present);
	}
	return index_limit_chunk(tier->writer, row, &chunk);
}

/* The chunks that have bytes. Rows of others are found out when they are read,
 * and only count too much until then. */
static int compare_chunks(struct disk_tier *tier,
		const struct index_object *row, const struct disk_hold *hold)
{
	uint64_t offset = 0;
	uint64_t data = 0;
	int error = 0;
	while (error == 0 && offset < row->size) {
		error = data_file_next_data(hold->fd, offset, &data);
		if (error == 0) {
			uint32_t number = (uint32_t)(data / INDEX_CHUNK_BYTES);
			error = compare_chunk(tier, row, number, hold);
			offset = ((uint64_t)number + 1) * INDEX_CHUNK_BYTES;
		}
	}
	return error == -ENXIO ? 0 : error;
}

static int compare_file(struct disk_tier *tier, struct index_object *row,
		const struct disk_hold *hold)
{
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error;
	}
	error = compare_chunks(tier, row, hold);
	if (error == 0) {
		error = index_raise_generation(tier->writer, row);
	}
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
		return error;
	}
	if (hold->object != NULL) {
		LOCK_SCOPE(&hold->object->lock);
		hold->object->row = *row;
	}
	return 0;
}

/* Bytes whose rows wait in this process are not lost. */
static int merge_own_rows(struct disk_tier *tier, const struct disk_hold *hold)
{
	if (hold->object == NULL || atomic_load(&hold->object->unmerged) == 0) {
		return 0;
	}
	int error = disk_merge_all(tier);
	if (error == 0 && atomic_load(&hold->object->unmerged) != 0) {
		error = -EBUSY;
	}
	return error;
}

/* A file without a row: its size is not known, and does not matter. */
static int remove_orphan(struct disk_tier *tier, const uint8_t *name)
{
	struct disk_object *object = disk_object_find(tier, name);
	if (object != NULL) {
		disk_object_unref(object);
		return -EBUSY; /* It is about to get a row. */
	}
	int error = data_file_unlink_unused(tier->dir.objects_fd, name);
	return error == -ENOENT ? 0 : error;
}

int disk_reconcile_object(struct disk_tier *tier, const uint8_t *name)
{
	struct index_object row;
	int error = index_find_name(tier->writer, name, &row);
	if (error == -ENOENT) {
		return remove_orphan(tier, name);
	}
	if (error != 0) {
		return error;
	}
	struct disk_hold hold;
	error = disk_hold_take(tier, name, row.size, &hold);
	if (error == -ENOENT || error == -ESTALE) {
		disk_evict_forget(tier, name);
		return 0;
	}
	if (error != 0) {
		return error;
	}
	error = merge_own_rows(tier, &hold);
	if (error == 0) {
		error = compare_file(tier, &row, &hold);
	}
	disk_hold_release(&hold);
	if (error == 0) {
		(void)disk_evict_empty(tier, name); /* If it is. */
	}
	return error;
}

static int forget_holder(struct disk_tier *tier, const char *holder)
{
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error;
	}
	error = index_remove_holder(tier->writer, holder);
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
		return error;
	}
	disk_dir_remove_holder(&tier->dir, holder);
	return 0;
}

/* All of its files, or the grant stays for another time. */
static int settle_holder(struct disk_tier *tier, const char *holder)
{
	uint8_t name[INDEX_NAME_SIZE];
	const uint8_t *after = NULL;
	int result = 0;
	int error;
	while ((error = index_next_writing(
				tier->writer, holder, after, name)) == 0) {
		int settled = disk_reconcile_object(tier, name);
		result = settled != 0 ? settled : result;
		after = name;
	}
	if (error != -ENOENT) {
		return error;
	}
	return result == 0 ? forget_holder(tier, holder) : result;
}

int disk_reconcile_holders(struct disk_tier *tier)
{
	char holder[INDEX_HOLDER_SIZE] = "";
	int error;
	while ((error = index_next_holder(tier->writer, holder, holder)) == 0) {
		if (strcmp(holder, tier->holder) == 0 ||
				!disk_dir_holder_is_dead(&tier->dir, holder)) {
			continue;
		}
		/* What cannot be settled now stays counted. */
		(void)settle_holder(tier, holder);
	}
	return error == -ENOENT ? 0 : error;
}
