#ifndef TREE_NODE_PRIVATE_H
#define TREE_NODE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_private.h"

struct counters;
struct directory;
struct directory_table;
struct entry_info;
struct object;

/*
 * An inode that somebody knows: one version of one object, or a directory. It
 * lives while the kernel has lookups on it, it is held open, or it has nodes
 * below it, whose path goes through it. Kind, size and mtime never change.
 *
 * Everything is guarded by the tree's lock.
 */
struct node {
	uint64_t inode;
	struct node *parent; /* NULL: the root. */
	uint64_t lookups;
	unsigned holds;
	unsigned children;
	bool is_dir;
	bool archived;
	bool unsettled;
	bool gone; /* This version is known to be changed or removed. */
	uint64_t size;
	int64_t mtime;
	struct object *object;	     /* A file's, while it is held. */
	struct directory *directory; /* A directory's, once it was asked. */
	UT_hash_handle hh;
	uint16_t name_length;
	char text[]; /* Name, NUL, ETag, NUL. */
};

struct node_table {
	struct node *by_inode;
	struct directory_table *directories;
	struct counters *counters;
};

void node_table_finish(struct node_table *table);

/* Borrowed; NULL for one that nobody knows. */
struct node *node_find(const struct node_table *table, uint64_t inode);

/* The node of that inode, made when it is new: node_release() it when it got
 * neither a lookup nor a hold. NULL without memory. */
struct node *node_get(struct node_table *table, struct node *parent,
		uint64_t inode, const char *name,
		const struct entry_info *info);
/* Frees the node and those above it that nobody knows any more. */
void node_release(struct node_table *table, struct node *node);

const char *node_name(const struct node *node);
const char *node_etag(const struct node *node);

/* "a/b/c" after `start`; the caller frees. NULL without memory. */
char *node_path(const struct node *node, const char *start);

#endif
