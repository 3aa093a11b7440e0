#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cache/disk_private.h"

/* Rows without a usable file, and files without rows. */

bool disk_evict_is_lost(
		struct index *index, const struct index_object *row, int fd)
{
	bool has_chunks = false;
	if (!data_file_has_bytes(fd)) {
		(void)index_has_chunks(index, row->id, &has_chunks);
	}
	return has_chunks;
}

static int remove_rows(struct disk_tier *tier, const uint8_t *name)
{
	struct index_object row;
	int error = index_begin(tier->writer);
	if (error != 0) {
		return error;
	}
	error = index_find_name(tier->writer, name, &row);
	uint64_t freed = 0;
	if (error == 0) {
		error = index_remove_object(tier->writer, &row, &freed);
	}
	if (error == 0) {
		error = index_commit(tier->writer);
	}
	if (error != 0) {
		index_rollback(tier->writer);
	}
	return error == -ENOENT ? 0 : error;
}

void disk_evict_forget(struct disk_tier *tier, const uint8_t *name)
{
	struct index_object row;
	int error = index_find_name(tier->writer, name, &row);
	if (error != 0) {
		disk_tier_judge_index(tier, error == -ENOENT ? 0 : error);
		return;
	}
	/* It may have been written anew since someone missed it. */
	struct disk_hold hold;
	error = disk_hold_take(tier, name, row.size, &hold);
	if (error == 0) {
		bool is_lost = disk_evict_is_lost(tier->writer, &row, hold.fd);
		disk_hold_release(&hold);
		error = is_lost ? -ESTALE : -EEXIST;
	}
	if (error != -ENOENT && error != -ESTALE) {
		return;
	}
	error = remove_rows(tier, name);
	if (error != 0) {
		disk_tier_judge_index(tier, error);
		return;
	}
	/* Rows under the old id are refused from now on, so that the name may
	 * be used again even where someone still holds what lay there. */
	(void)data_file_unlink(tier->dir.objects_fd, name); /* Or not there. */
}

struct forget_task {
	struct disk_task task;
	uint8_t name[INDEX_NAME_SIZE];
};

static void run_forget(struct disk_tier *tier, struct disk_task *task)
{
	struct forget_task *forget = (struct forget_task *)task;
	disk_evict_forget(tier, forget->name);
	free(forget);
}

void disk_evict_forget_later(struct disk_object *object)
{
	if (disk_object_row(object).id == 0) {
		return;
	}
	struct forget_task *forget = calloc(1, sizeof(*forget));
	if (forget == NULL) {
		return; /* It will be missed again. */
	}
	forget->task.run = run_forget;
	memcpy(forget->name, object->identity.name, INDEX_NAME_SIZE);
	if (disk_thread_submit(object->tier, &forget->task) != 0) {
		free(forget); /* Likewise. */
	}
}

/* Under the lock of its file no blocks can be added. */
static int remove_empty_rows(struct disk_tier *tier, const uint8_t *name)
{
	struct index_object row;
	bool has_chunks = true;
	int error = index_find_name(tier->writer, name, &row);
	if (error == 0) {
		error = index_has_chunks(tier->writer, row.id, &has_chunks);
	}
	if (error == 0 && has_chunks) {
		error = -EBUSY;
	}
	return error != 0 ? error : remove_rows(tier, name);
}

int disk_evict_empty(struct disk_tier *tier, const uint8_t *name)
{
	struct index_object row;
	int error = index_find_name(tier->writer, name, &row);
	if (error != 0) {
		return error;
	}
	struct disk_hold hold;
	error = disk_hold_take(tier, name, row.size, &hold);
	if (error == -ENOENT) {
		return remove_empty_rows(tier, name);
	}
	if (error != 0) {
		return error;
	}
	error = hold.object == NULL ? remove_empty_rows(tier, name) : -EBUSY;
	if (error == 0) {
		error = data_file_unlink(tier->dir.objects_fd, name);
	}
	disk_hold_release(&hold);
	return error;
}
