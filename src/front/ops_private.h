#ifndef FRONT_OPS_PRIVATE_H
#define FRONT_OPS_PRIVATE_H

#include <fuse_lowlevel.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The handlers of libfuse, by file. Each request is answered once: inside the
 * handler or, when it must wait for the store, by the thread that completes
 * it (park_private.h).
 */
extern const struct fuse_lowlevel_ops ops_table;

/* init.c */
void ops_init(void *userdata, struct fuse_conn_info *connection);

/* ops_names.c */
void ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_forget(fuse_req_t req, fuse_ino_t inode, uint64_t count);
void ops_forget_multi(
		fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void ops_getattr(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info);
void ops_access(fuse_req_t req, fuse_ino_t inode, int mask);
void ops_statfs(fuse_req_t req, fuse_ino_t inode);

/* ops_dir.c */
void ops_opendir(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info);
void ops_readdir(fuse_req_t req, fuse_ino_t inode, size_t size, off_t offset,
		struct fuse_file_info *info);
void ops_readdirplus(fuse_req_t req, fuse_ino_t inode, size_t size,
		off_t offset, struct fuse_file_info *info);
void ops_releasedir(
		fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info);

/* ops_file.c */
void ops_open(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info);
void ops_read(fuse_req_t req, fuse_ino_t inode, size_t size, off_t offset,
		struct fuse_file_info *info);
void ops_release(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info);

/* ops_xattr.c */
void ops_getxattr(fuse_req_t req, fuse_ino_t inode, const char *name,
		size_t size);
void ops_listxattr(fuse_req_t req, fuse_ino_t inode, size_t size);

/* ops_refuse.c: everything that writes. */
void ops_setattr(fuse_req_t req, fuse_ino_t inode, struct stat *attr,
		int to_set, struct fuse_file_info *info);
void ops_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		dev_t device);
void ops_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		mode_t mode);
void ops_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_symlink(fuse_req_t req, const char *target, fuse_ino_t parent,
		const char *name);
void ops_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
		fuse_ino_t new_parent, const char *new_name, unsigned flags);
void ops_link(fuse_req_t req, fuse_ino_t inode, fuse_ino_t new_parent,
		const char *new_name);
void ops_write(fuse_req_t req, fuse_ino_t inode, const char *data, size_t size,
		off_t offset, struct fuse_file_info *info);
void ops_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		mode_t mode, struct fuse_file_info *info);
void ops_setxattr(fuse_req_t req, fuse_ino_t inode, const char *name,
		const char *value, size_t size, int flags);
void ops_removexattr(fuse_req_t req, fuse_ino_t inode, const char *name);
void ops_fallocate(fuse_req_t req, fuse_ino_t inode, int mode, off_t offset,
		off_t length, struct fuse_file_info *info);
void ops_copy_file_range(fuse_req_t req, fuse_ino_t inode_in, off_t offset_in,
		struct fuse_file_info *info_in, fuse_ino_t inode_out,
		off_t offset_out, struct fuse_file_info *info_out,
		size_t length, int flags);

#endif
