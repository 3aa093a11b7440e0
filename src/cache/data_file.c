#include "cache/data_file_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cache/disk_fs_private.h"

#define OPEN_ATTEMPTS 4

void data_file_path(const uint8_t *name, char out[DATA_FILE_PATH_SIZE])
{
	char hex[2 * INDEX_NAME_SIZE + 1];
	digest_hex(name, INDEX_NAME_SIZE, hex);
	memcpy(out, hex, 2);
	out[2] = '/';
	memcpy(out + 3, hex, sizeof(hex));
}

int data_file_lock_exclusive(int fd)
{
	return disk_fs_lock(fd, F_WRLCK);
}

int data_file_lock_shared(int fd)
{
	return disk_fs_lock(fd, F_RDLCK);
}

bool data_file_is_at(int objects, const uint8_t *name, int fd)
{
	char path[DATA_FILE_PATH_SIZE];
	data_file_path(name, path);
	struct stat open_file;
	struct stat named;
	if (fstat(fd, &open_file) != 0 ||
			fstatat(objects, path, &named, AT_SYMLINK_NOFOLLOW) !=
					0) {
		return false;
	}
	return open_file.st_dev == named.st_dev &&
	       open_file.st_ino == named.st_ino;
}

bool data_file_has_bytes(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && status.st_blocks > 0;
}

/* A new file has no size yet: it is set at once and never again. */
static int settle_size(int fd, uint64_t size, bool create)
{
	struct stat status;
	if (fstat(fd, &status) != 0) {
		return -errno;
	}
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
		return -ESTALE;
	}
	if ((uint64_t)status.st_size == size) {
		return 0;
	}
	if (status.st_size != 0 || !create) {
		return -ESTALE;
	}
	if (fchmod(fd, 0600) != 0 || ftruncate(fd, (off_t)size) != 0) {
		return -errno;
	}
	return 0;
}

static int open_once(int objects, const char *path, bool create)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = openat(objects, path, flags | (create ? O_CREAT : 0), 0600);
	if (fd < 0 && errno == ENOENT && create) {
		char directory[3] = {path[0], path[1], '\0'};
		if (mkdirat(objects, directory, 0700) != 0 && errno != EEXIST) {
			return -errno;
		}
		fd = openat(objects, path, flags | O_CREAT, 0600);
	}
	if (fd >= 0) {
		return fd;
	}
	switch (errno) {
	case ELOOP:
	case EISDIR:
	case ENXIO:
	case EACCES:
	case EPERM:
		return -ESTALE;
	default:
		return -errno;
	}
}

int data_file_open(int objects, const uint8_t *name, uint64_t size, bool create,
		int *out_fd)
{
	char path[DATA_FILE_PATH_SIZE];
	data_file_path(name, path);
	for (int i = 0; i < OPEN_ATTEMPTS; i++) {
		int fd = open_once(objects, path, create);
		if (fd < 0) {
			return fd;
		}
		int error = data_file_lock_shared(fd);
		if (error == 0 && data_file_is_at(objects, name, fd)) {
			error = settle_size(fd, size, create);
			if (error == 0) {
				*out_fd = fd;
				return 0;
			}
		}
		(void)close(fd); /* Nothing was written. */
		if (error != 0) {
			return error;
		}
		/* It was unlinked between open and lock. */
	}
	return -EAGAIN;
}

int data_file_open_direct(int fd, int *out_fd)
{
	char path[32];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int direct = open(path, O_WRONLY | O_CLOEXEC | O_DIRECT);
	if (direct < 0) {
		return -errno;
	}
	*out_fd = direct;
	return 0;
}

int data_file_punch(int fd, uint64_t offset, uint64_t length)
{
	int flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	while (fallocate(fd, flags, (off_t)offset, (off_t)length) != 0) {
		if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

int data_file_unlink(int objects, const uint8_t *name)
{
	char path[DATA_FILE_PATH_SIZE];
	data_file_path(name, path);
	return unlinkat(objects, path, 0) == 0 ? 0 : -errno;
}

int data_file_unlink_unused(int objects, const uint8_t *name)
{
	char path[DATA_FILE_PATH_SIZE];
	data_file_path(name, path);
	CLEANUP_CLOSE int fd = open_once(objects, path, false);
	if (fd < 0) {
		return fd;
	}
	int error = data_file_lock_exclusive(fd);
	if (error == 0 && !data_file_is_at(objects, name, fd)) {
		error = -EAGAIN;
	}
	return error == 0 ? data_file_unlink(objects, name) : error;
}

int data_file_allocated(
		int fd, uint32_t chunk, uint64_t size, uint64_t *out_mask)
{
	uint64_t block_size = INDEX_CHUNK_BYTES / INDEX_CHUNK_BLOCKS;
	uint64_t start = (uint64_t)chunk * INDEX_CHUNK_BYTES;
	uint64_t end = start + INDEX_CHUNK_BYTES;
	if (end > size) {
		end = size;
	}
	uint64_t mask = 0;
	uint64_t at = start;
	while (at < end) {
		off_t data = lseek(fd, (off_t)at, SEEK_DATA);
		if (data < 0 && errno == ENXIO) {
			break;
		}
		off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
		if (hole < 0) {
			return -errno;
		}
		uint64_t first = (uint64_t)data;
		uint64_t stop = (uint64_t)hole < end ? (uint64_t)hole : end;
		for (uint64_t i = first / block_size * block_size; i < stop;
				i += block_size) {
			mask |= UINT64_C(1) << ((i - start) / block_size);
		}
		at = (uint64_t)hole;
	}
	*out_mask = mask;
	return 0;
}

int data_file_next_data(int fd, uint64_t offset, uint64_t *out_offset)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
	if (data < 0) {
		return -errno;
	}
	*out_offset = (uint64_t)data;
	return 0;
}

int data_file_stamp(int fd, struct data_file_stamp *out_stamp)
{
	struct stat status;
	if (fstat(fd, &status) != 0) {
		return -errno;
	}
	*out_stamp = (struct data_file_stamp){
			.device = status.st_dev,
			.inode = status.st_ino,
			.changed_ns = (int64_t)status.st_ctim.tv_sec *
						      1000000000 +
				      status.st_ctim.tv_nsec,
	};
	return 0;
}
