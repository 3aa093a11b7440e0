#ifndef STORE_TESTING_H
#define STORE_TESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/*
 * Stores for tests of the rooms above; linked only into tests.
 *
 * The memory store holds objects given to it and answers from one worker
 * thread. It counts and can record each call, and takes orders for faults.
 */
struct memory_store;

int memory_store_create(
		const char *name, const char *prefix, struct store **out_store);
int memory_store_put(struct store *store, const char *key, const void *data,
		size_t length, const char *etag);
/* An object whose byte at offset i is memory_store_byte(seed, i). */
int memory_store_put_pattern(struct store *store, const char *key,
		uint64_t size, uint32_t seed, const char *etag);
uint8_t memory_store_byte(uint32_t seed, uint64_t offset);
void memory_store_remove(struct store *store, const char *key);

/* Objects have this mtime and are not archived until told otherwise. */
#define MEMORY_STORE_MTIME 1700000000
void memory_store_set_mtime(
		struct store *store, const char *key, int64_t mtime);
void memory_store_set_archived(struct store *store, const char *key);
/* Objects under 2 s old without a strong ETag, as other stores see them. */
void memory_store_set_unsettled(
		struct store *store, const char *key, bool unsettled);

/* Each call of `kind` ("stat", "list", "get"; NULL: any) whose number, counted
 * from now (the next call is number 0), is in [first, first + count) ends as
 * told: outcome.error and advice; a get first gives `after_bytes` of its data.
 * Calls are counted when they are made. */
void memory_store_fail(struct store *store, const char *kind, unsigned first,
		unsigned count, int error, enum store_advice advice,
		uint64_t after_bytes);
/* Calls wait until release, in order (a stalled store). A canceled call ends
 * all the same. */
void memory_store_hold(struct store *store);
void memory_store_release(struct store *store);
/* Waits until `count` calls are held back; -ETIMEDOUT after 5 s. */
int memory_store_wait_held(struct store *store, unsigned count);
/* Data is given in pieces of this many bytes (default 16 KiB). */
void memory_store_set_piece(struct store *store, size_t bytes);
void memory_store_set_page(struct store *store, uint32_t max_keys);

/* What was asked since the last clear, in order. */
struct memory_store_record {
	char kind;	/* 's', 'l', 'g' */
	char key[1100]; /* Of a list: its prefix. */
	uint64_t offset, length;
	bool recursive; /* Of a list. */
};
/* kind 0: of all kinds. get_record: -ENOENT beyond the last. */
size_t memory_store_count(struct store *store, char kind);
int memory_store_get_record(struct store *store, size_t index,
		struct memory_store_record *out_record);
void memory_store_clear_records(struct store *store);

#endif
