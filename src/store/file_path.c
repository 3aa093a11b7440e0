#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "file_store_private.h"

#define SETTLED_NS INT64_C(2000000000)
#define RESOLVE_ATTEMPTS 16

int file_open_root(const struct file_root *root)
{
	const int fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return -EIO;
	}
	struct stat status;
	if (fstat(fd, &status) < 0 || status.st_dev != root->device) {
		(void)close(fd); /* An O_PATH descriptor has no data. */
		return -EIO;
	}
	return fd;
}

int file_open_beneath(int root_fd, const char *path, uint64_t flags)
{
	const struct open_how how = {
			.flags = flags | O_CLOEXEC,
			.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	/* EAGAIN: a rename at the same time, so that "beneath" could not be
	 * proved. */
	for (int i = 0; i < RESOLVE_ATTEMPTS; i++) {
		const long fd = syscall(SYS_openat2, root_fd,
				path[0] == '\0' ? "." : path, &how,
				sizeof(how));
		if (fd >= 0) {
			return (int)fd;
		}
		if (errno != EAGAIN && errno != EINTR) {
			return -errno;
		}
	}
	return -EIO;
}

bool file_key_valid(const char *key)
{
	const char *component = key;
	while (*component != '\0') {
		const size_t length = strcspn(component, "/");
		if (length == 0 || (length == 1 && component[0] == '.') ||
				(length == 2 && component[0] == '.' &&
						component[1] == '.')) {
			return false;
		}
		component += length;
		if (*component == '/') {
			component++;
		}
	}
	return true;
}

int file_store_error(int error)
{
	switch (-error) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case EXDEV: /* A link that leaves the directory. */
	case ENAMETOOLONG:
		return -ENOENT;
	case EACCES:
	case EPERM:
		return -EACCES;
	default:
		return -EIO;
	}
}

void file_etag(const struct stat *status, char etag[FILE_ETAG_SIZE])
{
	snprintf(etag, FILE_ETAG_SIZE, "W/\"%jx-%jx.%lx\"",
			(uintmax_t)status->st_size,
			(uintmax_t)status->st_mtim.tv_sec,
			status->st_mtim.tv_nsec);
}

/* A time ahead of ours is unsettled too: the server's clock may be. */
bool file_unsettled(const struct stat *status)
{
	const int64_t now_ns = (int64_t)clock_wall_ms() * 1000000;
	const int64_t mtime_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 +
				 status->st_mtim.tv_nsec;
	return now_ns - mtime_ns < SETTLED_NS;
}
