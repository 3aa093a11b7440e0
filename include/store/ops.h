#ifndef STORE_OPS_H
#define STORE_OPS_H

#include <stdatomic.h>

#include "store/store.h"

/*
 * What a kind of store implements: see store.h for the contract of each. A
 * store embeds struct store first, a call embeds struct store_call first.
 */
struct store_ops {
	int (*stat)(struct store *store, const char *key,
			const struct store_callbacks_stat *callbacks,
			void *context, struct store_call **out_call);
	int (*list)(struct store *store, const struct store_list_args *args,
			const struct store_callbacks_list *callbacks,
			void *context, struct store_call **out_call);
	int (*get)(struct store *store, struct object *object, uint64_t offset,
			uint64_t length,
			const struct store_callbacks_get *callbacks,
			void *context, struct store_call **out_call);
	int (*url)(const struct store *store, const char *key,
			struct strbuf *out);
	int (*describe)(const struct store *store, struct strbuf *out);
	void (*destroy)(struct store *store);
};

struct store {
	const struct store_ops *ops;
	char *name;   /* Owned by the implementation. */
	char *prefix; /* Likewise. */
};

struct store_call_ops {
	void (*cancel)(struct store_call *call);
	void (*free)(struct store_call *call);
};

struct store_call {
	const struct store_call_ops *ops;
	atomic_uint references; /* One is the store's until on_done returned. */
};

/* Sets up a call: one reference for the store, which it drops with
 * store_call_unref() once on_done returned, and one for the caller if out_call
 * is not NULL. */
void store_call_init(struct store_call *call, const struct store_call_ops *ops,
		struct store_call **out_call);

#endif
