#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters;
struct flight;
struct object;
struct queue_object;
struct store;
struct store_entry;
struct store_page;

/*
 * What to ask the stores next. Queues ranges, joins neighbours into one
 * request, demand before prefetch, keeps the budgets of the mount
 * (connections, rate, retries), and asks again after faults until bytes or a
 * final errno are there.
 *
 * Thread rule: any thread may call, also with locks held that its callbacks
 * take. Callbacks come on a thread of the store or on fetch's own timer thread,
 * never inside the call, must not block and may call fetch again.
 */
struct fetch;

struct fetch_settings {
	struct counters *counters; /* Borrowed. */
	uint64_t part_size;	   /* Largest request, bytes. */
	size_t max_connections;
	uint64_t max_rate;   /* Bytes a second; 0: none. */
	uint64_t timeout_ms; /* Of a demanded request without a byte. */
	unsigned retries;    /* Attempts in all. */
};

/* Starts the timer thread: call after the last fork. -EINVAL when part_size or
 * max_connections is 0. */
int fetch_create(const struct fetch_settings *settings,
		struct fetch **out_fetch);
/* Ends everything with -ECANCELED, waits for the callbacks. No other call may
 * run at the same time or later. The stores must still be there. */
void fetch_destroy(struct fetch *fetch);
/* From now on every waiting and new request ends with `error` (-EIO). For
 * shutdown: readers get their answer before the transfers are torn down. */
void fetch_stop(struct fetch *fetch, int error);

/* What fetch remembers of a request that failed: fetch's own. */
struct fetch_retry {
	uint64_t silent_since_ms; /* Last byte, or first attempt. */
	unsigned attempts;	  /* Failed in a row without a byte. */
	unsigned thin_attempts;	  /* Failed in a row with hardly any. */
	unsigned dead_connections;
	unsigned repaired; /* Bits: 1 << enum store_repair. */
	bool tried;
};

/*
 * A wanted range. The caller keeps the struct and the object alive until
 * on_done. Fields below the line are fetch's and need no initial value.
 *
 * A range of more than part_size is fetched in pieces, one after the other:
 * who wants them at the same time submits ranges of at most part_size.
 */
struct fetch_range {
	struct object *object;
	uint64_t offset;
	uint64_t length; /* > 0, inside the object. */
	bool demand;	 /* A reader waits; false: prefetch. */
	/* In order from `offset`, each byte once, also across retries. */
	void (*on_data)(struct fetch_range *range, uint64_t offset,
			const void *data, size_t length);
	/*
	 * 0: all bytes were given. -ESTALE: the object changed or is gone.
	 * -EACCES: refused. -EIO: given up. -EDQUOT: the store's limit.
	 * -ECANCELED, -ENOMEM. Bytes given before an error are right and may be
	 * kept. The last touch of the struct by fetch is before this call.
	 */
	void (*on_done)(struct fetch_range *range, int error);
	/* ---- */
	uint64_t done_bytes;
	struct fetch_retry retry;
	struct flight *flight; /* NULL while queued. */
	struct fetch_range *prev, *next;
	struct fetch_range *start_chain, *end_chain;
	struct queue_object *group;
	int error;
	bool canceled, ended;
};

/* Queues it. Ranges of one object queued next to each other may travel in one
 * request; nothing is asked for twice by fetch itself, but callers must not
 * queue overlapping ranges. */
void fetch_range_submit(struct fetch *fetch, struct fetch_range *range);

/* Queues all of them before the first is sent, so that neighbours join even
 * when connections are free. */
void fetch_ranges_submit(struct fetch *fetch, struct fetch_range *const *ranges,
		size_t count);

/*
 * A reader waits for it now: prefetch becomes demand (queue and retries), and
 * a cancel is taken back. Nothing happens when on_done is on its way: calls
 * for a range are safe until its on_done has returned.
 */
void fetch_range_promote(struct fetch *fetch, struct fetch_range *range);

/* Not under way: on_done(-ECANCELED) soon. Under way: goes on to the end of its
 * transfer, since the bytes are already on their way, but is not tried again.
 */
void fetch_range_cancel(struct fetch *fetch, struct fetch_range *range);

/*
 * One stat. Identical calls at the same time share one request. -ENOENT only
 * when the store said so. `object` is borrowed during the callback.
 */
typedef void fetch_stat_done(void *context, int error, struct object *object);
int fetch_stat(struct fetch *fetch, struct store *store, const char *key,
		fetch_stat_done *done, void *context);

/*
 * A listing: pages until the last, or `max_pages` (0: all). on_page runs for
 * each in order and may return a negative errno to end; the entries are valid
 * during it. on_done comes last: error, and whether pages were left. A token
 * that repeats or is missing on a cut page is -EIO.
 */
struct fetch_list_callbacks {
	int (*on_page)(void *context, const struct store_page *page);
	void (*on_done)(void *context, int error, bool more);
};
struct fetch_list_args {
	struct store *store;
	const char *prefix; /* Full key prefix. */
	bool recursive;
	uint32_t max_keys; /* A page; 0: the store's. */
	unsigned max_pages;
};
int fetch_list(struct fetch *fetch, const struct fetch_list_args *args,
		const struct fetch_list_callbacks *callbacks, void *context);

/* The words of the newest final failure, for messages at mount and in logs:
 * "403 AccessDenied: …". Writes at most size - 1 bytes. */
void fetch_last_failure(struct fetch *fetch, char *buffer, size_t size);

/* Connections that one busy stream may count on now; at least 1. Any thread,
 * takes no lock. */
size_t fetch_transfer_limit(struct fetch *fetch);

#endif
