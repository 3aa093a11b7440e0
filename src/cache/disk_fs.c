#include "cache/disk_fs_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RAMFS_MAGIC 0x858458f6
#define TMPFS_MAGIC 0x01021994

const char *disk_fs_network_name(unsigned long magic)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} network[] = {
			{0x00006969, "NFS"},
			{0x0000517b, "SMB"},
			{0xff534d42, "CIFS"},
			{0xfe534d42, "SMB"},
			{0x65735546, "FUSE"},
			{0x01021997, "9p"},
			{0x00c36400, "Ceph"},
			{0x0bd00bd0, "Lustre"},
			{0x47504653, "GPFS"},
			{0x19830326, "BeeGFS"},
			{0x5346414f, "AFS"},
			{0x6b414653, "AFS"},
			{0x73757245, "Coda"},
			{0x0000564c, "NCP"},
			{0x20030528, "OrangeFS"},
			{0x01161970, "GFS2"},
			{0x7461636f, "OCFS2"},
	};
	for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++) {
		if (network[i].magic == magic) {
			return network[i].name;
		}
	}
	return NULL;
}

bool disk_fs_is_memory(unsigned long magic)
{
	return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
}

int disk_fs_magic(int fd, unsigned long *out_magic)
{
	struct statfs status;
	if (fstatfs(fd, &status) != 0) {
		return -errno;
	}
	*out_magic = (unsigned long)status.f_type & 0xffffffffUL;
	return 0;
}

int disk_fs_lock(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
		return 0;
	}
	return errno == EACCES ? -EAGAIN : -errno;
}

int disk_fs_make_dir(int parent, const char *name, int *out_fd)
{
	bool made = mkdirat(parent, name, 0700) == 0;
	if (!made && errno != EEXIST) {
		return -errno;
	}
	int fd = openat(parent, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	if (fchmod(fd, 0700) != 0) { /* Whatever the umask, or the owner did. */
		int error = -errno;
		(void)close(fd); /* Read-only. */
		return error;
	}
	*out_fd = fd;
	return 0;
}
