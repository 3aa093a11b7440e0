#include "main/defaults.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MIB ((uint64_t)1 << 20)

/* Those that linux/magic.h does not have. */
#define CIFS_TYPE 0xFF534D42U
#define SMB2_TYPE 0xFE534D42U
#define LUSTRE_TYPE 0x0BD00BD0U
#define GPFS_TYPE 0x47504653U
#define BEEGFS_TYPE 0x19830326U

void defaults_user_read(struct defaults_user *user)
{
	*user = (struct defaults_user){
			.uid = getuid(),
			.xdg_cache_home = getenv("XDG_CACHE_HOME"),
			.home = getenv("HOME"),
	};
}

int defaults_cache_dir(const struct defaults_user *user, char **out_dir)
{
	char *dir = NULL;
	int length = -1;

	if (user->uid == 0) {
		length = asprintf(&dir, "/var/cache/shardfs");
	} else if (user->xdg_cache_home != NULL &&
			user->xdg_cache_home[0] == '/') {
		length = asprintf(&dir, "%s/shardfs", user->xdg_cache_home);
	} else if (user->home != NULL && user->home[0] == '/') {
		length = asprintf(&dir, "%s/.cache/shardfs", user->home);
	} else {
		return -ENOENT;
	}
	if (length < 0) {
		return -ENOMEM;
	}
	*out_dir = dir;
	return 0;
}

int defaults_cache_dir_second(uid_t uid, char **out_dir)
{
	char *dir = NULL;

	if (asprintf(&dir, "/var/tmp/shardfs-%u", uid) < 0) {
		return -ENOMEM;
	}
	*out_dir = dir;
	return 0;
}

enum defaults_place defaults_place_of_type(uint64_t f_type)
{
	switch (f_type & 0xFFFFFFFFU) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return PLACE_MEMORY;
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_TYPE:
	case SMB2_TYPE:
	case AFS_SUPER_MAGIC:
	case CODA_SUPER_MAGIC:
	case NCP_SUPER_MAGIC:
	case V9FS_MAGIC:
	case CEPH_SUPER_MAGIC:
	case LUSTRE_TYPE:
	case GPFS_TYPE:
	case BEEGFS_TYPE:
	case FUSE_SUPER_MAGIC:
		return PLACE_NETWORK;
	default:
		return PLACE_LOCAL;
	}
}

/* `path`, or the nearest directory above it that is there. */
static char *existing_part(const char *path)
{
	char *part = strdup(path);

	while (part != NULL && access(part, F_OK) != 0) {
		char *slash = strrchr(part, '/');

		if (slash == NULL || slash == part) {
			part[slash == part] = '\0';
			break;
		}
		*slash = '\0';
	}
	return part;
}

enum defaults_place defaults_place_of(const char *path)
{
	CLEANUP_FREE char *part = existing_part(path);
	struct statfs status;

	if (part == NULL || statfs(part, &status) != 0) {
		return PLACE_LOCAL;
	}
	return defaults_place_of_type((uint64_t)status.f_type);
}

int defaults_make_parents(const char *path)
{
	CLEANUP_FREE char *part = strdup(path);

	if (part == NULL) {
		return -ENOMEM;
	}
	for (char *c = strchr(part + 1, '/'); c != NULL;
			c = strchr(c + 1, '/')) {
		*c = '\0';
		if (mkdir(part, 0755) != 0 && errno != EEXIST) {
			return -errno;
		}
		*c = '/';
	}
	return 0;
}

int defaults_amount_bytes(const struct option_amount *amount, const char *path,
		uint64_t *out_bytes)
{
	CLEANUP_FREE char *part = existing_part(path);
	struct statvfs status;

	if (amount->percent == 0) {
		*out_bytes = amount->bytes;
		return 0;
	}
	if (part == NULL) {
		return -ENOMEM;
	}
	if (statvfs(part, &status) != 0) {
		return -errno;
	}
	*out_bytes = (uint64_t)status.f_blocks * status.f_frsize / 100 *
		     amount->percent;
	return 0;
}

uint64_t defaults_memory_bytes(uint64_t cgroup_limit)
{
	uint64_t quarter = cgroup_limit / 4;

	if (quarter < 16 * MIB) {
		return 16 * MIB;
	}
	return quarter < 1024 * MIB ? quarter : 1024 * MIB;
}
