#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * HTTP transfers on a few event loops, each a thread with a curl multi handle
 * of its own. This room sends one request and hands over what comes back. It
 * does not retry, sign, follow redirects, decompress, or judge a status.
 */
struct net;
struct net_request;

struct net_settings {
	size_t loop_count;
	size_t max_connections; /* Kept alive over all loops. */
	const char *ca_bundle;	/* Borrowed; NULL: the system's, see below. */
	const char *proxy;	/* Borrowed; NULL: from the environment. */
	const char *bind_interface; /* Borrowed; NULL: any. */
	uint32_t connect_timeout_ms;
	uint32_t first_byte_timeout_ms; /* From sent request to first byte. */
	/* Fewer than this many bytes in so many seconds is a stall. */
	uint32_t stall_bytes_per_second;
	uint32_t stall_seconds;
	uint32_t idle_seconds; /* Idle connections are closed after it. */
};

/* A loop a core, at most 8; 64 connections; 5 s to connect, 10 s to the first
 * byte, 16 KiB/s for 10 s, 15 s idle. */
void net_settings_defaults(struct net_settings *settings);

/*
 * Starts the loops. Call after the last fork. CA bundle: the option, else
 * AWS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE, else libcurl's own, else the
 * known places of distributions. -ENOENT when a named bundle cannot be read.
 */
int net_create(const struct net_settings *settings, struct net **out_net);

/* Cancels what is under way (each on_done is called, with NET_CANCELED) and
 * joins the loops. No submit may run at the same time or later, but for one in
 * a callback, which gets -ECANCELED. */
void net_destroy(struct net *net);

enum net_method { NET_GET, NET_HEAD, NET_POST, NET_PUT };

enum net_failure {
	NET_OK,		 /* A whole response came. */
	NET_CANCELED,	 /* net_cancel, a callback's refusal, net_destroy. */
	NET_UNREACHABLE, /* No address, no route, refused, connect timeout. */
	NET_TIMEOUT,	 /* First byte timeout, or a stall. */
	NET_BROKEN,	 /* Reset or closed in the middle of the exchange. */
	/* A reused connection broke before any byte came. Rare: the request is
	 * sent again on another one first, up to five times. */
	NET_DEAD_IDLE,
	NET_TLS,      /* Certificate or handshake. Never worth a retry. */
	NET_PROTOCOL, /* Not HTTP, or beyond the limits for headers. */
	NET_INTERNAL, /* No memory, no descriptors. */
};

/* What is known once the headers are in. Valid during the callbacks. */
struct net_response {
	int status;
	int64_t content_length; /* -1: not given. */
	struct net_request *request;
};

/* The value of the last header of that name (any case), without blanks at the
 * ends; NULL when absent. Valid during the callbacks of its request. */
const char *net_response_header(
		const struct net_response *response, const char *name);

struct net_result {
	enum net_failure failure;
	struct net_response response; /* status 0: no status line came. */
	uint64_t body_bytes;
	uint64_t first_byte_us; /* From submit; 0: none came. */
	uint64_t total_us;
	const char *detail; /* libcurl's words for logs; never NULL. */
};

/*
 * All run on the request's loop thread, must not block, and may submit
 * further requests. on_headers and on_body may be NULL. A negative return ends
 * the transfer: on_done then tells NET_CANCELED, and the connection is dropped.
 */
struct net_callbacks {
	int (*on_headers)(void *context, const struct net_response *response);
	int (*on_body)(void *context, const void *data, size_t length);
	void (*on_done)(void *context, const struct net_result *result);
};

struct net_request_spec {
	enum net_method method;
	const char *url; /* Sent letter for letter (path-as-is). */
	/* "Name: value", "Name;" without a value; NULL-terminated. libcurl adds
	 * Host, Accept, User-Agent and, to a body, Content-Length and a
	 * Content-Type of forms, each unless it is given. */
	const char *const *headers;
	const void *body; /* Copied. */
	size_t body_length;
	bool no_proxy;	       /* Metadata and loopback credential addresses. */
	bool fresh_connection; /* Do not reuse a connection. */
	uint32_t total_timeout_ms;	       /* 0: none. */
	const struct net_callbacks *callbacks; /* Borrowed until on_done. */
	void *context;
};

/*
 * Queues the request; the spec is copied. on_done is called exactly once, never
 * inside this call. The reference in *out_request is the caller's (it may be
 * NULL when no cancel is wanted). After an error nothing was queued and on_done
 * will not come: -ENOMEM; -EINVAL for a URL that url_parse() refuses or a
 * header with a control character; -ECANCELED inside a callback while
 * net_destroy runs.
 */
int net_submit(struct net *net, const struct net_request_spec *spec,
		struct net_request **out_request);

/* Asks for an early end; a no-op once the request is done. */
void net_cancel(struct net_request *request);
void net_request_unref(struct net_request *request);

#endif
