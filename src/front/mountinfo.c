#include "mountinfo_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FUSE_TYPE "fuse.shardfs"

/* Decodes \ooo, which stands for space, tab, newline and backslash, in place.
 */
static void unescape(char *text)
{
	char *out = text;

	for (const char *in = text; *in != '\0'; out++) {
		if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' &&
				in[2] >= '0' && in[2] <= '7' && in[3] >= '0' &&
				in[3] <= '7') {
			*out = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 |
					(in[3] - '0'));
			in += 4;
		} else {
			*out = *in++;
		}
	}
	*out = '\0';
}

/* "36 35 98:0 /root /mount opts tags - type source super". */
static bool parse_line(char *line, const char *path, struct mountinfo *out)
{
	struct mountinfo info = {0};
	char *rest = NULL;
	char *type = strstr(line, " - ");

	if (type == NULL || sscanf(line, "%*u %*u %u:%u", &info.major,
					    &info.minor) != 2) {
		return false;
	}
	type += strlen(" - ");
	info.is_shardfs = strncmp(type, FUSE_TYPE " ", sizeof(FUSE_TYPE)) == 0;

	char *field = strtok_r(line, " ", &rest);
	for (int i = 0; i < 4 && field != NULL; i++) {
		field = strtok_r(NULL, " ", &rest);
	}
	if (field == NULL) {
		return false;
	}
	unescape(field);
	if (strcmp(field, path) != 0) {
		return false;
	}
	*out = info;
	return true;
}

int mountinfo_find(
		const char *text, const char *path, struct mountinfo *out_info)
{
	CLEANUP_FREE char *copy = strdup(text);
	char *rest = NULL;
	bool found = false;

	if (copy == NULL) {
		return -ENOMEM;
	}
	/* The last line with the path is the topmost mount. */
	for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
			line = strtok_r(NULL, "\n", &rest)) {
		found |= parse_line(line, path, out_info);
	}
	return found ? 0 : -ENOENT;
}

int mountinfo_read(const char *path, struct mountinfo *out_info)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;

	if (file == NULL) {
		return -errno;
	}
	/* The table has no NUL: one getdelim reads all of it. */
	ssize_t length = getdelim(&text, &size, '\0', file);
	(void)fclose(file); /* Was only read. */
	if (length < 0) {
		return -EIO;
	}
	return mountinfo_find(text, path, out_info);
}

static int check_present_mount(
		const char *path, char *message, size_t message_size)
{
	struct mountinfo info;
	struct stat status;
	const char *command = geteuid() == 0 ? "umount" : "fusermount3 -u";

	if (mountinfo_read(path, &info) != 0 || !info.is_shardfs) {
		return 0;
	}
	/* The root of a mount is answered from memory. */
	if (stat(path, &status) != 0 && errno == ENOTCONN) {
		(void)snprintf(message, message_size,
				"%s: a shardfs that ended is still mounted "
				"here; remove it with: %s %s",
				path, command, path);
	} else {
		(void)snprintf(message, message_size,
				"%s: a shardfs is mounted here already; "
				"unmount it with: %s %s",
				path, command, path);
	}
	return -EBUSY;
}

int mountinfo_check_target(const char *path, char *message, size_t message_size)
{
	struct stat status;
	int error = check_present_mount(path, message, message_size);

	if (error != 0) {
		return error;
	}
	if (stat(path, &status) != 0) {
		error = -errno;
		(void)snprintf(message, message_size, "%s: %s%s", path,
				strerror(-error),
				error == -ENOENT ? "; make it with mkdir" : "");
		return error;
	}
	if (!S_ISDIR(status.st_mode)) {
		(void)snprintf(message, message_size,
				"%s: not a directory; mount on an empty one",
				path);
		return -ENOTDIR;
	}
	return 0;
}
