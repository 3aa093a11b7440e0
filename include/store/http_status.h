#ifndef STORE_HTTP_STATUS_H
#define STORE_HTTP_STATUS_H

#include <stdint.h>

#include "net/net.h"
#include "store/store.h"

/*
 * The only place that maps a response to an errno and to "retry or not".
 * `code` is the service's error code from the body ("NoSuchKey", "SlowDown"),
 * "" when there is none; a code counts with any status, since some services
 * send errors with 200. Each sets all of *out but detail.
 *
 * out->repair with STORE_FINAL says what might mend it: a store that can do so
 * does, and sets STORE_REPAIRED itself. A HEAD has no body, so a bare 400 or
 * 403 may be an expired token too, or a wrong region if a header says so.
 *
 * A request without any answer is STORE_RETRY with `answered` false: whether
 * the endpoint as a whole is silent shows only in other requests.
 */

/* For a stat, a list and anything else but a range. A 404 is -ENOENT, but a
 * missing bucket is -EIO: it says nothing about the name. */
void http_status_judge(const struct net_result *result, const char *code,
		struct store_outcome *out);

/* For a range of a version known to exist: it must be a 206, and a 404 or 416
 * means that the version is gone, -ESTALE. */
void http_status_judge_range(const struct net_result *result, const char *code,
		struct store_outcome *out);

/* The value of a Retry-After header, seconds or a date, as milliseconds from
 * `now` (seconds since the epoch): 0 for NULL, nonsense and the past, at most
 * a minute. */
uint32_t http_status_retry_after_ms(const char *value, int64_t now);

#endif
