#include "cache/disk_dir_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cache/disk_fs_private.h"
#include "cache/disk_place_private.h"

#define LOCK_WAIT_MS 10000
#define LOCK_POLL_MS 20
#define SET_ASIDE_ATTEMPTS 100

static char *real_path(int fd)
{
	char link[32];
	char path[PATH_MAX];
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	if (length < 0) {
		return NULL;
	}
	path[length] = '\0';
	return strdup(path);
}

/*
 * No condition tells when another process gives up a lock, so this one looks
 * again now and then. The exclusive lock is held only while an index is made.
 */
static int take_lock(struct disk_dir *dir)
{
	uint64_t deadline_ms = clock_monotonic_ms() + LOCK_WAIT_MS;
	for (;;) {
		int error = disk_fs_lock(dir->lock_fd, F_WRLCK);
		dir->alone = error == 0;
		if (error == -EAGAIN) {
			error = disk_fs_lock(dir->lock_fd, F_RDLCK);
		}
		if (error != -EAGAIN) {
			return error;
		}
		if (clock_monotonic_ms() >= deadline_ms) {
			return -EBUSY;
		}
		struct timespec pause = {.tv_nsec = LOCK_POLL_MS * 1000000L};
		(void)nanosleep(&pause, NULL); /* Early is fine. */
	}
}

static int write_mark(int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0) {
		return -errno;
	}
	if (status.st_size != 0) {
		return 0;
	}
	size_t length = strlen(DISK_PLACE_MARK);
	ssize_t written = pwrite(fd, DISK_PLACE_MARK, length, 0);
	if (written < 0) {
		return -errno;
	}
	return (size_t)written == length ? 0 : -ENOSPC;
}

int disk_dir_open(struct disk_dir *dir, int fd)
{
	*dir = DISK_DIR_INIT;
	dir->fd = fd;
	dir->path = real_path(fd);
	int error = dir->path == NULL ? -ENOMEM : 0;
	if (error == 0) {
		dir->lock_fd = openat(fd, "lock",
				O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
						O_NONBLOCK,
				0600);
		error = dir->lock_fd < 0 ? -errno : 0;
	}
	if (error == 0 && fchmod(dir->lock_fd, 0600) != 0) {
		error = -errno;
	}
	if (error == 0) {
		error = take_lock(dir);
	}
	if (error == 0 && dir->alone) {
		error = write_mark(dir->lock_fd);
	}
	if (error != 0) {
		disk_dir_finish(dir);
	}
	return error;
}

static void close_one(int *fd)
{
	if (*fd >= 0) {
		(void)close(*fd); /* Nothing of worth was written. */
	}
	*fd = -1;
}

void disk_dir_finish(struct disk_dir *dir)
{
	close_one(&dir->holders_fd);
	close_one(&dir->objects_fd);
	close_one(&dir->lock_fd);
	close_one(&dir->fd);
	free(dir->path);
	dir->path = NULL;
}

int disk_dir_share(struct disk_dir *dir)
{
	dir->alone = false;
	return disk_fs_lock(dir->lock_fd, F_RDLCK);
}

char *disk_dir_index_path(const struct disk_dir *dir, const char *version)
{
	char *path = NULL;
	if (asprintf(&path, "%s/%s/index.sqlite", dir->path, version) < 0) {
		return NULL;
	}
	return path;
}

static int rename_aside(const struct disk_dir *dir, const char *name)
{
	unsigned long long seconds = clock_wall_ms() / 1000;
	for (unsigned i = 0; i < SET_ASIDE_ATTEMPTS; i++) {
		char bad[48];
		(void)snprintf(bad, sizeof(bad), "v1.bad-%llu", seconds + i);
		if (renameat2(dir->fd, name, dir->fd, bad, RENAME_NOREPLACE) ==
				0) {
			return 0;
		}
		if (errno != EEXIST) {
			return errno == ENOENT ? 0 : -errno;
		}
	}
	return -EEXIST;
}

int disk_dir_set_aside(struct disk_dir *dir)
{
	return rename_aside(dir, "v1");
}

