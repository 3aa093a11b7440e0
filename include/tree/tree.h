#ifndef TREE_TREE_H
#define TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters;
struct disk_tier;
struct fetch;
struct object;
struct store;

/*
 * Names and inodes. Turns listings and single lookups into entries, keeps them
 * for metadata_ttl, and gives each version of an object an inode of its own.
 * Does not read bytes and knows nothing of FUSE requests.
 *
 * Invariants:
 * 1. A listing is used when it is whole, or not at all.
 * 2. An inode's kind, size and mtime never change.
 * 3. An inode lives while the kernel has lookups on it or it is held open.
 * 4. -ENOENT is given only when the store said so within metadata_ttl.
 *
 * Thread rule: any thread; the start functions may read the index, so not a
 * network loop. Completions run where the store's answer arrives.
 */
struct tree;
struct tree_dir;

#define TREE_ROOT_INODE 1
/* Inodes of the tree are above this; below it they are front's own. */
#define TREE_FIRST_INODE 16

struct tree_settings {
	struct store *store;	/* Borrowed: the whole mount's source. */
	struct fetch *fetch;	/* Borrowed. */
	struct disk_tier *disk; /* Borrowed; NULL: listings in memory only. */
	struct counters *counters; /* Borrowed. */
	uint64_t metadata_ttl_ms;  /* DURATION_FOREVER: never runs out. */
};

int tree_create(const struct tree_settings *settings, struct tree **out_tree);
/* Waits for the questions under way: fetch is stopped or will answer. No opened
 * directory may be left. */
void tree_destroy(struct tree *tree);

/*
 * The source may not be listed, and the user wants it all the same: keys whose
 * names are known are to open. A name that is no object and whose listing is
 * refused too is then taken for a directory, since it may be one on the way to
 * a known key; opening it is -EACCES, which is also what a missing key gives.
 */
void tree_guess_directories(struct tree *tree);

/* A disk for listings where there was none, before the tree is served: a new
 * cache is made only once the source has answered. */
void tree_use_disk(struct tree *tree, struct disk_tier *disk);

struct tree_attr {
	uint64_t inode;
	bool is_dir;
	uint64_t size;
	int64_t mtime;
	/* For how long the kernel may keep entry and attributes. */
	uint64_t valid_ms;
};

/* One lookup; the caller keeps it until completion. `name` is borrowed until
 * then. */
struct tree_lookup {
	uint64_t parent;
	const char *name;
	void (*on_done)(struct tree_lookup *lookup);
	/* Set on completion. -ENOENT: surely absent, for attr.valid_ms. */
	int error;
	struct tree_attr attr;
	/* The tree's: */
	void *waiting;
	struct tree_lookup *next;
};

/* 0: complete, on_done is not called; -EINPROGRESS: it will be. Success counts
 * one lookup on the inode, which tree_forget takes back. */
int tree_lookup_start(struct tree *tree, struct tree_lookup *lookup);
void tree_forget(struct tree *tree, uint64_t inode, uint64_t count);

/* From memory. -ESTALE for an inode that is not known. */
int tree_getattr(struct tree *tree, uint64_t inode, struct tree_attr *out_attr);

/*
 * The object version behind a file inode, with a reference for the caller,
 * and a hold on the inode until tree_close. -ESTALE: this version is known to
 * be gone. -EISDIR, -EACCES (archived).
 */
int tree_open(struct tree *tree, uint64_t inode, struct object **out_object);
void tree_close(struct tree *tree, uint64_t inode);

/* Whether tree_open gives -EACCES as far as is known. */
bool tree_is_archived(struct tree *tree, uint64_t inode);

/*
 * For such a version: whether it was restored, which a listing does not tell.
 * Error 0: tree_open gives it now. -EACCES: it was
 * not; -ESTALE: it is gone or another; others when the store does not say.
 */
struct tree_restore {
	uint64_t inode;
	void (*on_done)(struct tree_restore *restore);
	int error;
	struct tree *tree; /* The tree's. */
};
/* 0: complete, on_done is not called; -EINPROGRESS: it will be. */
int tree_restore_start(struct tree *tree, struct tree_restore *restore);

/* A read showed that this version is changed or gone: the next lookup of its
 * name asks the store. Gives the name for front to invalidate: -ENOENT when
 * nobody knows it any more; the caller frees *out_name. */
int tree_mark_changed(struct tree *tree, uint64_t inode, uint64_t *out_parent,
		char **out_name);

/* Opens a directory: an immutable snapshot of its listing. */
struct tree_opendir {
	uint64_t inode;
	void (*on_done)(struct tree_opendir *opendir);
	int error;
	struct tree_dir *dir; /* The caller's, for tree_dir_close. */
	void *waiting;
	struct tree_opendir *next;
};
int tree_opendir_start(struct tree *tree, struct tree_opendir *opendir);
void tree_dir_close(struct tree_dir *dir);

/* Entries are numbered from 0 in byte order of their names; "." and ".." are
 * not among them. */
size_t tree_dir_count(const struct tree_dir *dir);
uint64_t tree_dir_parent_inode(const struct tree_dir *dir);
/* `out_name` stays valid while the dir is open. The inode is the one a lookup
 * would give now, also when nobody looked it up (d_ino == st_ino). */
int tree_dir_entry(struct tree_dir *dir, size_t index, const char **out_name,
		struct tree_attr *out_attr);
/* For readdirplus: counts one lookup on the inode that the name has now.
 * -ENOENT when a newer listing lacks it. */
int tree_dir_lookup(
		struct tree_dir *dir, size_t index, struct tree_attr *out_attr);

/* Path below the mount point for logs ("a/b"), and the key for xattrs. The
 * caller frees. */
char *tree_path(struct tree *tree, uint64_t inode);

/* Forgets listings and answers below `path` ("" is everything), in memory and
 * in the index, and what the directory of `path` says about it unless it is a
 * known directory. Waits for the disk: not on a network loop. 0 or -ENOMEM. */
int tree_refresh(struct tree *tree, const char *path);

/*
 * The check at mount: asks for the first page of the source's prefix and keeps
 * it when it is whole. 0: something is there (or known from the index with
 * metadata_ttl=forever, without a request). -ENOENT: nothing under the prefix,
 * also in an empty bucket; `out_is_file` tells that SOURCE names one object.
 * Waits up to `timeout_ms`, then -ETIMEDOUT.
 */
int tree_probe(struct tree *tree, uint64_t timeout_ms, bool *out_is_file);

#endif
