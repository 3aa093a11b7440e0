#include "options_private.h"

#include <fuse_opt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

char *options_text(const char *source, uint64_t max_read, bool allow_other)
{
	char *text = NULL;
	CLEANUP_FREE char *name = NULL;
	char size[48];

	if (asprintf(&name, "fsname=%s", source) < 0) {
		name = NULL;
		return NULL;
	}
	(void)snprintf(size, sizeof(size), "max_read=%llu",
			(unsigned long long)max_read);
	if (fuse_opt_add_opt(&text, "ro,nosuid,nodev") != 0 ||
			fuse_opt_add_opt(&text, "default_permissions") != 0 ||
			fuse_opt_add_opt(&text, "subtype=shardfs") != 0 ||
			fuse_opt_add_opt(&text, size) != 0 ||
			(allow_other && fuse_opt_add_opt(&text,
							"allow_other") != 0) ||
			fuse_opt_add_opt_escaped(&text, name) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
