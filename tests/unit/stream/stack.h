#ifndef TESTS_STREAM_STACK_H
#define TESTS_STREAM_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"

struct cache;
struct disk_tier;
struct fetch;
struct object;
struct store;
struct stream_file;
struct stream_set;

#define KIB ((uint64_t)1024)
#define MIB ((uint64_t)1 << 20)

/* Everything below and in the room stream, over a store in memory. */
struct stack {
	struct counters counters;
	struct store *store;
	struct fetch *fetch;
	struct disk_tier *disk; /* NULL: memory only. */
	char disk_dir[64];
	struct cache *cache;
	struct stream_set *set;
};

struct stack_options {
	uint64_t memory_bytes; /* 0: 256 MiB */
	uint64_t max_window;   /* 0: 64 MiB */
	uint64_t part_size;    /* 0: 8 MiB */
	bool disk;
};

void stack_open(struct stack *stack, const struct stack_options *options);
void stack_close(struct stack *stack);

/* An object of the store whose bytes depend on its key. The caller unrefs. */
struct object *stack_put(struct stack *stack, const char *key, uint64_t size);
struct stream_file *stack_open_file(
		struct stack *stack, const char *key, uint64_t size);

/* Reads and waits, with reads of at most 1 MiB; 0 when all bytes were those of
 * the key, else the error, -EBADMSG for a wrong byte. */
int stack_read(struct stream_file *file, const char *key, uint64_t offset,
		uint64_t length);
/* As that, the whole range in reads of `step`. */
int stack_read_all(struct stream_file *file, const char *key, uint64_t offset,
		uint64_t length, uint64_t step);

/* What was asked of the store, once nothing is under way any more. */
struct stack_asked {
	size_t requests;
	uint64_t bytes;
	uint64_t twice; /* Bytes asked for more than once. */
};
struct stack_asked stack_asked(struct stack *stack);

#endif
