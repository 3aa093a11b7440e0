#include "sigv4_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/digest.h"
#include "base/strbuf.h"
#include "base/url.h"

#define SCOPE_END "aws4_request"
#define TEXT_LIMIT (64 * 1024)

void sigv4_format_time(int64_t time, char buffer[SIGV4_TIME_SIZE])
{
	const time_t seconds = (time_t)time;
	struct tm parts = {0};

	/* Years of more than four digits end in an empty text, which no server
	 * accepts. */
	if (gmtime_r(&seconds, &parts) == NULL ||
			strftime(buffer, SIGV4_TIME_SIZE, "%Y%m%dT%H%M%SZ",
					&parts) == 0) {
		buffer[0] = '\0';
	}
}

/* By name, then by value: comparing whole pairs would put "a-b=" before "a=",
 * since '-' is less than '='. */
static int compare_pairs(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;
	const size_t left_name = strcspn(*left, "=");
	const size_t right_name = strcspn(*right, "=");
	const size_t common = left_name < right_name ? left_name : right_name;
	const int order = memcmp(*left, *right, common);

	if (order != 0) {
		return order;
	}
	if (left_name != right_name) {
		return left_name < right_name ? -1 : 1;
	}
	return strcmp(*left, *right);
}

static char *encode_parameter(const struct sigv4_parameter *parameter)
{
	struct strbuf pair;

	strbuf_init(&pair, TEXT_LIMIT);
	(void)url_encode(
			&pair, parameter->name, strlen(parameter->name), false);
	(void)strbuf_add_char(&pair, '=');
	(void)url_encode(&pair, parameter->value, strlen(parameter->value),
			false);
	char *text = strbuf_take(&pair);

	strbuf_finish(&pair);
	return text;
}

int sigv4_query(const struct sigv4_parameter *parameters, size_t count,
		struct strbuf *out)
{
	char *pairs[SIGV4_MAX_PARAMETERS] = {0};
	int error = 0;

	if (count > SIGV4_MAX_PARAMETERS) {
		return -EINVAL;
	}
	for (size_t i = 0; i < count; i++) {
		pairs[i] = encode_parameter(&parameters[i]);
		if (pairs[i] == NULL) {
			error = -ENOMEM;
			goto out;
		}
	}
	qsort(pairs, count, sizeof(pairs[0]), compare_pairs);
	for (size_t i = 0; i < count && error == 0; i++) {
		error = i == 0 ? 0 : strbuf_add_char(out, '&');
		error = error != 0 ? error : strbuf_add_text(out, pairs[i]);
	}
out:
	for (size_t i = 0; i < count; i++) {
		free(pairs[i]);
	}
	return error;
}

static int compare_headers(const void *a, const void *b)
{
	const struct sigv4_header *left = a;
	const struct sigv4_header *right = b;

	return strcmp(left->name, right->name);
}

static int sort_headers(const struct sigv4_request *request,
		struct sigv4_header sorted[SIGV4_MAX_HEADERS])
{
	if (request->header_count > SIGV4_MAX_HEADERS) {
		return -EINVAL;
	}
	for (size_t i = 0; i < request->header_count; i++) {
		sorted[i] = request->headers[i];
	}
	qsort(sorted, request->header_count, sizeof(sorted[0]),
			compare_headers);
	return 0;
}

/* Blanks at the ends go, runs of blanks inside become one. */
static void add_header_value(struct strbuf *out, const char *value)
{
	bool pending = false;
	bool started = false;

	for (const char *c = value; *c != '\0'; c++) {
		if (*c == ' ' || *c == '\t') {
			pending = started;
			continue;
		}
		if (pending) {
			(void)strbuf_add_char(out, ' ');
		}
		(void)strbuf_add_char(out, *c);
		pending = false;
		started = true;
	}
}

static void add_signed_names(struct strbuf *out,
		const struct sigv4_header *sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0) {
			(void)strbuf_add_char(out, ';');
		}
		(void)strbuf_add_text(out, sorted[i].name);
	}
}

