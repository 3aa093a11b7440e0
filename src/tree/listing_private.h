#ifndef TREE_LISTING_PRIVATE_H
#define TREE_LISTING_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_page;

/* The longest name of an entry, in bytes. */
#define TREE_NAME_MAX 255

/* What a name stands for: all that stat(2) and an open need. */
struct entry_info {
	bool is_dir;
	bool archived;
	bool unsettled;
	uint64_t size;
	int64_t mtime;
	const char *etag; /* "" for a directory. */
};

/* Whether both are one version, which has one inode. Mtimes of a strong ETag
 * may be rounded apart between a listing and a header. */
bool entry_info_same(const struct entry_info *a, const struct entry_info *b);

/*
 * The entries of one directory: whole, immutable, counted. Sorted by the bytes
 * of their names, each name once. One allocation for the entries and one for
 * the strings: about 40 bytes an entry and its name and ETag.
 */
struct listing_entry {
	uint64_t inode;
	uint64_t size;
	int64_t mtime;
	uint32_t name; /* Offsets into `text`. */
	uint32_t etag;
	uint8_t name_length;
	uint8_t flags;
};

#define LISTING_DIR 1U
#define LISTING_ARCHIVED 2U
#define LISTING_UNSETTLED 4U

struct listing {
	atomic_uint references;
	size_t count;
	struct listing_entry *entries;
	char *text;
	size_t text_length;
	size_t hidden;	 /* Keys that cannot be shown. */
	size_t shadowed; /* Objects behind a directory of the same name. */
	bool has_marker; /* The directory has an object of its own. */
};

struct listing *listing_ref(struct listing *listing);
void listing_unref(struct listing *listing);

#define LISTING_NONE SIZE_MAX
/* The index of a name, or LISTING_NONE. */
size_t listing_find(const struct listing *listing, const char *name);
const char *listing_name(const struct listing *listing, size_t index);
void listing_info(const struct listing *listing, size_t index,
		struct entry_info *out_info);

/*
 * Gives every entry its inode: that of `old` (may be NULL) where the version
 * is the same, with its mtime, else the next number of *next_inode. The inodes
 * of `old` that are no longer listed are written to *out_dropped, which the
 * caller frees. Only before the listing is shared. -ENOMEM: nothing changed.
 */
int listing_number(struct listing *listing, const struct listing *old,
		_Atomic uint64_t *next_inode, uint64_t **out_dropped,
		size_t *out_dropped_count);

/* ---- Building ---- */

/*
 * Takes pages of a listing with delimiter. Names that cannot be shown are
 * counted and left out: an empty one, ".", "..", one with a NUL or over
 * TREE_NAME_MAX bytes. Of `x` and `x/` the directory is shown. The object with
 * the name of the directory itself is its marker and no entry.
 */
struct listing_builder;

/* `prefix` is copied. NULL without memory. */
struct listing_builder *listing_builder_create(const char *prefix);
void listing_builder_destroy(struct listing_builder *builder);
/* -ENOMEM; -EIO for a key outside the prefix; -EFBIG beyond the 4 GiB of text
 * or entries that one listing can have. */
int listing_builder_add_page(
		struct listing_builder *builder, const struct store_page *page);
/* Whether anything was there, shown or not. */
bool listing_builder_any(const struct listing_builder *builder);
/* One entry, for listings from elsewhere; the same rules and errors. */
int listing_builder_add(struct listing_builder *builder, const char *name,
		size_t name_length, const struct entry_info *info);
void listing_builder_mark(struct listing_builder *builder);
/* Ends the building: one reference. The builder can only be destroyed then. */
int listing_builder_finish(
		struct listing_builder *builder, struct listing **out_listing);

/* ---- listing_blob.c: as bytes for the index ---- */

/* The caller frees *out_blob. -ENOMEM. */
int listing_serialise(const struct listing *listing, void **out_blob,
		size_t *out_length);
/* The bytes may be anything: -EINVAL for what listing_serialise() cannot have
 * written. Entries have no inodes yet. -ENOMEM. */
int listing_parse(
		const void *blob, size_t length, struct listing **out_listing);

#endif
