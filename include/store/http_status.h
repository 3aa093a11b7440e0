#ifndef STORE_HTTP_STATUS_H
#define STORE_HTTP_STATUS_H

#include "net/net.h"
#include "store/store.h"

/*
 * The only place that maps a response to an errno and to "retry or not"
 * (DESIGN sections 7 and 9). `code` is the service's error code from the
 * body ("NoSuchKey", "SlowDown"), "" when there is none. Sets error, advice,
 * retry_after_ms, http_status, answered of *out.
 */
void http_status_judge(const struct net_result *result, const char *code,
		struct store_outcome *out);

#endif