int sigv4_canonical_request(
		const struct sigv4_request *request, struct strbuf *out)
{
	struct sigv4_header sorted[SIGV4_MAX_HEADERS];
	int error = sort_headers(request, sorted);

	if (error != 0) {
		return error;
	}
	(void)strbuf_add_text(out, request->method);
	(void)strbuf_add_char(out, '\n');
	(void)strbuf_add_text(out, request->path);
	(void)strbuf_add_char(out, '\n');
	(void)strbuf_add_text(out, request->query);
	(void)strbuf_add_char(out, '\n');
	for (size_t i = 0; i < request->header_count; i++) {
		(void)strbuf_add_text(out, sorted[i].name);
		(void)strbuf_add_char(out, ':');
		add_header_value(out, sorted[i].value);
		(void)strbuf_add_char(out, '\n');
	}
	(void)strbuf_add_char(out, '\n');
	add_signed_names(out, sorted, request->header_count);
	(void)strbuf_add_char(out, '\n');
	(void)strbuf_add_text(out, request->payload_sha256);
	return out->failed ? -ENOMEM : 0;
}

int sigv4_string_to_sign(const struct sigv4_request *request,
		const struct sigv4_scope *scope, struct strbuf *out)
{
	char time[SIGV4_TIME_SIZE];
	uint8_t digest[DIGEST_SHA256_SIZE];
	char hex[DIGEST_SHA256_HEX_SIZE];
	struct strbuf canonical;

	strbuf_init(&canonical, TEXT_LIMIT);
	int error = sigv4_canonical_request(request, &canonical);
	if (error == 0) {
		error = digest_sha256(canonical.text, canonical.length, digest);
	}
	/* It has the session token. */
	if (canonical.text != NULL) {
		explicit_bzero(canonical.text, canonical.length);
	}
	strbuf_finish(&canonical);
	if (error != 0) {
		return error;
	}
	digest_hex(digest, sizeof(digest), hex);
	sigv4_format_time(scope->time, time);
	return strbuf_printf(out,
			"AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/" SCOPE_END "\n%s",
			time, time, scope->region, scope->service, hex);
}

static int derive_key(const struct sigv4_scope *scope, const char *day,
		uint8_t key[DIGEST_SHA256_SIZE])
{
	const char *const steps[] = {scope->region, scope->service, SCOPE_END};
	uint8_t next[DIGEST_SHA256_SIZE];
	struct strbuf first;

	strbuf_init(&first, TEXT_LIMIT);
	(void)strbuf_add_text(&first, "AWS4");
	(void)strbuf_add_text(&first, scope->secret_access_key);
	int error = first.failed ? -ENOMEM
				 : digest_hmac_sha256(first.text, first.length,
						   day, 8, key);
	if (first.text != NULL) {
		explicit_bzero(first.text, first.length);
	}
	strbuf_finish(&first);
	for (size_t i = 0; i < 3 && error == 0; i++) {
		error = digest_hmac_sha256(key, DIGEST_SHA256_SIZE, steps[i],
				strlen(steps[i]), next);
		if (error == 0) {
			memcpy(key, next, DIGEST_SHA256_SIZE);
		}
	}
	explicit_bzero(next, sizeof(next));
	return error;
}

static int sign(const struct sigv4_request *request,
		const struct sigv4_scope *scope, const char *day,
		char hex[DIGEST_SHA256_HEX_SIZE])
{
	uint8_t key[DIGEST_SHA256_SIZE] = {0};
	uint8_t signature[DIGEST_SHA256_SIZE];
	struct strbuf text;

	strbuf_init(&text, TEXT_LIMIT);
	int error = sigv4_string_to_sign(request, scope, &text);
	error = error != 0 ? error : derive_key(scope, day, key);
	if (error == 0) {
		error = digest_hmac_sha256(key, sizeof(key), text.text,
				text.length, signature);
	}
	explicit_bzero(key, sizeof(key));
	strbuf_finish(&text);
	if (error == 0) {
		digest_hex(signature, sizeof(signature), hex);
	}
	return error;
}

int sigv4_authorization(const struct sigv4_request *request,
		const struct sigv4_scope *scope, struct strbuf *out)
{
	struct sigv4_header sorted[SIGV4_MAX_HEADERS];
	char time[SIGV4_TIME_SIZE];
	char hex[DIGEST_SHA256_HEX_SIZE];

	sigv4_format_time(scope->time, time);
	int error = sort_headers(request, sorted);
	error = error != 0 ? error : sign(request, scope, time, hex);
	if (error != 0) {
		return error;
	}
	(void)strbuf_printf(out,
			"AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/%s/" SCOPE_END
			", SignedHeaders=",
			scope->access_key_id, time, scope->region,
			scope->service);
	add_signed_names(out, sorted, request->header_count);
	(void)strbuf_printf(out, ", Signature=%s", hex);
	return out->failed ? -ENOMEM : 0;
}
