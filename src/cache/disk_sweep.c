#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/disk_dir_private.h"

/* Files removed in one call: the caller has other work. */
#define SWEEP_FILES 1024u

#define BAD_PREFIX "v1.bad-"

static DIR *open_directory(int parent, const char *name)
{
	int fd = openat(parent, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		return NULL;
	}
	DIR *entries = fdopendir(fd);
	if (entries == NULL) {
		(void)close(fd); /* Read-only. */
	}
	return entries;
}

static bool is_hex(const char *name, size_t length)
{
	return strlen(name) == length &&
	       strspn(name, "0123456789abcdef") == length;
}

/* Removes files whose names have `length` hexadecimal digits, then the
 * directory, if that is all it had. */
static void remove_files(
		int parent, const char *name, size_t length, unsigned *budget)
{
	DIR *entries = open_directory(parent, name);
	if (entries == NULL) {
		return;
	}
	const struct dirent *entry;
	while (*budget > 0 && (entry = readdir(entries)) != NULL) {
		if (is_hex(entry->d_name, length) &&
				unlinkat(dirfd(entries), entry->d_name, 0) ==
						0) {
			(*budget)--;
		}
	}
	(void)closedir(entries);		    /* Read-only. */
	(void)unlinkat(parent, name, AT_REMOVEDIR); /* Unless not empty. */
}

static void remove_objects(int bad, unsigned *budget)
{
	DIR *entries = open_directory(bad, "objects");
	if (entries == NULL) {
		return;
	}
	const struct dirent *entry;
	while (*budget > 0 && (entry = readdir(entries)) != NULL) {
		if (is_hex(entry->d_name, 2)) {
			remove_files(dirfd(entries), entry->d_name,
					2 * INDEX_NAME_SIZE, budget);
		}
	}
	(void)closedir(entries);		      /* Read-only. */
	(void)unlinkat(bad, "objects", AT_REMOVEDIR); /* Unless not empty. */
}

static void remove_rest(int parent, const char *name, int bad)
{
	static const char *const files[] = {"index.sqlite", "index.sqlite-wal",
			"index.sqlite-shm", "index.sqlite-journal",
			"distrusted"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)unlinkat(bad, files[i], 0); /* Or it is not there. */
	}
	(void)unlinkat(parent, name, AT_REMOVEDIR); /* Unless not empty. */
}

/* The newest keeps its database, for who wants to know what happened. */
static void find_newest(DIR *entries, char *out_name, size_t size)
{
	unsigned long long newest = 0;
	out_name[0] = '\0';
	const struct dirent *entry;
	while ((entry = readdir(entries)) != NULL) {
		const char *name = entry->d_name;
		if (strncmp(name, BAD_PREFIX, strlen(BAD_PREFIX)) != 0) {
			continue;
		}
		unsigned long long taken =
				strtoull(name + strlen(BAD_PREFIX), NULL, 10);
		if (taken >= newest) {
			newest = taken;
			(void)snprintf(out_name, size, "%s", name);
		}
	}
	rewinddir(entries);
}

bool disk_dir_sweep(const struct disk_dir *dir)
{
	DIR *entries = open_directory(dir->fd, ".");
	if (entries == NULL) {
		return false;
	}
	char newest[256];
	find_newest(entries, newest, sizeof(newest));
	unsigned budget = SWEEP_FILES;
	const struct dirent *entry;
	while (budget > 0 && (entry = readdir(entries)) != NULL) {
		const char *name = entry->d_name;
		if (strncmp(name, BAD_PREFIX, strlen(BAD_PREFIX)) != 0) {
			continue;
		}
		int bad = openat(dir->fd, name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
						O_CLOEXEC);
		if (bad < 0) {
			continue;
		}
		remove_objects(bad, &budget);
		if (budget > 0) {
			remove_files(bad, "holders", INDEX_HOLDER_SIZE - 1,
					&budget);
		}
		if (budget > 0 && strcmp(name, newest) != 0) {
			remove_rest(dir->fd, name, bad);
		}
		(void)close(bad); /* Read-only. */
	}
	(void)closedir(entries); /* Read-only. */
	return budget == 0;
}
