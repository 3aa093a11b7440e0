#ifndef FRONT_CONTROL_PRIVATE_H
#define FRONT_CONTROL_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/tree.h"

struct front;
struct control_file;

/*
 * `.shardfs` in the root: a directory that can be named but is not listed,
 * with the files `stats` and `metrics`. A file is a snapshot made at open; its
 * size is 0, so that readers read until the end, and it is read directly, so
 * that the kernel does not stop at that size.
 */

/* Whether the inode is one of these; all are below TREE_FIRST_INODE. */
bool control_owns(uint64_t inode);

/* The entry `name` of the root or of the control directory. */
int control_lookup(const struct front *front, uint64_t parent, const char *name,
		struct tree_attr *out_attr);
int control_getattr(const struct front *front, uint64_t inode,
		struct tree_attr *out_attr);
/* Entries of the control directory by index: -ENOENT after the last. */
int control_entry(const struct front *front, size_t index,
		const char **out_name, struct tree_attr *out_attr);

/* -EISDIR for the directory. */
int control_open(struct front *front, uint64_t inode,
		struct control_file **out_file);
/* A read holds a reference of its own until its answer is out: another thread
 * may get the RELEASE as soon as the reader has the bytes. */
void control_ref(struct control_file *file);
void control_unref(struct control_file *file);
/* What there is of [offset, offset + length): 0 bytes at the end. */
size_t control_read(const struct control_file *file, uint64_t offset,
		size_t length, const char **out_data);

#endif
