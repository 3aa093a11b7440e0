#include <errno.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "cache/disk_private.h"

/*
 * Descriptors of data files. An open object may have none; those that nobody
 * uses are closed when the pool is full, least recently used first. With the
 * descriptor goes the lock, so a file that is opened again is compared with
 * the index: another process may have made holes meanwhile.
 *
 *   closed --acquire--> opening --> open, used <--> open, idle --> closed
 */

int disk_files_init(struct disk_files *files, size_t max_count)
{
	*files = (struct disk_files){.max_count = max_count};
	if (pthread_mutex_init(&files->lock, NULL) != 0) {
		return -ENOMEM;
	}
	if (pthread_cond_init(&files->opened, NULL) != 0) {
		(void)pthread_mutex_destroy(&files->lock); /* Unused. */
		return -ENOMEM;
	}
	return 0;
}

void disk_files_finish(struct disk_files *files)
{
	(void)pthread_cond_destroy(&files->opened);
	(void)pthread_mutex_destroy(&files->lock); /* No thread is left. */
}

struct descriptors {
	int fd, direct_fd;
};

static void close_descriptors(const struct descriptors *descriptors)
{
	if (descriptors->direct_fd >= 0) {
		(void)close(descriptors->direct_fd);
	}
	if (descriptors->fd >= 0) {
		(void)close(descriptors->fd); /* Writes were checked. */
	}
}

/* Takes the descriptors out of the pool; the caller closes them unlocked. */
static struct descriptors detach_locked(struct disk_object *object)
{
	struct disk_files *files = &object->tier->files;
	struct descriptors descriptors = {object->fd, object->direct_fd};
	if (object->fd >= 0) {
		object->has_stamp = !object->discard &&
				    data_file_stamp(object->fd,
						    &object->stamp) == 0;
		DL_DELETE(files->list, object);
		files->count--;
	}
	object->fd = -1;
	object->direct_fd = -1;
	object->discard = false;
	return descriptors;
}

/* Makes room for one more; -EMFILE when all are in use. */
static int make_room_locked(
		struct disk_files *files, struct descriptors *out_closed)
{
	if (files->count < files->max_count) {
		return 0;
	}
	struct disk_object *object;
	DL_FOREACH (files->list, object) {
		if (object->users == 0) {
			*out_closed = detach_locked(object);
			return 0;
		}
	}
	return -EMFILE;
}

/* Compares what this process remembers of the object with the index, now that
 * the lock keeps both as they are. */
static int revalidate(struct disk_object *object, int fd, bool create)
{
	struct disk_tier *tier = object->tier;
	struct index_object row = {.id = 0};
	bool is_lost = false;
	int error;
	{
		LOCK_SCOPE(&tier->reader_lock);
		error = index_find_object(
				tier->reader, &object->identity, &row);
		is_lost = error == 0 &&
			  disk_evict_is_lost(tier->reader, &row, fd);
	}
	if (is_lost) {
		return -ESTALE;
	}
	if (error == -ENOENT && create) {
		/* Evicted since its row was made: it needs another. */
		(void)disk_object_load(object, &row); /* There are none. */
		return -EAGAIN;
	}
	if (error != 0 && error != -ENOENT) {
		return error;
	}
	struct index_object known = disk_object_row(object);
	if (row.id != known.id || row.generation != known.generation) {
		return disk_object_load(object, &row);
	}
	struct data_file_stamp stamp;
	bool untouched = object->has_stamp &&
			 data_file_stamp(fd, &stamp) == 0 &&
			 stamp.device == object->stamp.device &&
			 stamp.inode == object->stamp.inode &&
			 stamp.changed_ns == object->stamp.changed_ns;
	for (uint32_t i = 0; !untouched && i < object->chunk_count; i++) {
		atomic_store(&object->chunks[i].checked, 0);
	}
	return 0;
}

static int open_file(struct disk_object *object, bool create, int *out_fd)
{
	struct disk_tier *tier = object->tier;
	int fd = -1;
	int error = data_file_open(tier->dir.objects_fd, object->identity.name,
			object->identity.size, create, &fd);
	if (error == 0) {
		error = revalidate(object, fd, create);
		disk_tier_judge_index(tier, error);
	}
	if (error == -ENOENT || error == -ESTALE) {
		disk_object_clear(object);
		disk_evict_forget_later(object);
	}
	if (error == 0) {
		*out_fd = fd;
	} else if (fd >= 0) {
		(void)close(fd); /* Nothing was written. */
	}
	return error;
}

int disk_files_acquire(struct disk_object *object, bool create, int *out_fd)
{
	struct disk_files *files = &object->tier->files;
	struct descriptors closed = {-1, -1};
	(void)pthread_mutex_lock(&files->lock);
	while (object->opening) {
		(void)pthread_cond_wait(&files->opened, &files->lock);
	}
	if (object->fd >= 0) {
		object->users++;
		DL_DELETE(files->list, object);
		DL_APPEND(files->list, object);
		*out_fd = object->fd;
		(void)pthread_mutex_unlock(&files->lock);
		return 0;
	}
	int error = make_room_locked(files, &closed);
	if (error != 0) {
		(void)pthread_mutex_unlock(&files->lock);
		return error;
	}
	object->opening = true;
	files->count++;
	(void)pthread_mutex_unlock(&files->lock);

	close_descriptors(&closed);
	int fd = -1;
	error = open_file(object, create, &fd);

	LOCK_SCOPE(&files->lock);
	object->opening = false;
	(void)pthread_cond_broadcast(&files->opened);
	if (error != 0) {
		files->count--;
		return error;
	}
	object->fd = fd;
	object->users++;
	DL_APPEND(files->list, object);
	*out_fd = fd;
	return 0;
}

void disk_files_release(struct disk_object *object)
{
	struct descriptors closed = {-1, -1};
	{
		LOCK_SCOPE(&object->tier->files.lock);
		object->users--;
		if (object->users == 0 && object->discard) {
			closed = detach_locked(object);
		}
	}
	close_descriptors(&closed);
}

void disk_files_hold(struct disk_object *object)
{
	LOCK_SCOPE(&object->tier->files.lock);
	object->users++;
}

int disk_files_direct(struct disk_object *object)
{
	struct disk_files *files = &object->tier->files;
	LOCK_SCOPE(&files->lock);
	if (object->direct_fd < 0 && !files->no_direct) {
		int error = data_file_open_direct(
				object->fd, &object->direct_fd);
		files->no_direct = error == -EINVAL;
	}
	return object->direct_fd;
}

void disk_files_discard(struct disk_object *object)
{
	struct descriptors closed = {-1, -1};
	{
		LOCK_SCOPE(&object->tier->files.lock);
		object->discard = object->fd >= 0;
		object->has_stamp = false;
		if (object->users == 0) {
			closed = detach_locked(object);
		}
	}
	close_descriptors(&closed);
}

void disk_files_close(struct disk_object *object)
{
	struct descriptors closed;
	{
		LOCK_SCOPE(&object->tier->files.lock);
		closed = detach_locked(object);
	}
	close_descriptors(&closed);
}
