#ifndef CACHE_DISK_FS_PRIVATE_H
#define CACHE_DISK_FS_PRIVATE_H

#include <stdbool.h>

/* Small questions about descriptors and file systems. */

/* The name of a network file system by its magic number, else NULL. */
const char *disk_fs_network_name(unsigned long magic);
bool disk_fs_is_memory(unsigned long magic);
/* 0 or a negative errno. */
int disk_fs_magic(int fd, unsigned long *out_magic);

/* An OFD lock on the whole file, without waiting: F_RDLCK, F_WRLCK, F_UNLCK.
 * -EAGAIN when another description has it. */
int disk_fs_lock(int fd, short type);

/* Opens a directory of ours under `parent`, made 0700 when missing. */
int disk_fs_make_dir(int parent, const char *name, int *out_fd);

#endif
