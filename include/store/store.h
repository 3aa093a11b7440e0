#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters;
struct net;
struct object;
struct strbuf;

/*
 * A store answers three questions: what is this key, what lies under this
 * prefix, what are these bytes. All calls are asynchronous and can be
 * cancelled. It builds requests and reads answers; whether to ask again, when,
 * and how much is the caller's (room fetch).
 *
 * Thread rule: any thread may call; callbacks come on a thread of the store
 * (a network loop, or a worker of the file store), never inside the call, must
 * not block, and may call the store again.
 */
struct store;
struct store_call;

/* What the caller may do about a call that did not succeed. */
enum store_advice {
	STORE_FINAL,	   /* Asking again gives the same. */
	STORE_RETRY,	   /* A passing fault: with backoff. */
	STORE_RETRY_NOW,   /* A dead idle connection: at once, not counted. */
	STORE_THROTTLED,   /* Asked to slow down; see retry_after_ms. */
	STORE_REPAIRED,	   /* Credentials, clock or region were wrong and are
			      mended now: once more, at once. */
	STORE_UNREACHABLE, /* The endpoint as a whole does not answer. */
};

enum store_repair {
	STORE_REPAIR_NONE,
	STORE_REPAIR_CREDENTIALS,
	STORE_REPAIR_CLOCK,
	STORE_REPAIR_REGION,
	STORE_REPAIR_ETAG /* Sent with quotes where it has none, or without. */
};

struct store_outcome {
	/* 0 or a negative errno. -ENOENT: absent (stat). -ESTALE: changed or
	 * gone (get). -EACCES: refused. -ECANCELED. -EIO: all else. */
	int error;
	enum store_advice advice; /* For error != 0. */
	enum store_repair repair; /* For STORE_REPAIRED. */
	uint32_t retry_after_ms;  /* 0: not given. */
	int http_status;	  /* 0: none. */
	bool answered;		  /* The endpoint sent an answer of any kind. */
	uint64_t first_byte_us, total_us;
	/* For people: "403 AccessDenied: text" or libcurl's words. No secrets;
	 * valid during the callback; never NULL. */
	const char *detail;
};

struct store_callbacks_stat {
	/* `object` is set on success (the callback refs it to keep it). Absent
	 * is error -ENOENT. */
	void (*on_done)(void *context, const struct store_outcome *outcome,
			struct object *object);
};

/* One entry of a listing page; strings are valid during the callback. */
struct store_entry {
	const char *key;   /* Full key or, for a prefix, with its last '/'. */
	size_t key_length; /* Keys are bytes: they may have any but NUL. */
	bool is_prefix;
	/* For objects: */
	const char *etag; /* As it came, "" when there is none. */
	uint64_t size;
	int64_t mtime;
	bool archived;
	/* See struct object: no strong ETag, and changed under 2 s before. */
	bool unsettled;
};

struct store_page {
	const struct store_entry *entries;
	size_t entry_count;
	const char *next_token; /* NULL: the last page. */
};

struct store_callbacks_list {
	void (*on_done)(void *context, const struct store_outcome *outcome,
			const struct store_page *page); /* NULL on error. */
};

struct store_list_args {
	const char *prefix; /* Full key prefix, "" for all. */
	const char *token;  /* NULL: the first page. */
	bool recursive;	    /* False: delimiter '/'. */
	uint32_t max_keys;  /* 0: the store's own page size. */
};

struct store_callbacks_get {
	/*
	 * Bytes of the range in order, from `offset` of the object: checked
	 * against what was asked (status, Content-Range, ETag) before the first
	 * call, and never beyond the range. A negative return cancels.
	 */
	int (*on_data)(void *context, uint64_t offset, const void *data,
			size_t length);
	/* error 0: exactly the range was given. */
	void (*on_done)(void *context, const struct store_outcome *outcome);
};

/*
 * Each queues one request. 0: on_done comes once. -ENOMEM: it does not.
 * *out_call (may be NULL) is a reference of the caller's, for store_cancel.
 * store_get: [offset, offset + length) lies inside the object, length > 0.
 */
int store_stat(struct store *store, const char *key,
		const struct store_callbacks_stat *callbacks, void *context,
		struct store_call **out_call);
int store_list(struct store *store, const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context,
		struct store_call **out_call);
int store_get(struct store *store, struct object *object, uint64_t offset,
		uint64_t length, const struct store_callbacks_get *callbacks,
		void *context, struct store_call **out_call);

/* on_done still comes, with -ECANCELED unless it was on its way. */
void store_cancel(struct store_call *call);
void store_call_unref(struct store_call *call);

/* Canonical source without the prefix: scheme, host, port, bucket. Two mounts
 * of the same bucket have the same name. Part of the cache's identity. */
const char *store_name(const struct store *store);
/* The prefix of the SOURCE: "" or ending in '/'. */
const char *store_prefix(const struct store *store);
/* The URL of a key for people and xattrs: no query, no secrets. */
int store_url(const struct store *store, const char *key, struct strbuf *out);
/* One line for `-v`: who signs, which endpoint and region. */
int store_describe(const struct store *store, struct strbuf *out);
/* NULL does nothing. Calls still waiting end with -ECANCELED first; no call may
 * start at the same time or later. */
void store_destroy(struct store *store);

#endif
