#ifndef NET_FAILURE_PRIVATE_H
#define NET_FAILURE_PRIVATE_H

#include <curl/curl.h>
#include <stdbool.h>

#include "net/net.h"

/* All that is known about the end of a transfer. */
struct transfer_end {
	CURLcode code;	    /* Not looked at when one of the next is true. */
	bool canceled;	    /* By the caller, a callback, or net_destroy. */
	bool timed_out;	    /* A deadline of ours passed. */
	bool not_http;	    /* Headers malformed or beyond the limits. */
	bool no_descriptor; /* socket(2) failed. */

	bool sent;	       /* The request began to go out. */
	bool answered;	       /* A byte of the answer came. */
	bool headers_complete; /* With a final status. */
	bool reused;	       /* On a kept-alive connection. */
	const char *detail;    /* libcurl's words; never NULL. */
};

/* The one place that knows what libcurl's codes mean for a retry. */
enum net_failure failure_classify(const struct transfer_end *end);

#endif
