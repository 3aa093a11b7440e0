#include "files_private.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "store/object.h"
#include "stream/stream.h"
#include "tree/tree.h"

void files_init(struct files *files, struct tree *tree,
		struct stream_set *streams, struct counters *counters)
{
	*files = (struct files){
			.tree = tree,
			.streams = streams,
			.counters = counters,
	};
	(void)pthread_mutex_init(&files->lock, NULL); /* Never fails. */
}

static void close_file(struct files *files, struct front_file *file)
{
	if (file->stream != NULL) {
		stream_file_close(file->stream);
	}
	object_unref(file->object);
	tree_close(files->tree, file->inode);
	free(file);
}

void files_finish(struct files *files)
{
	struct front_file *file;
	struct front_file *next;

	HASH_ITER (hh, files->by_inode, file, next) {
		HASH_DEL(files->by_inode, file);
		counters_sub(&files->counters->open_files, 1);
		close_file(files, file);
	}
	(void)pthread_mutex_destroy(&files->lock);
}

/* Takes over the tree's hold and the object's reference, also on failure. */
static int make_file(struct files *files, uint64_t inode, struct object *object,
		struct front_file **out_file)
{
	struct front_file *file = calloc(1, sizeof(*file));

	if (file == NULL) {
		object_unref(object);
		tree_close(files->tree, inode);
		return -ENOMEM;
	}
	file->inode = inode;
	file->size = object->size;
	file->object = object;
	atomic_init(&file->references, 1);
	int error = stream_file_open(files->streams, object, &file->stream);
	if (error != 0) {
		file->stream = NULL;
		close_file(files, file);
		return error;
	}
	*out_file = file;
	return 0;
}

/* References in the table are never 0, so that one more is always right. */
static struct front_file *find_locked(struct files *files, uint64_t inode)
{
	struct front_file *file = NULL;

	HASH_FIND(hh, files->by_inode, &inode, sizeof(inode), file);
	if (file != NULL) {
		files_ref(file);
	}
	return file;
}

struct front_file *files_find(struct files *files, uint64_t inode)
{
	LOCK_SCOPE(&files->lock);
	return find_locked(files, inode);
}

/* Puts the file into the table unless somebody was faster: then that one. */
static struct front_file *publish(
		struct files *files, struct front_file *file, bool *out_added)
{
	LOCK_SCOPE(&files->lock);
	struct front_file *other = find_locked(files, file->inode);

	*out_added = other == NULL;
	if (other != NULL) {
		return other;
	}
	HASH_ADD(hh, files->by_inode, inode, sizeof(file->inode), file);
	counters_add(&files->counters->open_files, 1);
	return file;
}

int files_open(struct files *files, uint64_t inode,
		struct front_file **out_file)
{
	struct object *object = NULL;
	struct front_file *made = NULL;
	bool added = false;

	/* The tree is asked also for an open file: the version may be known
	 * to be gone, and then the kernel must look the name up again. */
	int error = tree_open(files->tree, inode, &object);
	if (error != 0) {
		return error;
	}
	struct front_file *file = files_find(files, inode);
	if (file != NULL) {
		object_unref(object);
		tree_close(files->tree, inode);
		*out_file = file;
		return 0;
	}
	/* Opening reads the index, so it is done without the lock. */
	error = make_file(files, inode, object, &made);
	if (error != 0) {
		return error;
	}
	*out_file = publish(files, made, &added);
	if (!added) {
		close_file(files, made);
	}
	return 0;
}

void files_ref(struct front_file *file)
{
	atomic_fetch_add(&file->references, 1);
}

/* Drops one reference unless it is the last. */
static bool drop_not_last(struct front_file *file)
{
	unsigned count = atomic_load(&file->references);

	while (count > 1) {
		if (atomic_compare_exchange_weak(
				    &file->references, &count, count - 1)) {
			return true;
		}
	}
	return false;
}

void files_unref(struct files *files, struct front_file *file)
{
	if (drop_not_last(file)) {
		return;
	}
	{
		LOCK_SCOPE(&files->lock);
		if (atomic_fetch_sub(&file->references, 1) > 1) {
			return; /* Opened again meanwhile. */
		}
		HASH_DEL(files->by_inode, file);
		counters_sub(&files->counters->open_files, 1);
	}
	close_file(files, file);
}

void files_set_mode(const struct front_file *file, struct fuse_file_info *info)
{
	/* An inode is one version of an object: what the kernel has of it
	 * stays right. */
	info->keep_cache = 1;
	info->fh = (uint64_t)(uintptr_t)file;
}
