#ifndef MAIN_MOUNT_CHECK_H
#define MAIN_MOUNT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a mount at `mountpoint` (absolute) can work. A dead mount of shardfs
 * is taken off by a lazy unmount; a live one is refused. *out_not_empty tells
 * of files that the mount will hide. A negative errno with one line.
 */
int mount_check_directory(const char *mountpoint, bool *out_not_empty,
		char *message, size_t message_size);

/* Whether the mount would not lie over its own source, a local directory:
 * -ELOOP. Reading it would wait for itself, or never end. */
int mount_check_source(const char *source, const char *mountpoint,
		char *message, size_t message_size);

/* Whether /dev/fuse can be opened. */
int mount_check_device(char *message, size_t message_size);

/* Whether the caller may use allow_other: root, or `user_allow_other` in the
 * file (/etc/fuse.conf). */
int mount_check_allow_other(bool is_root, const char *conf_path, char *message,
		size_t message_size);

/* Whether the text is of the form /dev/fd/N. */
bool mount_check_is_descriptor(const char *mountpoint);
/* That N; -1 for any other text. */
int mount_check_descriptor(const char *mountpoint);

#endif