int disk_dir_begin_index(struct disk_dir *dir, uint64_t limit_bytes)
{
	int error = rename_aside(dir, "v1.new");
	if (error != 0) {
		return error;
	}
	CLEANUP_CLOSE int version_fd = -1;
	error = disk_fs_make_dir(dir->fd, "v1.new", &version_fd);
	if (error != 0) {
		return error;
	}
	/* SQLite gives the log the mode of the database. */
	int file = openat(version_fd, "index.sqlite",
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	if (file < 0) {
		return -errno;
	}
	error = fchmod(file, 0600) == 0 ? 0 : -errno;
	(void)close(file); /* It is empty. */
	CLEANUP_FREE char *path = disk_dir_index_path(dir, "v1.new");
	if (path == NULL) {
		return -ENOMEM;
	}
	if (error == 0) {
		error = index_create(path, limit_bytes);
	}
	if (error == 0 && renameat(dir->fd, "v1.new", dir->fd, "v1") != 0) {
		error = -errno;
	}
	return error;
}

bool disk_dir_has_index(const struct disk_dir *dir)
{
	struct stat status;
	return fstatat(dir->fd, "v1", &status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool disk_dir_is_distrusted(const struct disk_dir *dir)
{
	struct stat status;
	return fstatat(dir->fd, "v1/distrusted", &status,
			       AT_SYMLINK_NOFOLLOW) == 0;
}

void disk_dir_distrust(const struct disk_dir *dir)
{
	int fd = openat(dir->fd, "v1/distrusted",
			O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		(void)close(fd); /* Without it the next user finds out too. */
	}
}

int disk_dir_enter(struct disk_dir *dir)
{
	CLEANUP_CLOSE int version_fd = openat(dir->fd, "v1",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (version_fd < 0) {
		return errno == ENOENT ? -ENOENT : -EUCLEAN;
	}
	if (fchmod(version_fd, 0700) != 0) {
		return -errno;
	}
	struct stat status;
	if (fstatat(version_fd, "index.sqlite", &status, AT_SYMLINK_NOFOLLOW) !=
					0 ||
			!S_ISREG(status.st_mode) || status.st_size == 0) {
		return -EUCLEAN;
	}
	/* Not by opening them: closing would drop the locks of SQLite. */
	static const char *const files[] = {
			"index.sqlite", "index.sqlite-wal", "index.sqlite-shm"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (fchmodat(version_fd, files[i], 0600, 0) != 0 &&
				errno != ENOENT) {
			return -errno;
		}
	}
	int error = disk_fs_make_dir(version_fd, "objects", &dir->objects_fd);
	if (error == 0) {
		error = disk_fs_make_dir(
				version_fd, "holders", &dir->holders_fd);
	}
	return error == -ENOTDIR || error == -ELOOP ? -EUCLEAN : error;
}

uint64_t disk_dir_log_bytes(const struct disk_dir *dir)
{
	struct stat status;
	if (fstatat(dir->fd, "v1/index.sqlite-wal", &status,
			    AT_SYMLINK_NOFOLLOW) != 0) {
		return 0;
	}
	return (uint64_t)status.st_size;
}

static bool same_file(int fd, int parent, const char *path)
{
	struct stat open_file;
	struct stat named;
	return fstat(fd, &open_file) == 0 &&
	       fstatat(parent, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       open_file.st_dev == named.st_dev &&
	       open_file.st_ino == named.st_ino;
}

bool disk_dir_is_in_place(const struct disk_dir *dir)
{
	return same_file(dir->fd, AT_FDCWD, dir->path) &&
	       same_file(dir->lock_fd, dir->fd, "lock") &&
	       same_file(dir->objects_fd, dir->fd, "v1/objects");
}

bool disk_dir_is_on_root(const struct disk_dir *dir)
{
	struct stat here;
	struct stat root;
	return fstat(dir->fd, &here) == 0 && stat("/", &root) == 0 &&
	       here.st_dev == root.st_dev;
}

int disk_dir_make_holder(
		const struct disk_dir *dir, const char *holder, int *out_fd)
{
	int fd = openat(dir->holders_fd, holder,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	if (fd < 0) {
		return -errno;
	}
	int error = fchmod(fd, 0600) == 0 ? 0 : -errno;
	if (error == 0) {
		error = disk_fs_lock(fd, F_WRLCK);
	}
	if (error != 0) {
		(void)close(fd); /* It is empty. */
		disk_dir_remove_holder(dir, holder);
		return error;
	}
	*out_fd = fd;
	return 0;
}

bool disk_dir_holder_is_dead(const struct disk_dir *dir, const char *holder)
{
	CLEANUP_CLOSE int fd = openat(dir->holders_fd, holder,
			O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return errno == ENOENT;
	}
	return disk_fs_lock(fd, F_WRLCK) == 0;
}

void disk_dir_remove_holder(const struct disk_dir *dir, const char *holder)
{
	(void)unlinkat(dir->holders_fd, holder, 0); /* Or it is gone. */
}
