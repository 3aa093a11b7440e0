#ifndef TREE_DIRECTORY_PRIVATE_H
#define TREE_DIRECTORY_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_private.h"
#include "listing_private.h"

struct counters;
struct probe_flight;
struct tree_lookup;
struct tree_opendir;

/* Answers about single names that one unlisted directory keeps, beside those
 * whose inode is known to the kernel. */
#define PROBES_MAX 32

/* One answer about one name: absent, or what it stands for. */
struct probe {
	bool absent;
	uint64_t until_ms; /* On the monotonic clock. */
	uint64_t inode;
	struct entry_info info; /* Its etag is in `text`. */
	UT_hash_handle hh;
	char text[]; /* Name, NUL, ETag, NUL. */
};

/*
 * What is known of one directory: its listing, or single answers while it is
 * not listed. Named by the key prefix of what is in it.
 *
 * A listing whose time ran out is kept for the inodes in it; it answers
 * nothing. `epoch` is raised when what is known turned out wrong or is to be
 * forgotten: what was asked before then is no answer for who asks after.
 *
 * Everything is guarded by the tree's lock.
 */
struct directory {
	char *prefix;
	unsigned references;
	struct listing *listing;  /* NULL: not listed. */
	uint64_t until_ms;	  /* Of the listing. */
	uint64_t denied_until_ms; /* Until then a LIST was refused. */
	unsigned epoch;
	bool bypass_index; /* What the index has may be what was forgotten. */
	struct probe *probes;
	/* Inodes marked as changed since the listing was taken. */
	uint64_t *changed;
	size_t changed_count;
	/* One LIST is under way; these wait for it. */
	bool listing_now;
	struct tree_lookup *lookups;
	struct tree_opendir *opendirs;
	struct probe_flight *probe_flights;
	/* While nobody refers to it: */
	struct directory *prev, *next;
	UT_hash_handle hh;
};

/* Directories by prefix. Those that nobody refers to are kept, last used
 * first, up to a number of entries. */
struct directory_table {
	struct directory *by_prefix;
	struct directory *idle; /* Oldest first. */
	size_t idle_weight, idle_limit;
	struct counters *counters;
};

void directory_table_finish(struct directory_table *table);

/* A reference to the directory, made when it is new. NULL without memory. */
struct directory *directory_get(
		struct directory_table *table, const char *prefix);
struct directory *directory_ref(struct directory *directory);
void directory_unref(
		struct directory_table *table, struct directory *directory);
/* Borrowed; NULL when nothing is known of it. */
struct directory *directory_find(
		struct directory_table *table, const char *prefix);

/* Replaces the listing and takes over the reference; the probes are gone. */
void directory_set_listing(struct directory_table *table,
		struct directory *directory, struct listing *listing,
		uint64_t until_ms);

/* What it knows is to be asked again; who waits now asks again too. */
void directory_forget(struct directory *directory);

/* Notes an inode as changed; 0 or -ENOMEM. */
int directory_note_changed(struct directory *directory, uint64_t inode);

struct probe *directory_find_probe(
		const struct directory *directory, const char *name);
/* Sets the answer about a name; `info` NULL: absent. Drops old ones beyond
 * PROBES_MAX unless `known` says that their inode must be kept. */
int directory_set_probe(struct directory *directory, const char *name,
		const struct entry_info *info, uint64_t inode,
		uint64_t until_ms, bool (*known)(void *context, uint64_t inode),
		void *context);

#endif
