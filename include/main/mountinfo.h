#ifndef MAIN_MOUNTINFO_H
#define MAIN_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

/* One mount as /proc/self/mountinfo shows it, unescaped. Owned. */
struct mountinfo {
	char *mountpoint;
	char *type;
	char *source;
};

void mountinfo_finish(struct mountinfo *info);

/*
 * Finds the topmost mount exactly at `path`; if `inside` also the innermost
 * one that `path` lies in. `text` is the content of mountinfo. -ENOENT when
 * there is none, -ENOMEM.
 */
int mountinfo_find(const char *text, const char *path, bool inside,
		struct mountinfo *out_info);

/* The content of /proc/self/mountinfo; the caller frees. */
int mountinfo_read(char **out_text);

/* The absolute path of `path` without touching its last component, which may
 * be a dead mount. The caller frees. */
int mountinfo_absolute(const char *path, char **out_path);

#endif
