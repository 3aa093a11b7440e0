#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws_credentials_private.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/url.h"
#include "s3_private.h"
#include "sigv4_private.h"

#define URL_LIMIT (64 * 1024)
#define HEADER_LIMIT (64 * 1024)
#define MAX_HEADERS (SIGV4_MAX_HEADERS + 4)
#define SSE_C "x-amz-server-side-encryption-customer-"

/* A request while it is put together. */
struct draft {
	const struct s3_request *request;
	struct strbuf prefix; /* "https://host" */
	struct strbuf path;   /* Signed and sent. */
	struct strbuf query;  /* Likewise. */
	struct strbuf host;
	char time[SIGV4_TIME_SIZE];
	struct sigv4_header signed_headers[SIGV4_MAX_HEADERS];
	size_t signed_count;
	char *lines[MAX_HEADERS + 1]; /* As sent; NULL after the last. */
	size_t line_count;
	bool failed;
};

static void draft_init(struct draft *draft, const struct s3_request *request)
{
	*draft = (struct draft){.request = request};
	strbuf_init(&draft->prefix, URL_LIMIT);
	strbuf_init(&draft->path, URL_LIMIT);
	strbuf_init(&draft->query, URL_LIMIT);
	strbuf_init(&draft->host, URL_LIMIT);
}

static void draft_finish(struct draft *draft)
{
	strbuf_finish(&draft->prefix);
	strbuf_finish(&draft->path);
	strbuf_finish(&draft->query);
	strbuf_finish(&draft->host);
	/* They hold signatures, tokens and keys. */
	for (size_t i = 0; i < draft->line_count; i++) {
		explicit_bzero(draft->lines[i], strlen(draft->lines[i]));
		free(draft->lines[i]);
	}
}

static void add_line(struct draft *draft, const char *name, const char *value)
{
	char *line = NULL;

	if (draft->line_count == MAX_HEADERS ||
			asprintf(&line, "%s: %s", name, value) < 0) {
		draft->failed = true;
		return;
	}
	draft->lines[draft->line_count++] = line;
}

static void sign_header(
		struct draft *draft, const char *name, const char *value)
{
	if (draft->signed_count == SIGV4_MAX_HEADERS) {
		draft->failed = true;
		return;
	}
	draft->signed_headers[draft->signed_count++] =
			(struct sigv4_header){name, value};
	add_line(draft, name, value);
}

/* What the lock protects, as it is now. */
static void take_state(struct draft *draft, struct s3_store *store,
		struct s3_sent *sent)
{
	int64_t now = (int64_t)(clock_wall_ms() / 1000);

	LOCK_SCOPE(&store->lock);
	(void)strbuf_printf(&draft->prefix, "%s://%s", store->address.scheme,
			store->address.host);
	(void)strbuf_add_text(&draft->host, store->address.host);
	(void)strbuf_add_text(&draft->path, store->address.path);
	(void)snprintf(sent->region, sizeof(sent->region), "%s", store->region);
	sent->time = now + store->clock_ahead;
}

static int add_target(struct draft *draft)
{
	const struct s3_request *request = draft->request;

	if (request->key != NULL) {
		(void)url_encode(&draft->path, request->key,
				strlen(request->key), true);
	}
	/* An empty query is no query, but must be a text. */
	(void)strbuf_add_text(&draft->query, "");
	return sigv4_query(request->parameters, request->parameter_count,
			&draft->query);
}

static void add_amz_headers(struct draft *draft, const struct s3_store *store,
		const struct aws_credentials *keys)
{
	const struct s3_sse_key *sse = &store->sse_key;

	sign_header(draft, "host", draft->host.text);
	if (keys != NULL) {
		sign_header(draft, "x-amz-content-sha256", SIGV4_EMPTY_SHA256);
		sign_header(draft, "x-amz-date", draft->time);
	}
	if (keys != NULL && keys->session_token != NULL) {
		sign_header(draft, "x-amz-security-token", keys->session_token);
	}
	if (store->requester_pays) {
		sign_header(draft, "x-amz-request-payer", "requester");
	}
	if (sse->key_base64 != NULL && draft->request->key != NULL) {
		sign_header(draft, SSE_C "algorithm", "AES256");
		sign_header(draft, SSE_C "key", sse->key_base64);
		sign_header(draft, SSE_C "key-md5", sse->md5_base64);
	}
}

