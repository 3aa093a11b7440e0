#include "ops_private.h"

/*
 * Not here, so that the kernel stops asking and does it by itself: flush,
 * fsync, fsyncdir, lseek (SEEK_HOLE is the end), poll, ioctl, and flock and
 * POSIX locks, which stay local.
 */
const struct fuse_lowlevel_ops ops_table = {
		.init = ops_init,
		.lookup = ops_lookup,
		.forget = ops_forget,
		.forget_multi = ops_forget_multi,
		.getattr = ops_getattr,
		.access = ops_access,
		.statfs = ops_statfs,
		.opendir = ops_opendir,
		.readdir = ops_readdir,
		.readdirplus = ops_readdirplus,
		.releasedir = ops_releasedir,
		.open = ops_open,
		.read = ops_read,
		.release = ops_release,
		.getxattr = ops_getxattr,
		.listxattr = ops_listxattr,
		.setattr = ops_setattr,
		.mknod = ops_mknod,
		.mkdir = ops_mkdir,
		.unlink = ops_unlink,
		.rmdir = ops_rmdir,
		.symlink = ops_symlink,
		.rename = ops_rename,
		.link = ops_link,
		.write = ops_write,
		.create = ops_create,
		.setxattr = ops_setxattr,
		.removexattr = ops_removexattr,
		.fallocate = ops_fallocate,
		.copy_file_range = ops_copy_file_range,
};
