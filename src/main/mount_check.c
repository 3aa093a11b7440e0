#include "main/mount_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "main/mountinfo.h"
#include "main/text_file.h"

/* How long a mount in the way may take to answer. */
#define ASK_MS 5000
#define FUSE_CONF_LIMIT ((size_t)1 << 16)

bool mount_check_is_descriptor(const char *mountpoint)
{
	const char *number = mountpoint + strlen("/dev/fd/");

	return strncmp(mountpoint, "/dev/fd/", strlen("/dev/fd/")) == 0 &&
	       number[0] != '\0' &&
	       number[strspn(number, "0123456789")] == '\0';
}

int mount_check_descriptor(const char *mountpoint)
{
	if (!mount_check_is_descriptor(mountpoint)) {
		return -1;
	}
	const unsigned long number =
			strtoul(mountpoint + strlen("/dev/fd/"), NULL, 10);

	return number <= INT_MAX ? (int)number : -1;
}

/* An ordinary user's lazy unmount. */
static int unmount_by_helper(const char *mountpoint)
{
	char *const argv[] = {"fusermount3", "-u", "-z", "--",
			(char *)mountpoint, NULL};
	pid_t child = 0;
	int status = 0;
	int error = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);

	if (error != 0) {
		return -error;
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			return -errno;
		}
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

static int unmount_lazily(const char *mountpoint)
{
	if (umount2(mountpoint, MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
		return 0;
	}
	return errno == EPERM ? unmount_by_helper(mountpoint) : -errno;
}

/*
 * Whether nobody serves the mount any more: then its root is ENOTCONN at once.
 * A process of its own asks, since a daemon that hangs would hold it. Called
 * before any thread exists.
 */
static bool is_dead(const char *mountpoint)
{
	struct statfs status;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return false;
	}
	pid_t child = fork();

	if (child == 0) {
		/* A stat may be answered from the kernel's own memory. */
		int error = statfs(mountpoint, &status) != 0 ? errno : 0;

		/* The second for what was asked while the daemon died. */
		_exit(error == ENOTCONN || error == ECONNABORTED);
	}
	(void)close(ends[1]);
	struct pollfd wait = {.fd = ends[0], .events = POLLIN};
	int result = 0;

	/* The pipe ends with the child, which may not even be killable. */
	bool ended = child > 0 && poll(&wait, 1, ASK_MS) == 1;

	(void)close(ends[0]);
	if (child > 0 && !ended) {
		(void)kill(child, SIGKILL);
	}
	return ended && waitpid(child, &result, 0) == child &&
	       WIFEXITED(result) && WEXITSTATUS(result) == 1;
}

static int take_over(const char *mountpoint, const char *source, char *message,
		size_t message_size)
{
	if (!is_dead(mountpoint)) {
		(void)snprintf(message, message_size,
				"%s: already a mount of shardfs (%s); unmount "
				"it first: fusermount3 -u %s",
				mountpoint, source, mountpoint);
		return -EBUSY;
	}
	int error = unmount_lazily(mountpoint);

	if (error != 0) {
		(void)snprintf(message, message_size,
				"%s: a dead mount is in the way (%s); take it "
				"off: fusermount3 -uz %s (root: umount -l)",
				mountpoint, strerror(-error), mountpoint);
	}
	return error;
}

/* Takes dead mounts of shardfs off, refuses a live one. */
static int clear_mounts(
		const char *mountpoint, char *message, size_t message_size)
{
	/* Dead mounts may lie on top of each other. */
	for (int round = 0; round < 16; round++) {
		CLEANUP_FREE char *text = NULL;
		struct mountinfo info;
		int error = mountinfo_read(&text);

		if (error == 0) {
			error = mountinfo_find(text, mountpoint, false, &info);
		}
		if (error == -ENOENT) {
			return 0;
		}
		if (error != 0) {
			(void)snprintf(message, message_size,
					"/proc/self/mountinfo: %s",
					strerror(-error));
			return error;
		}
		bool ours = strcmp(info.type, "fuse.shardfs") == 0;

		if (ours) {
			error = take_over(mountpoint, info.source, message,
					message_size);
		}
		mountinfo_finish(&info);
		if (!ours || error != 0) {
			return error;
		}
	}
	return 0;
}

static bool has_entries(const char *path)
{
	DIR *dir = opendir(path);
	bool found = false;

	if (dir == NULL) {
		return false;
	}
	for (const struct dirent *entry = readdir(dir); entry != NULL && !found;
			entry = readdir(dir)) {
		found = strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0;
	}
	(void)closedir(dir);
	return found;
}

int mount_check_directory(const char *mountpoint, bool *out_not_empty,
		char *message, size_t message_size)
{
	struct stat status;
	int error = clear_mounts(mountpoint, message, message_size);

	if (error != 0) {
		return error;
	}
	if (stat(mountpoint, &status) != 0) {
		error = -errno;
		(void)snprintf(message, message_size, "%s: %s%s%s", mountpoint,
				strerror(-error),
				error == -ENOENT ? "; make it first: mkdir "
						 : "",
				error == -ENOENT ? mountpoint : "");
		return error;
	}
	if (!S_ISDIR(status.st_mode)) {
		(void)snprintf(message, message_size,
				"%s: not a directory; a mount point has to be "
				"one",
				mountpoint);
		return -ENOTDIR;
	}
	*out_not_empty = has_entries(mountpoint);
	return 0;
}

/* Whether `path` is `dir` or below it. */
static bool is_inside(const char *path, const char *dir)
{
	size_t length = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return strncmp(path, dir, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

int mount_check_source(const char *source, const char *mountpoint,
		char *message, size_t message_size)
{
	const size_t scheme = strlen("file://");

	if (strncasecmp(source, "file://", scheme) != 0) {
		return 0;
	}
	CLEANUP_FREE char *dir = realpath(source + scheme, NULL);

	if (dir == NULL || (!is_inside(mountpoint, dir) &&
					   !is_inside(dir, mountpoint))) {
		return 0; /* What is not there is told by the store. */
	}
	(void)snprintf(message, message_size,
			"%s: the mount would lie over its own source %s; mount "
			"it beside",
			mountpoint, source);
	return -ELOOP;
}

int mount_check_device(char *message, size_t message_size)
{
	CLEANUP_CLOSE int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		return 0;
	}
	int error = -errno;

	if (error == -ENOENT || error == -ENODEV || error == -ENXIO) {
		(void)snprintf(message, message_size,
				"/dev/fuse: %s; run modprobe fuse, or start "
				"the container with --device /dev/fuse",
				strerror(-error));
	} else {
		(void)snprintf(message, message_size,
				"/dev/fuse: %s; chmod 0666 it, or start the "
				"container with --device /dev/fuse",
				strerror(-error));
	}
	return error;
}

int mount_check_allow_other(bool is_root, const char *conf_path, char *message,
		size_t message_size)
{
	CLEANUP_FREE char *text = NULL;

	if (is_root) {
		return 0;
	}
	if (text_file_read(conf_path, FUSE_CONF_LIMIT, &text) == 0) {
		char *cursor = text;
		const char *line = text_file_next_line(&cursor);

		while (line != NULL) {
			if (strcmp(line, "user_allow_other") == 0) {
				return 0;
			}
			line = text_file_next_line(&cursor);
		}
	}
	(void)snprintf(message, message_size,
			"allow_other: only root may; or root adds a line "
			"user_allow_other to %s",
			conf_path);
	return -EPERM;
}
