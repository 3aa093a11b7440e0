#include "device_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

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
static bool parse_line(char *line, const char *path, struct device *out)
{
	struct device device = {0};
	char *rest = NULL;

	if (sscanf(line, "%*u %*u %u:%u", &device.major, &device.minor) != 2) {
		return false;
	}
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
	*out = device;
	return true;
}

int device_find(const char *text, const char *path, struct device *out_device)
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
		found |= parse_line(line, path, out_device);
	}
	return found ? 0 : -ENOENT;
}

int device_read(const char *path, struct device *out_device)
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
	return device_find(text, path, out_device);
}
