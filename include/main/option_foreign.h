#ifndef MAIN_OPTION_FOREIGN_H
#define MAIN_OPTION_FOREIGN_H

#include <stdbool.h>

/* What shardfs calls an option of s3fs, mountpoint, gcsfuse, blobfuse2, rclone
 * or goofys: a phrase after "shardfs …". NULL: not known from there. */
const char *option_foreign_hint(const char *name);

/* Words that mount(8) and fstab pass and that mean nothing here. `name` is the
 * part before '='. */
bool option_mount_word(const char *name);

#endif
