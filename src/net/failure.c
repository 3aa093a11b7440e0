#include "failure_private.h"

#include <string.h>

/*
 * A transport error. Before the request went out the endpoint was not reached,
 * whatever broke. A kept-alive connection that breaks before any byte had been
 * closed by the server while it was idle: that says nothing about its health.
 */
static enum net_failure broken(const struct transfer_end *end)
{
	if (!end->sent) {
		return NET_UNREACHABLE;
	}
	if (end->reused && !end->answered) {
		return NET_DEAD_IDLE;
	}
	return NET_BROKEN;
}

/*
 * libcurl has one code for a handshake that was refused, which stays refused,
 * and for one that the network cut. Only OpenSSL's own errors are the former,
 * but for its "unexpected eof".
 */
static enum net_failure handshake(const struct transfer_end *end)
{
	if (strstr(end->detail, "SSL routines") != NULL &&
			strstr(end->detail, "unexpected eof") == NULL) {
		return NET_TLS;
	}
	return broken(end);
}

static enum net_failure completed(const struct transfer_end *end)
{
	return end->headers_complete ? NET_OK : NET_PROTOCOL;
}

/* A header line beyond libcurl's own limit is told as a lack of memory. */
static enum net_failure out_of_memory(const struct transfer_end *end)
{
	return end->sent && !end->headers_complete ? NET_PROTOCOL
						   : NET_INTERNAL;
}

static enum net_failure classify_code(const struct transfer_end *end)
{
	switch (end->code) {
	case CURLE_OK:
		return completed(end);
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_INTERFACE_FAILED:
	case CURLE_PROXY:
		return NET_UNREACHABLE;
	case CURLE_OPERATION_TIMEDOUT:
		return end->sent ? NET_TIMEOUT : NET_UNREACHABLE;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
	case CURLE_SSL_SHUTDOWN_FAILED:
		return broken(end);
	case CURLE_SSL_CONNECT_ERROR:
		return handshake(end);
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
		return NET_TLS;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_BAD_CONTENT_ENCODING:
		return NET_PROTOCOL;
	case CURLE_OUT_OF_MEMORY:
		return out_of_memory(end);
	default:
		return NET_INTERNAL;
	}
}

enum net_failure failure_classify(const struct transfer_end *end)
{
	if (end->canceled) {
		return NET_CANCELED;
	}
	if (end->timed_out) {
		return end->sent ? NET_TIMEOUT : NET_UNREACHABLE;
	}
	if (end->not_http) {
		return NET_PROTOCOL;
	}
	if (end->no_descriptor && end->code != CURLE_OK) {
		return NET_INTERNAL;
	}
	return classify_code(end);
}
