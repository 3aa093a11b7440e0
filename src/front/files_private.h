#ifndef FRONT_FILES_PRIVATE_H
#define FRONT_FILES_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <uthash.h>

struct counters;
struct fuse_file_info;
struct object;
struct stream_file;
struct stream_set;
struct tree;

/*
 * Open files, one for an inode however many handles it has: they share its
 * streams, and the kernel wants one mode of caching for an inode.
 *
 * Invariants:
 * 1. A front_file holds the inode in the tree, the object and the
 *    stream_file.
 * 2. It has a reference for every handle and for every read under way: a
 *    killed reader may close before its bytes come.
 * 3. One whose references are gone is not in the table.
 */
struct front_file {
	uint64_t inode;
	uint64_t size;
	struct object *object;
	struct stream_file *stream;
	atomic_uint references; /* To 0 only under the table's lock. */
	UT_hash_handle hh;
};

struct files {
	/* Set at creation; borrowed. */
	struct tree *tree;
	struct stream_set *streams;
	struct counters *counters;
	pthread_mutex_t lock;
	struct front_file *by_inode; /* Guarded by `lock`. */
};

void files_init(struct files *files, struct tree *tree,
		struct stream_set *streams, struct counters *counters);
/* Closes what the kernel did not release: after an abort there is no RELEASE.
 */
void files_finish(struct files *files);

/* A reference to the inode's file, opened if it is not open: errors as of
 * tree_open. May read the index. */
int files_open(struct files *files, uint64_t inode,
		struct front_file **out_file);
/* A reference, or NULL when the inode is not open. */
struct front_file *files_find(struct files *files, uint64_t inode);
void files_ref(struct front_file *file);
void files_unref(struct files *files, struct front_file *file);

/* Tells the kernel how this open treats its page cache. The only place that
 * decides a handle's mode. */
void files_set_mode(const struct front_file *file, struct fuse_file_info *info);

#endif
