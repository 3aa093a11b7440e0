#ifndef TESTS_TREE_FIXTURE_H
#define TESTS_TREE_FIXTURE_H

#include <stdint.h>

#include "base/counters.h"
#include "tree/tree.h"

#define FIXTURE_TTL_MS 60000 /* Of most tests. */

struct disk_tier;
struct fetch;
struct store;

/* A tree over the real fetch and a store in memory; calls that wait. */
struct fixture {
	struct counters counters;
	struct store *store;
	struct fetch *fetch;
	struct disk_tier *disk; /* Set by the test before the start, or NULL. */
	struct tree *tree;
};

void fixture_start(
		struct fixture *fixture, const char *prefix, uint64_t ttl_ms);
/* The same store and index, another tree: a remount. */
void fixture_restart(struct fixture *fixture, uint64_t ttl_ms);
void fixture_stop(struct fixture *fixture);

void fixture_put(struct fixture *fixture, const char *key);

/* The error, or 0 and the attributes (out_attr may be NULL). */
int fixture_lookup(struct fixture *fixture, uint64_t parent, const char *name,
		struct tree_attr *out_attr);
/* Component after component from the root. */
int fixture_walk(struct fixture *fixture, const char *path,
		struct tree_attr *out_attr);
/* The inode of a path that is there. */
uint64_t fixture_inode(struct fixture *fixture, const char *path);
int fixture_opendir(struct fixture *fixture, uint64_t inode,
		struct tree_dir **out_dir);
/* "a b/ c", for a directory; or the error's name. */
const char *fixture_ls(struct fixture *fixture, uint64_t inode);

/* Requests since the last call, as "s:key l:prefix …". */
const char *fixture_asked(struct fixture *fixture);

#endif
