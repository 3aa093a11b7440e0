#ifndef STORE_S3_PRIVATE_H
#define STORE_S3_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "net/net.h"
#include "s3_address_private.h"
#include "s3_error_private.h"
#include "s3_reply_private.h"
#include "store/ops.h"

struct aws_chain;
struct aws_credentials;
struct counters;

/* ---- s3.c: the store ---- */

struct s3_options {
	struct net *net;
	struct counters *counters;
	const char *bucket;
	const char *prefix;   /* "" or ending in '/'. */
	const char *endpoint; /* NULL: Amazon's own. */
	const char *region;
	int path_style; /* As in struct store_settings. */
	bool requester_pays;
	const char *sse_c_key_file;    /* NULL: none. */
	struct aws_chain *credentials; /* Taken on success; NULL: anonymous. */
};

/* -EINVAL with one line in `message`. */
int s3_store_create(const struct s3_options *options, struct store **out_store,
		char *message, size_t message_size);

/* A key for objects that the server encrypts with it. */
struct s3_sse_key {
	char *key_base64; /* NULL: there is none. */
	char *md5_base64;
};

/* 32 bytes, or the base64 of 32 bytes, from a file. -EINVAL with a message. */
int s3_sse_key_read(const char *path, struct s3_sse_key *out_key, char *message,
		size_t message_size);
void s3_sse_key_finish(struct s3_sse_key *key);

struct s3_call;

struct s3_store {
	struct store store;
	/* Set at creation: */
	struct net *net;
	struct counters *counters;
	struct aws_chain *credentials; /* NULL: anonymous. */
	char *bucket;
	char *endpoint; /* NULL: Amazon's own. */
	int path_style;
	bool requester_pays;
	struct s3_sse_key sse_key;
	/* Any thread: */
	atomic_bool bare_etags; /* Headers have no quotes where listings have
				   none. */
	/* Guarded by lock: */
	pthread_mutex_t lock;
	pthread_cond_t idle; /* The last call is gone. */
	struct s3_call *calls;
	size_t call_count;
	struct s3_address address;
	char region[64];
	unsigned region_changes;
	int64_t clock_ahead; /* Seconds by which the server's clock is. */
};

static inline struct s3_store *s3_store_of(const struct store *store)
{
	return (struct s3_store *)((char *)store -
				   offsetof(struct s3_store, store));
}

/* Any thread. True if the request that was sent so may be sent once more. */
bool s3_store_repair(struct s3_store *store, const struct s3_sent *sent,
		const struct aws_credentials *used,
		const struct s3_remedy *remedy);

/* ---- s3_request.c: one signed request ---- */

struct sigv4_parameter;

struct s3_request {
	enum net_method method;
	const char *key; /* NULL: the bucket. */
	const struct sigv4_parameter *parameters;
	size_t parameter_count;
	const char *range;    /* Value of Range; NULL: none. */
	const char *if_match; /* Likewise. */
};

/*
 * Builds, signs and queues. Fills what it was sent with, and the credentials
 * used (a reference; NULL for none). -ENOMEM, -EIO when OpenSSL fails, -EINVAL
 * for a key that is too long.
 */
int s3_request_submit(struct s3_store *store, const struct s3_request *request,
		const struct net_callbacks *callbacks, void *context,
		struct s3_sent *out_sent, struct aws_credentials **out_used,
		struct net_request **out_net_request);

/* ---- s3_call.c: what all calls have in common ---- */

/*
 * A call waits for one answer:
 *
 *   sent -> answered as hoped (headers passed on, then the body)
 *        -> refused            (the body is read as an error document)
 *        -> unusable           (problem set; the connection is dropped)
 *
 * and ends in on_done, once. All but s3_call_submit runs on the net thread.
 */
struct s3_call_kind {
	int status; /* Of an answer as hoped. */
	/* Each returns 0, or what s3_call_give_up() or _enough() returned. */
	int (*on_headers)(struct s3_call *call,
			const struct net_response *response);
	int (*on_body)(struct s3_call *call, const void *data, size_t length);
	/* The answer is over and was as hoped so far: the last look at it. */
	int (*on_whole)(struct s3_call *call, const struct net_result *result);
	/* Tells the caller. */
	void (*give)(struct s3_call *call, const struct store_outcome *outcome);
	/* For an answer that is not as hoped, or none. */
	void (*judge)(const struct net_result *result, const char *code,
			struct store_outcome *out);
	void (*free)(struct s3_call *call);
};

struct s3_call {
	struct store_call call;
	/* Set before it is sent: */
	struct s3_store *store;
	const struct s3_call_kind *kind;
	void *context; /* The caller's. */
	_Atomic uint64_t *request_counter;
	struct s3_sent sent;
	struct aws_credentials *used;
	/* Net thread: */
	const char *problem; /* Why the answer is unusable; NULL: it is not. */
	int problem_error;
	bool is_enough; /* Cut by us after all that was asked for. */
	bool is_refused;
	struct strbuf body; /* Of an answer that may be an error document. */
	struct s3_error error;
	char detail[512];
	/* Guarded by the store's lock: */
	struct net_request *net_request; /* NULL until it is queued. */
	bool is_canceled;
	struct s3_call *prev, *next;
};

void s3_call_init(struct s3_call *call, struct s3_store *store,
		const struct s3_call_kind *kind, void *context,
		_Atomic uint64_t *request_counter);
/* Takes the call over whatever happens: on an error it is freed, and *out_call
 * is NULL. */
int s3_call_submit(struct s3_call *call, const struct s3_request *request,
		struct store_call **out_call);
/* Cancels all calls and waits for their ends. */
void s3_call_end_all(struct s3_store *store);
/* Marks the answer as unusable; returns `error` to give up with. */
int s3_call_give_up(struct s3_call *call, int error, const char *problem);
/* Ends the transfer: all that was asked for is here. */
int s3_call_enough(struct s3_call *call);
/* The Date of the answer in seconds, 0 without one. */
int64_t s3_reply_time(const struct net_response *response);

/* ---- one file each ---- */

int s3_stat(struct store *store, const char *key,
		const struct store_callbacks_stat *callbacks, void *context,
		struct store_call **out_call);
int s3_list_page(struct store *store, const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context,
		struct store_call **out_call);
int s3_get(struct store *store, struct object *object, uint64_t offset,
		uint64_t length, const struct store_callbacks_get *callbacks,
		void *context, struct store_call **out_call);

#endif
