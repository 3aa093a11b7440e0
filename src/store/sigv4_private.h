#ifndef STORE_SIGV4_PRIVATE_H
#define STORE_SIGV4_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

struct strbuf;

/*
 * AWS Signature Version 4 for requests without a body, as pure functions. The
 * caller encodes path and query once; the same text is signed here and sent.
 */
#define SIGV4_EMPTY_SHA256                                                     \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SIGV4_TIME_SIZE 17 /* "20130524T000000Z" and the NUL. */
#define SIGV4_MAX_HEADERS 16
#define SIGV4_MAX_PARAMETERS 16

struct sigv4_header {
	const char *name; /* Lower-case. */
	const char *value;
};

struct sigv4_parameter {
	const char *name; /* Neither is encoded. */
	const char *value;
};

struct sigv4_request {
	const char *method;
	const char *path;  /* Encoded, with its leading slash. */
	const char *query; /* As sigv4_query writes it, "" for none. */
	const struct sigv4_header *headers; /* All are signed, in any order. */
	size_t header_count;
	const char *payload_sha256; /* Hex. */
};

struct sigv4_scope {
	const char *access_key_id;
	const char *secret_access_key;
	const char *region;
	const char *service;
	int64_t time; /* Seconds since the epoch. */
};

void sigv4_format_time(int64_t time, char buffer[SIGV4_TIME_SIZE]);

/* Encodes the parameters and joins them, sorted by encoded name. -EINVAL for
 * more than SIGV4_MAX_PARAMETERS; -ENOMEM, -EMSGSIZE from the buffer. */
int sigv4_query(const struct sigv4_parameter *parameters, size_t count,
		struct strbuf *out);

/* The steps on their own, for tests against the published vectors. -EINVAL for
 * more than SIGV4_MAX_HEADERS. */
int sigv4_canonical_request(
		const struct sigv4_request *request, struct strbuf *out);
int sigv4_string_to_sign(const struct sigv4_request *request,
		const struct sigv4_scope *scope, struct strbuf *out);

/* Appends the value of the Authorization header. -EIO when OpenSSL fails. */
int sigv4_authorization(const struct sigv4_request *request,
		const struct sigv4_scope *scope, struct strbuf *out);

#endif
