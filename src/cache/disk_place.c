#include "cache/disk_place_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cache/disk_fs_private.h"

/* Where DIR has other things in it. */
#define INNER_NAME "shardfs"

enum content { CONTENT_EMPTY, CONTENT_OURS, CONTENT_FOREIGN };

static int refuse(int error, const char *path, const char *reason,
		char *message, size_t message_size)
{
	(void)snprintf(message, message_size, "%s: %s", path, reason);
	return error;
}

static int refuse_errno(int error, const char *path, const char *what,
		char *message, size_t message_size)
{
	char text[128];
	(void)snprintf(message, message_size,
			"%s: cannot %s: %s; choose another with cache_dir",
			path, what, strerror_r(-error, text, sizeof(text)));
	return error;
}

/* The lock file marks a cache. An empty one is of a process that was killed
 * before it could write the mark, or is about to. */
static bool has_mark(int fd, bool *out_is_empty)
{
	CLEANUP_CLOSE int lock = openat(fd, "lock",
			O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (lock < 0) {
		return false;
	}
	char text[sizeof(DISK_PLACE_MARK)];
	ssize_t length = read(lock, text, sizeof(text));
	*out_is_empty = length == 0;
	return length == (ssize_t)strlen(DISK_PLACE_MARK) &&
	       memcmp(text, DISK_PLACE_MARK, (size_t)length) == 0;
}

/* What is in it beside `lock`. */
static int list_inside(int fd, bool *out_has_lock, bool *out_has_others)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	if (entries == NULL) {
		int error = -errno;
		if (copy >= 0) {
			(void)close(copy); /* Read-only. */
		}
		return error;
	}
	*out_has_lock = false;
	*out_has_others = false;
	const struct dirent *entry;
	while ((entry = readdir(entries)) != NULL) {
		const char *name = entry->d_name;
		if (strcmp(name, "lock") == 0) {
			*out_has_lock = true;
		} else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			*out_has_others = true;
		}
	}
	(void)closedir(entries); /* Read-only. */
	return 0;
}

/* Looks for the mark last: who makes a cache at this moment writes it before
 * anything that would look foreign. */
static int look_inside(int fd, enum content *out_content)
{
	bool has_lock = false;
	bool has_others = false;
	bool lock_is_empty = false;
	int error = list_inside(fd, &has_lock, &has_others);
	if (error != 0) {
		return error;
	}
	if (has_mark(fd, &lock_is_empty)) {
		*out_content = CONTENT_OURS;
	} else if (!has_others && (!has_lock || lock_is_empty)) {
		*out_content = CONTENT_EMPTY;
	} else {
		*out_content = CONTENT_FOREIGN;
	}
	return 0;
}

static int check_rights(int fd, const char *path, bool trust_network_fs,
		char *message, size_t message_size)
{
	struct stat status;
	if (fstat(fd, &status) != 0) {
		return refuse_errno(
				-errno, path, "use it", message, message_size);
	}
	if (status.st_uid != geteuid()) {
		return refuse(-EPERM, path,
				"the cache directory belongs to another user;"
				" choose your own with cache_dir",
				message, message_size);
	}
	if (faccessat(fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
		return refuse_errno(-errno, path,
				"write to the cache directory", message,
				message_size);
	}
	unsigned long magic = 0;
	int error = disk_fs_magic(fd, &magic);
	if (error != 0) {
		return refuse_errno(
				error, path, "use it", message, message_size);
	}
	const char *network = disk_fs_network_name(magic);
	if (network != NULL && !trust_network_fs) {
		(void)snprintf(message, message_size,
				"%s: the cache cannot be on a network file"
				" system (%s); choose a local directory with"
				" cache_dir",
				path, network);
		return -EREMOTE;
	}
	return 0;
}

/* Opens or makes the last component; never follows a link there. */
static int open_component(const char *path, char *message, size_t message_size)
{
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		return refuse_errno(-errno, path, "make the cache directory",
				message, message_size);
	}
	struct stat status;
	if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
		return refuse(-ELOOP, path,
				"the cache directory is a symbolic link; name"
				" the directory itself",
				message, message_size);
	}
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		return refuse_errno(-errno, path, "open the cache directory",
				message, message_size);
	}
	return fd;
}

/* One directory: opened, checked, and what is in it. */
static int try_place(const char *path, bool trust_network_fs, int *out_fd,
		enum content *out_content, char *message, size_t message_size)
{
	int fd = open_component(path, message, message_size);
	if (fd < 0) {
		return fd;
	}
	int error = check_rights(
			fd, path, trust_network_fs, message, message_size);
	if (error == 0) {
		error = look_inside(fd, out_content);
		if (error != 0) {
			(void)refuse_errno(error, path,
					"read the cache directory", message,
					message_size);
		}
	}
	if (error == 0 && *out_content != CONTENT_FOREIGN &&
			fchmod(fd, 0700) != 0) {
		error = refuse_errno(-errno, path, "close it to other users",
				message, message_size);
	}
	if (error != 0) {
		(void)close(fd); /* Read-only. */
		return error;
	}
	*out_fd = fd;
	return 0;
}

/* A path ending in a slash would follow a link in its last component. */
static int copy_path(const char *path, char *out, size_t size)
{
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/') {
		length--;
	}
	if (length + sizeof("/" INNER_NAME) > size) {
		return -ENAMETOOLONG;
	}
	memcpy(out, path, length);
	out[length] = '\0';
	return 0;
}

int disk_place_open(const char *path, bool trust_network_fs, int *out_fd,
		char *message, size_t message_size)
{
	char place[PATH_MAX];
	int error = copy_path(path, place, sizeof(place));
	if (error != 0) {
		return refuse_errno(error, path, "use the cache directory",
				message, message_size);
	}
	int fd = -1;
	enum content content = CONTENT_FOREIGN;
	error = try_place(place, trust_network_fs, &fd, &content, message,
			message_size);
	if (error == 0 && content == CONTENT_FOREIGN) {
		(void)close(fd); /* Read-only. */
		memcpy(place + strlen(place), "/" INNER_NAME,
				sizeof("/" INNER_NAME));
		error = try_place(place, trust_network_fs, &fd, &content,
				message, message_size);
		if (error == 0 && content == CONTENT_FOREIGN) {
			(void)close(fd); /* Read-only. */
			error = refuse(-ENOTEMPTY, place,
					"has other things in it; choose an"
					" empty directory with cache_dir",
					message, message_size);
		}
	}
	if (error != 0) {
		return error;
	}
	*out_fd = fd;
	return 0;
}

bool disk_place_is_poor(const char *path)
{
	char place[PATH_MAX];
	if (copy_path(path, place, sizeof(place)) != 0) {
		return false;
	}
	CLEANUP_CLOSE int fd = open(place, O_PATH | O_CLOEXEC);
	if (fd < 0) {
		char *slash = strrchr(place, '/');
		if (slash == NULL) {
			return false;
		}
		slash[slash == place ? 1 : 0] = '\0';
		fd = open(place, O_PATH | O_CLOEXEC);
	}
	unsigned long magic = 0;
	if (fd < 0 || disk_fs_magic(fd, &magic) != 0) {
		return false;
	}
	return disk_fs_network_name(magic) != NULL || disk_fs_is_memory(magic);
}
