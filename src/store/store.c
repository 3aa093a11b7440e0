#include "store/store.h"

#include <stddef.h>

#include "store/ops.h"

int store_stat(struct store *store, const char *key,
		const struct store_callbacks_stat *callbacks, void *context,
		struct store_call **out_call)
{
	return store->ops->stat(store, key, callbacks, context, out_call);
}

int store_list(struct store *store, const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context,
		struct store_call **out_call)
{
	return store->ops->list(store, args, callbacks, context, out_call);
}

int store_get(struct store *store, struct object *object, uint64_t offset,
		uint64_t length, const struct store_callbacks_get *callbacks,
		void *context, struct store_call **out_call)
{
	return store->ops->get(store, object, offset, length, callbacks,
			context, out_call);
}

const char *store_name(const struct store *store)
{
	return store->name;
}

const char *store_prefix(const struct store *store)
{
	return store->prefix;
}

int store_url(const struct store *store, const char *key, struct strbuf *out)
{
	return store->ops->url(store, key, out);
}

int store_describe(const struct store *store, struct strbuf *out)
{
	return store->ops->describe(store, out);
}

void store_destroy(struct store *store)
{
	if (store != NULL) {
		store->ops->destroy(store);
	}
}

void store_call_init(struct store_call *call, const struct store_call_ops *ops,
		struct store_call **out_call)
{
	call->ops = ops;
	atomic_init(&call->references, out_call == NULL ? 1 : 2);
	if (out_call != NULL) {
		*out_call = call;
	}
}

void store_cancel(struct store_call *call)
{
	call->ops->cancel(call);
}

void store_call_unref(struct store_call *call)
{
	if (call == NULL) {
		return;
	}
	if (atomic_fetch_sub_explicit(
			    &call->references, 1, memory_order_acq_rel) == 1) {
		call->ops->free(call);
	}
}
