#ifndef STORE_S3_SCRIPT_H
#define STORE_S3_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"
#include "net/net.h"
#include "store/open.h"
#include "store/store.h"

/*
 * An S3 store over a network that is scripted: it keeps the one request that
 * was sent, and the test plays its answer. Linked into tests of the S3 store
 * in place of the room below.
 */
struct net_request {
	enum net_method method;
	char *url;
	char *headers[24];
	size_t header_count;
	const struct net_callbacks *callbacks;
	void *context;
	bool is_canceled;
};

struct answer {
	int status;
	const char *headers[8]; /* "Name: value" */
	const char *body;
	enum net_failure failure;
};

extern struct net_request sent;
extern unsigned submits;
extern int submit_error;	 /* What net_submit() returns. */
extern bool cancel_ends_at_once; /* net_cancel() plays the end. */

/* The value of a header of the request, NULL when it has none. */
const char *sent_header(const char *name);
void play(const struct answer *answer);
/* The range [10, 15) of the object. */
extern const struct answer good_range;

/* What the caller was told. */
struct seen {
	unsigned done;
	int error, status;
	enum store_advice advice;
	enum store_repair repair;
	char detail[600];
	char data[256];
	size_t data_length;
	uint64_t data_offset;
	char keys[256];
	char token[64];
	struct object *object;
	bool refuse_data;
};
extern struct seen seen;

extern const struct store_callbacks_stat stat_callbacks;
extern const struct store_callbacks_list list_callbacks;
extern const struct store_callbacks_get get_callbacks;

extern struct counters counters;
extern struct store *store;
extern struct object *object; /* "p/a b+c", 100 bytes, ETag "e". */
extern struct store_settings settings;
extern char credentials[]; /* The path of the credentials file. */

void open_store(void);
void write_file(const char *path, const char *text);
void write_keys(const char *id);
void get_range(uint64_t offset, uint64_t length);

/* For TestSuite(.init, .fini). */
void script_start(void);
void script_finish(void);

#endif
