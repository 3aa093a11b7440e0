#ifndef STORE_MEMORY_STORE_PRIVATE_H
#define STORE_MEMORY_STORE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory_objects_private.h"
#include "store/ops.h"
#include "store/testing.h"

/* An order to fail: passes over `skip` calls, then ends `count` of them. */
struct fault {
	char kind; /* 0: any. */
	unsigned skip, count;
	int error;
	enum store_advice advice;
	uint64_t after_bytes;
	struct fault *next;
};

struct memory_store {
	struct store store;
	struct store_ops ops;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;	/* For the worker. */
	pthread_cond_t arrived; /* For memory_store_wait_held(). */
	/* Guarded by lock: */
	struct memory_objects *objects;
	struct memory_call *queue;
	unsigned queued;
	struct fault *faults;
	struct memory_store_record *records;
	size_t record_count, record_capacity;
	size_t piece_bytes;
	uint32_t page_keys;
	bool held;
	bool stopping;
};

struct memory_call {
	struct store_call call;
	/* Set at creation: */
	struct memory_store *store;
	char kind;
	union {
		const struct store_callbacks_stat *stat;
		const struct store_callbacks_list *list;
		const struct store_callbacks_get *get;
	} callbacks;
	void *context;
	char *key; /* Or prefix. */
	char *token;
	struct store_list_args args;
	struct object *object;
	uint64_t offset, length;
	struct fault fault; /* error 0: none ordered. */
	/* Any thread: */
	atomic_bool canceled;
	/* Guarded by the store's lock: */
	struct memory_call *prev, *next;
};

static inline struct memory_store *memory_store(const struct store *store)
{
	return (struct memory_store *)((char *)store -
				       offsetof(struct memory_store, store));
}

/* memory_calls.c: what the store's thread runs, and its operations but
 * destroy. */
void *memory_worker_main(void *context);
extern const struct store_ops memory_call_ops;

#endif
