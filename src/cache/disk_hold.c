#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/disk_private.h"

static bool has_size(int fd, uint64_t size)
{
	struct stat status;
	return fstat(fd, &status) == 0 && (uint64_t)status.st_size == size;
}

static int take_open(struct disk_object *object, struct disk_hold *out_hold)
{
	int fd = -1;
	int error = disk_files_acquire(object, false, &fd);
	if (error != 0) {
		return error;
	}
	if (!has_size(fd, object->identity.size)) {
		error = -ESTALE;
	} else if (!data_file_is_at(object->tier->dir.objects_fd,
				   object->identity.name, fd)) {
		error = -ENOENT; /* Removed by hand. */
	} else {
		error = data_file_lock_exclusive(fd);
	}
	if (error != 0) {
		disk_files_release(object);
		return error;
	}
	*out_hold = (struct disk_hold){.object = object, .fd = fd};
	return 0;
}

int disk_hold_take(struct disk_tier *tier, const uint8_t *name, uint64_t size,
		struct disk_hold *out_hold)
{
	struct disk_object *object = disk_object_find(tier, name);
	if (object != NULL) {
		int error = take_open(object, out_hold);
		if (error != 0) {
			disk_object_unref(object);
		}
		return error;
	}
	int fd = -1;
	int error = data_file_open(
			tier->dir.objects_fd, name, size, false, &fd);
	if (error != 0) {
		return error;
	}
	error = data_file_lock_exclusive(fd);
	if (error != 0) {
		(void)close(fd); /* Nothing was written. */
		return error;
	}
	*out_hold = (struct disk_hold){.object = NULL, .fd = fd};
	return 0;
}

void disk_hold_release(struct disk_hold *hold)
{
	if (hold->object == NULL) {
		(void)close(hold->fd); /* The lock goes with it. */
		return;
	}
	/* Going down never has to wait and cannot be refused. */
	(void)data_file_lock_shared(hold->fd);
	disk_files_release(hold->object);
	disk_object_unref(hold->object);
}
