#ifndef TESTS_CALL_H
#define TESTS_CALL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"

/* One request of a test, and what its callbacks were told. */
struct call {
	/* Set before call_start. */
	struct net_request_spec spec; /* url, callbacks, context are set. */
	size_t refuse_body_after;     /* on_body fails then; 0: never. */
	bool refuse_headers;
	void (*then)(struct call *call); /* In on_done; may be NULL. */

	char url[400];
	struct net_request *request;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t headers_count; /* Calls of on_headers. */
	size_t done_count;
	size_t body_length;
	bool body_differs;  /* From server_byte. */
	char body[20000];   /* Its beginning. */
	char etag[100];	    /* "" when absent. */
	int headers_status; /* As on_headers saw it. */
	int64_t headers_length;
	struct net_result result; /* Without pointers. */
	char detail[300];
};

struct call *call_create(uint16_t port, const char *path);
void call_destroy(struct call *call);

int call_start(struct call *call, struct net *net);
void call_wait(struct call *call);
/* Waits until that much of the body has come. */
void call_wait_body(struct call *call, size_t length);

/* Start and wait. */
enum net_failure call_run(struct call *call, struct net *net);

#endif
