#include "main/defaults.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "main/text_file.h"

#define SMALL_FILE ((size_t)1 << 16)
/* Version 1 shows "no limit" as a number near 2^63. */
#define NO_LIMIT ((uint64_t)1 << 60)

static uint64_t read_limit(const char *path)
{
	CLEANUP_FREE char *text = NULL;
	uint64_t limit = 0;

	if (text_file_read(path, SMALL_FILE, &text) != 0 ||
			sscanf(text, "%" SCNu64, &limit) != 1 ||
			limit >= NO_LIMIT) {
		return UINT64_MAX;
	}
	return limit;
}

/* The least limit of `group` and those above it, below the mount `top`. In a
 * container the group's path may not be there: its root is. */
static uint64_t least_limit(
		const char *top, const char *group, const char *file)
{
	CLEANUP_FREE char *part = strdup(group);
	uint64_t least = UINT64_MAX;

	while (part != NULL) {
		CLEANUP_FREE char *path = NULL;

		if (asprintf(&path, "%s%s/%s", top, part, file) < 0) {
			path = NULL;
			break;
		}
		uint64_t limit = read_limit(path);

		least = limit < least ? limit : least;
		char *slash = strrchr(part, '/');

		if (slash == NULL) {
			break;
		}
		*slash = '\0';
	}
	return least;
}

/* Whether "memory" is among controllers like "cpu,memory". */
static bool has_memory(const char *controllers)
{
	size_t span = 0;

	for (; *controllers != '\0'; controllers += span) {
		controllers += *controllers == ',';
		span = strcspn(controllers, ",");
		if (span == 6 && strncmp(controllers, "memory", 6) == 0) {
			return true;
		}
	}
	return false;
}

/* A line of /proc/self/cgroup: "0::/path" or "4:memory:/path". */
static uint64_t limit_of_line(const char *root, char *line)
{
	CLEANUP_FREE char *top = NULL;
	char *controllers = strchr(line, ':');
	char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

	if (group == NULL) {
		return UINT64_MAX;
	}
	*group++ = '\0';
	controllers++;
	bool unified = controllers[0] == '\0';

	if (!unified && !has_memory(controllers)) {
		return UINT64_MAX;
	}
	if (asprintf(&top, "%s/sys/fs/cgroup%s", root,
			    unified ? "" : "/memory") < 0) {
		top = NULL;
		return UINT64_MAX;
	}
	return least_limit(top, strcmp(group, "/") == 0 ? "" : group,
			unified ? "memory.max" : "memory.limit_in_bytes");
}

uint64_t defaults_cgroup_limit(const char *root)
{
	CLEANUP_FREE char *path = NULL;
	CLEANUP_FREE char *text = NULL;
	uint64_t least = UINT64_MAX;

	if (asprintf(&path, "%s/proc/self/cgroup", root) < 0) {
		path = NULL;
		return UINT64_MAX;
	}
	if (text_file_read(path, SMALL_FILE, &text) != 0) {
		return UINT64_MAX;
	}
	char *cursor = text;
	char *line = text_file_next_line(&cursor);

	while (line != NULL) {
		uint64_t limit = limit_of_line(root, line);

		least = limit < least ? limit : least;
		line = text_file_next_line(&cursor);
	}
	return least;
}
