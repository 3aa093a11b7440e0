#ifndef STORE_FILE_STORE_PRIVATE_H
#define STORE_FILE_STORE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "store/store.h"

/*
 * A directory as a store: for shares behind the local cache, and for trying
 * things out. Keys are paths below `dir`. A version is size and mtime to the
 * nanosecond, a weak identity. Links that leave the directory, and what is
 * neither a file nor a directory, are not shown.
 *
 * -ENOENT, -ENOTDIR, -EACCES: `dir` cannot be used.
 */
int file_store_create(const char *dir, struct store **out_store);

/* ---- file_path.c ---- */

/* The directory as it was at the mount. */
struct file_root {
	char *path;
	dev_t device;
};

/*
 * An O_PATH descriptor of the root, or -EIO when it is gone or another file
 * system lies there now (an unmounted share): nothing is known to be absent
 * then.
 */
int file_open_root(const struct file_root *root);

/* Opens what is at `path` below the root ("" is the root itself), never outside
 * of it. A descriptor or a negative errno of openat2(). */
int file_open_beneath(int root_fd, const char *path, uint64_t flags);

/* Whether the key names what a path can: no empty, "." or ".." component. One
 * '/' at the end is allowed. */
bool file_key_valid(const char *key);

/* An errno of the file system as the store's: -ENOENT, -EACCES or -EIO. */
int file_store_error(int error);

#define FILE_ETAG_SIZE 48
/* The weak ETag of a version. */
void file_etag(const struct stat *status, char etag[FILE_ETAG_SIZE]);
/* Whether it was changed so short ago that a next version may look the same. */
bool file_unsettled(const struct stat *status);

/* ---- file_read.c ---- */

struct object;

/* Opens this version to read: -ESTALE when it is changed or gone. */
int file_open_version(int root_fd, const struct object *object);
/* Fills the buffer. The bytes are the version's only on success: it was still
 * the same after they were read. */
int file_read_version(int fd, const struct object *object, uint64_t offset,
		char *buffer, size_t length);

/* ---- file_list.c ---- */

/* A page of a listing in byte order of the keys; owns its strings. */
struct file_page {
	struct store_page page;
	struct store_entry *entries;
	size_t capacity;
	char *token;
};

/* Entries of a page when the caller does not say: each page reads and sorts
 * its directory again, so pages are large. */
#define FILE_PAGE_KEYS 50000

/* A prefix with nothing under it is an empty page. Negative errnos as
 * file_store_error() gives them, or -ENOMEM. */
int file_list(int root_fd, const struct store_list_args *args,
		struct file_page *out_page);
void file_page_finish(struct file_page *page);

#endif
