#include "ops_private.h"

#include <errno.h>

/* The mount is read-only: refused at once, whatever the arguments. The kernel
 * does that itself on a mount that is `ro`; who mounts through /dev/fd/N may
 * have forgotten it. */

static void refuse(fuse_req_t req)
{
	(void)fuse_reply_err(req, EROFS); /* Nobody waits if this fails. */
}

void ops_setattr(fuse_req_t req, fuse_ino_t inode, struct stat *attr,
		int to_set, struct fuse_file_info *info)
{
	refuse(req);
}

void ops_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		dev_t device)
{
	refuse(req);
}

void ops_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	refuse(req);
}

void ops_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	refuse(req);
}

void ops_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	refuse(req);
}

void ops_symlink(fuse_req_t req, const char *target, fuse_ino_t parent,
		const char *name)
{
	refuse(req);
}

void ops_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
		fuse_ino_t new_parent, const char *new_name, unsigned flags)
{
	refuse(req);
}

void ops_link(fuse_req_t req, fuse_ino_t inode, fuse_ino_t new_parent,
		const char *new_name)
{
	refuse(req);
}

void ops_write(fuse_req_t req, fuse_ino_t inode, const char *data, size_t size,
		off_t offset, struct fuse_file_info *info)
{
	refuse(req);
}

void ops_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		mode_t mode, struct fuse_file_info *info)
{
	refuse(req);
}

void ops_setxattr(fuse_req_t req, fuse_ino_t inode, const char *name,
		const char *value, size_t size, int flags)
{
	refuse(req);
}

void ops_removexattr(fuse_req_t req, fuse_ino_t inode, const char *name)
{
	refuse(req);
}

void ops_fallocate(fuse_req_t req, fuse_ino_t inode, int mode, off_t offset,
		off_t length, struct fuse_file_info *info)
{
	refuse(req);
}

void ops_copy_file_range(fuse_req_t req, fuse_ino_t inode_in, off_t offset_in,
		struct fuse_file_info *info_in, fuse_ino_t inode_out,
		off_t offset_out, struct fuse_file_info *info_out,
		size_t length, int flags)
{
	refuse(req);
}
