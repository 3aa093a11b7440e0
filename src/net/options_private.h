#ifndef NET_OPTIONS_PRIVATE_H
#define NET_OPTIONS_PRIVATE_H

#include <curl/curl.h>

struct net_request;
struct policy;

/* All options of a fresh or reset handle for this request; its callbacks are
 * those of exchange_private.h. -ENOMEM. */
int options_apply(struct net_request *request, CURL *easy,
		const struct policy *policy);

#endif
