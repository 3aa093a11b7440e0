#ifndef TREE_TREE_PRIVATE_H
#define TREE_TREE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "directory_private.h"
#include "node_private.h"
#include "tree/tree.h"

struct tree {
	/* Set at creation: */
	struct tree_settings settings;
	const char *root_prefix; /* The store's. */
	int64_t created;	 /* Mtime of all directories. */
	/* Any thread: */
	_Atomic uint64_t next_inode;
	_Atomic(struct disk_tier *) disk; /* Borrowed; NULL: none so far. */
	atomic_bool told_shadowed, told_hidden, told_guess;
	atomic_bool guesses_directories;
	unsigned long long archived_log; /* Of log_ratelimit(). */
	pthread_mutex_t lock;
	pthread_cond_t idle; /* No question is under way. */
	/* Guarded by lock: */
	struct node_table nodes;
	struct directory_table directories;
	struct node *root;
	unsigned questions;
};

/* ---- tree.c ---- */

/* A question to fetch begins or ends: the tree outlives it. */
void tree_begin_question_locked(struct tree *tree);
void tree_end_question(struct tree *tree);

/* The directory of a directory node, referred to by it. NULL: no memory. */
struct directory *tree_directory_locked(struct tree *tree, struct node *node);
/* Gives back a reference. */
void tree_drop_directory(struct tree *tree, struct directory *directory);

/* When what was learned at `taken_ms` runs out, and what is left of it. */
uint64_t tree_until(const struct tree *tree, uint64_t taken_ms);
uint64_t tree_left(uint64_t until_ms);

void tree_fill_attr(const struct tree *tree, uint64_t inode,
		const struct entry_info *info, uint64_t until_ms,
		struct tree_attr *out_attr);
bool tree_inode_known(void *tree, uint64_t inode);
void tree_mark_gone_locked(struct tree *tree, uint64_t inode);

/* ---- install.c ---- */

struct install {
	struct directory *directory;
	struct listing *listing; /* Its reference is taken over. */
	uint64_t until_ms;
	unsigned epoch;	 /* The directory's when the store was asked. */
	bool keep_fresh; /* A listing that still holds stays. */
};
/*
 * Makes a listing what is known of its directory. Inodes stay where versions
 * are the same. One of an older epoch answers nothing. -ENOMEM: nothing
 * changed.
 */
int tree_install(struct tree *tree, const struct install *install);

/* Whether listings are kept beyond memory. */
bool tree_has_index(const struct tree *tree);
/* Looks for a listing of the directory that still holds. */
void tree_read_index(struct tree *tree, struct directory *directory);
/* Queues the listing for the index. */
void tree_write_index(struct tree *tree, const char *prefix,
		const struct listing *listing, uint64_t taken_wall_ms);

/* ---- lookup.c ---- */

/* 0: complete; -EINPROGRESS: it waits. `may_read_index`: not on a network
 * loop. */
int tree_lookup_advance(struct tree *tree, struct tree_lookup *lookup,
		bool may_read_index);
/* Answers from the directory's listing, whether it holds or not: for those
 * that waited for it. */
void tree_lookup_answer_locked(struct tree *tree, struct tree_lookup *lookup,
		const struct directory *directory);
/* Gives the lookup the node of that inode. */
void tree_lookup_give_locked(struct tree *tree, struct tree_lookup *lookup,
		uint64_t inode, const struct entry_info *info,
		uint64_t until_ms);
/* For lookups that waited: complete them, or ask again first. */
void tree_lookups_finish(struct tree_lookup *lookups);
void tree_lookups_resume(struct tree *tree, struct tree_lookup *lookups);

/* ---- list_flight.c ---- */

/*
 * Starts the LIST of a directory whose listing_now was set by the caller, with
 * a reference for the flight. 0: what waits is completed by the store's
 * answer. -ENOMEM: `lookup` or `opendir` (either may be NULL) no longer waits;
 * all others were told.
 */
int tree_list_start(struct tree *tree, struct directory *directory,
		struct tree_lookup *lookup, struct tree_opendir *opendir);

/* ---- probe_flight.c ---- */

/* The flight that asks for this name; NULL: none. */
struct probe_flight *tree_probe_find_locked(
		const struct directory *directory, const char *name);
struct probe_flight *tree_probe_create_locked(struct tree *tree,
		struct directory *directory, const char *name);
void tree_probe_join_locked(
		struct probe_flight *flight, struct tree_lookup *lookup);
/* Sends both questions. As tree_list_start(). */
int tree_probe_start(struct probe_flight *flight, struct tree_lookup *lookup);

/* ---- dir.c ---- */

int tree_opendir_advance(struct tree *tree, struct tree_opendir *opendir,
		bool may_read_index);
void tree_opendir_answer_locked(struct tree *tree, struct tree_opendir *opendir,
		const struct directory *directory);
void tree_opendirs_finish(struct tree_opendir *opendirs);
void tree_opendirs_resume(struct tree *tree, struct tree_opendir *opendirs);

#endif
