#ifndef FRONT_MOUNTINFO_PRIVATE_H
#define FRONT_MOUNTINFO_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

/* What the mount table says about a path. Reading it never waits for the file
 * system that is mounted there, as a stat would. */
struct mountinfo {
	unsigned major, minor;
	bool is_shardfs;
};

/* The topmost mount at exactly `path` in the text of /proc/PID/mountinfo:
 * pure. 0, or -ENOENT. */
int mountinfo_find(
		const char *text, const char *path, struct mountinfo *out_info);

/* The same in this process's own table. */
int mountinfo_read(const char *path, struct mountinfo *out_info);

/* Whether `path` can be mounted on. On failure `message` has one line: thing,
 * reason, remedy. */
int mountinfo_check_target(
		const char *path, char *message, size_t message_size);

#endif
