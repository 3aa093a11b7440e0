#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "file_store_private.h"
#include "store/object.h"

static int check_version(const struct object *object, int fd)
{
	struct stat status;
	if (fstat(fd, &status) < 0) {
		return -EIO;
	}
	char etag[FILE_ETAG_SIZE];
	file_etag(&status, etag);
	if (!S_ISREG(status.st_mode) ||
			!object_etag_equal(etag, object->etag)) {
		return -ESTALE;
	}
	return 0;
}

int file_open_version(int root_fd, const struct object *object)
{
	if (!file_key_valid(object->key)) {
		return -ESTALE;
	}
	/* O_NONBLOCK: a pipe put there since must not stop the thread. */
	const int fd = file_open_beneath(
			root_fd, object->key, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		const int error = file_store_error(fd);
		return error == -ENOENT ? -ESTALE : error;
	}
	const int error = check_version(object, fd);
	if (error < 0) {
		(void)close(fd); /* Nothing was written. */
		return error;
	}
	return fd;
}

/* -EIO also when there is less: the version tells whether it was cut. */
static int read_fully(int fd, uint64_t offset, char *buffer, size_t length)
{
	size_t done = 0;
	while (done < length) {
		const ssize_t count = pread(fd, buffer + done, length - done,
				(off_t)(offset + done));
		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count <= 0) {
			return -EIO;
		}
		done += (size_t)count;
	}
	return 0;
}

int file_read_version(int fd, const struct object *object, uint64_t offset,
		char *buffer, size_t length)
{
	const int read_error = read_fully(fd, offset, buffer, length);
	const int version_error = check_version(object, fd);
	return version_error < 0 ? version_error : read_error;
}
