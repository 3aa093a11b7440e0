#include "options_private.h"

#include <errno.h>

#include "exchange_private.h"
#include "loop_private.h"
#include "request_private.h"

/* Measured with eight ranges on one loop: larger ones bring nothing, and each
 * transfer has one. */
#define RECEIVE_BUFFER_BYTES (256L * 1024)

struct long_option {
	CURLoption option;
	long value;
};

struct pointer_option {
	CURLoption option;
	const void *value; /* NULL: left at libcurl's default. */
};

/* The same for every request. */
static const struct long_option fixed[] = {
		/* libcurl raises no signals; a loop's thread blocks SIGPIPE. */
		{CURLOPT_NOSIGNAL, 1},
		{CURLOPT_NOPROGRESS, 1},
		/* HTTP/2 would fold parallel ranges into one connection. */
		{CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
		{CURLOPT_HTTP09_ALLOWED, 0},
		/* What was signed is sent, and what is sent is received. */
		{CURLOPT_PATH_AS_IS, 1},
		{CURLOPT_FOLLOWLOCATION, 0},
		{CURLOPT_HTTP_CONTENT_DECODING, 0},
		{CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
		{CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
		{CURLOPT_TCP_NODELAY, 1},
		{CURLOPT_TCP_KEEPALIVE, 1},
		{CURLOPT_TCP_KEEPIDLE, 30},
		{CURLOPT_TCP_KEEPINTVL, 10},
		{CURLOPT_BUFFERSIZE, RECEIVE_BUFFER_BYTES},
		/* Each new connection asks for the addresses again and shuffles
		 * them: cached, all would go to the one that came first. */
		{CURLOPT_DNS_CACHE_TIMEOUT, 0},
		{CURLOPT_DNS_SHUFFLE_ADDRESSES, 1},
		/* A connection that never ends keeps to addresses that the name
		 * has long left. */
		{CURLOPT_MAXLIFETIME_CONN, 3600},
#if LIBCURL_VERSION_NUM >= 0x075700
		/* A canceled lookup does not hold up the loop until the name
		 * server answers. */
		{CURLOPT_QUICK_EXIT, 1},
#endif
};

static int set_longs(
		CURL *easy, const struct long_option *options, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (curl_easy_setopt(easy, options[i].option,
				    options[i].value) != CURLE_OK) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int set_pointers(
		CURL *easy, const struct pointer_option *options, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (options[i].value == NULL) {
			continue;
		}
		if (curl_easy_setopt(easy, options[i].option,
				    options[i].value) != CURLE_OK) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int set_policy(const struct net_request *request, CURL *easy,
		const struct policy *policy)
{
	const struct long_option longs[] = {
			{CURLOPT_CONNECTTIMEOUT_MS,
					(long)policy->connect_timeout_ms},
			{CURLOPT_MAXAGE_CONN, (long)policy->idle_seconds},
			{CURLOPT_FRESH_CONNECT,
					request->fresh_connection ? 1 : 0},
	};
	const struct pointer_option pointers[] = {
			{CURLOPT_CAINFO, policy->ca_bundle},
			{CURLOPT_PROXY, request->no_proxy ? "" : policy->proxy},
			{CURLOPT_INTERFACE, policy->bind_interface},
			{CURLOPT_USERAGENT, "shardfs/" SHARDFS_VERSION},
	};
	int error = set_longs(easy, longs, sizeof(longs) / sizeof(longs[0]));
	if (error != 0) {
		return error;
	}
	return set_pointers(
			easy, pointers, sizeof(pointers) / sizeof(pointers[0]));
}

/* PUT goes as a POST of another name: its body is at hand, so that its length
 * is known and it can be sent again. */
static int set_method(const struct net_request *request, CURL *easy)
{
	const bool has_body = request->method == NET_POST ||
			      request->method == NET_PUT;
	const struct long_option longs[] = {
			{CURLOPT_HTTPGET, request->method == NET_GET},
			{CURLOPT_NOBODY, request->method == NET_HEAD},
			{CURLOPT_POST, has_body},
	};
	const void *body = request->body != NULL ? request->body : "";
	const char *name = request->method == NET_PUT ? "PUT" : NULL;

	for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
		if (longs[i].value != 0 && set_longs(easy, &longs[i], 1) != 0) {
			return -ENOMEM;
		}
	}
	if (!has_body) {
		return 0;
	}
	if (curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
			    (curl_off_t)request->body_length) != CURLE_OK) {
		return -ENOMEM;
	}
	const struct pointer_option pointers[] = {
			{CURLOPT_POSTFIELDS, body},
			{CURLOPT_CUSTOMREQUEST, name},
	};
	return set_pointers(
			easy, pointers, sizeof(pointers) / sizeof(pointers[0]));
}

static int set_data(struct net_request *request, CURL *easy)
{
	const struct pointer_option pointers[] = {
			{CURLOPT_URL, request->url},
			{CURLOPT_HTTPHEADER, request->fields},
			{CURLOPT_ERRORBUFFER, request->detail},
			{CURLOPT_PRIVATE, request},
			{CURLOPT_HEADERDATA, request},
			{CURLOPT_WRITEDATA, request},
			{CURLOPT_PREREQDATA, request},
			{CURLOPT_OPENSOCKETDATA, request},
			{CURLOPT_CLOSESOCKETDATA, loop_sockets(request->loop)},
	};
	return set_pointers(
			easy, pointers, sizeof(pointers) / sizeof(pointers[0]));
}

static int set_functions(CURL *easy)
{
	if (curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION,
			    exchange_on_header) != CURLE_OK ||
			curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION,
					exchange_on_body) != CURLE_OK ||
			curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION,
					exchange_on_send) != CURLE_OK ||
			curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION,
					exchange_open_socket) != CURLE_OK ||
			curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION,
					exchange_close_socket) != CURLE_OK) {
		return -ENOMEM;
	}
	return 0;
}

int options_apply(struct net_request *request, CURL *easy,
		const struct policy *policy)
{
	if (set_longs(easy, fixed, sizeof(fixed) / sizeof(fixed[0])) != 0 ||
			set_policy(request, easy, policy) != 0 ||
			set_method(request, easy) != 0 ||
			set_data(request, easy) != 0 ||
			set_functions(easy) != 0) {
		return -ENOMEM;
	}
	return 0;
}