/* Not signed: a proxy may touch them, and S3 asks for no more than host and
 * x-amz-*. */
static void add_plain_headers(struct draft *draft)
{
	const struct s3_request *request = draft->request;

	if (request->range != NULL) {
		add_line(draft, "Range", request->range);
	}
	if (request->if_match != NULL) {
		add_line(draft, "If-Match", request->if_match);
	}
	/* The stored bytes are the file's bytes, whatever coding they are in.
	 */
	add_line(draft, "Accept-Encoding", "identity");
}

static int add_authorization(struct draft *draft, const struct s3_sent *sent,
		const struct aws_credentials *keys)
{
	const struct sigv4_request request = {
			.method = draft->request->method == NET_HEAD ? "HEAD"
								     : "GET",
			.path = draft->path.text,
			.query = draft->query.text,
			.headers = draft->signed_headers,
			.header_count = draft->signed_count,
			.payload_sha256 = SIGV4_EMPTY_SHA256,
	};
	const struct sigv4_scope scope = {
			.access_key_id = keys->access_key_id,
			.secret_access_key = keys->secret_access_key,
			.region = sent->region,
			.service = "s3",
			.time = sent->time,
	};
	struct strbuf value;

	strbuf_init(&value, HEADER_LIMIT);
	const int error = sigv4_authorization(&request, &scope, &value);
	if (error == 0) {
		add_line(draft, "Authorization", value.text);
	}
	strbuf_finish(&value);
	return error;
}

static int fill_draft(struct draft *draft, struct s3_store *store,
		struct s3_sent *sent, const struct aws_credentials *keys)
{
	take_state(draft, store, sent);
	sent->is_signed = keys != NULL;
	sigv4_format_time(sent->time, draft->time);
	int error = add_target(draft);

	if (error != 0 || draft->path.failed || draft->host.failed) {
		return error == -ENOMEM ? error : -EINVAL;
	}
	add_amz_headers(draft, store, keys);
	if (keys != NULL) {
		error = add_authorization(draft, sent, keys);
	}
	add_plain_headers(draft);
	return error == 0 && draft->failed ? -ENOMEM : error;
}

static int submit_draft(struct draft *draft, struct net *net,
		const struct net_callbacks *callbacks, void *context,
		struct net_request **out_net_request)
{
	struct strbuf *url = &draft->prefix;

	(void)strbuf_add_text(url, draft->path.text);
	if (draft->query.length > 0) {
		(void)strbuf_printf(url, "?%s", draft->query.text);
	}
	if (url->failed) {
		return -ENOMEM;
	}
	const struct net_request_spec spec = {
			.method = draft->request->method,
			.url = url->text,
			.headers = (const char *const *)draft->lines,
			.callbacks = callbacks,
			.context = context,
	};
	return net_submit(net, &spec, out_net_request);
}

int s3_request_submit(struct s3_store *store, const struct s3_request *request,
		const struct net_callbacks *callbacks, void *context,
		struct s3_sent *out_sent, struct aws_credentials **out_used,
		struct net_request **out_net_request)
{
	struct draft draft;

	draft_init(&draft, request);
	/* Before it is queued: the answer may come before we return. */
	*out_used = store->credentials != NULL
				    ? aws_chain_get(store->credentials)
				    : NULL;
	int error = fill_draft(&draft, store, out_sent, *out_used);

	if (error == 0) {
		error = submit_draft(&draft, store->net, callbacks, context,
				out_net_request);
	}
	draft_finish(&draft);
	return error;
}
