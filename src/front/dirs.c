#include "dirs_private.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "tree/tree.h"

struct front_dir {
	struct tree_dir *dir; /* Owned. */
	struct front_dir *prev, *next;
};

void dirs_init(struct dirs *dirs)
{
	*dirs = (struct dirs){0};
	(void)pthread_mutex_init(&dirs->lock, NULL); /* Never fails. */
}

static void free_handle(struct front_dir *handle)
{
	tree_dir_close(handle->dir);
	free(handle);
}

void dirs_finish(struct dirs *dirs)
{
	struct front_dir *handle;
	struct front_dir *next;

	DL_FOREACH_SAFE (dirs->list, handle, next) {
		free_handle(handle);
	}
	(void)pthread_mutex_destroy(&dirs->lock);
}

struct front_dir *dirs_open(struct dirs *dirs, struct tree_dir *dir)
{
	struct front_dir *handle = calloc(1, sizeof(*handle));

	if (handle == NULL) {
		return NULL;
	}
	handle->dir = dir;
	LOCK_SCOPE(&dirs->lock);
	DL_APPEND(dirs->list, handle);
	return handle;
}

void dirs_close(struct dirs *dirs, struct front_dir *handle)
{
	{
		LOCK_SCOPE(&dirs->lock);
		DL_DELETE(dirs->list, handle);
	}
	free_handle(handle);
}

struct tree_dir *dirs_listing(const struct front_dir *handle)
{
	return handle->dir;
}
