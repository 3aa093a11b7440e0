#include "unmount_private.h"

#include <errno.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static int unmount_by_helper(const char *path)
{
	char *const argv[] = {"fusermount3", "-u", "-z", "-q", "--",
			(char *)path, NULL};
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

int unmount_lazily(const char *path)
{
	if (umount2(path, MNT_FORCE | MNT_DETACH) == 0) {
		return 0;
	}
	return errno == EPERM ? unmount_by_helper(path) : -errno;
}
