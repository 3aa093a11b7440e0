#ifndef BASE_URL_H
#define BASE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

/*
 * An absolute http or https URL in parts. Strings are owned by the struct.
 * `host` is lower-case, an IPv6 address in brackets. `path` is as given
 * (percent-encoded, "" or with a leading slash), never normalised. `query` is
 * NULL when there is none.
 */
struct url {
	char *scheme;
	char *host;
	uint16_t port; /* The scheme's default when none was given. */
	bool port_is_default;
	char *path;
	char *query;
};

/*
 * Refuses user, password and fragment, and hosts with characters that have
 * no place in one. -EINVAL, -ENOMEM.
 */
int url_parse(const char *text, struct url *out_url);
void url_finish(struct url *url);

/* "host" or "host:port", as in a Host header: a default port is left out. */
int url_host_header(const struct url *url, struct strbuf *out);

/*
 * Percent-encodes all but A-Z a-z 0-9 - . _ ~ (and '/' if keep_slash), upper
 * case hex: the encoding that AWS Signature Version 4 asks for. The result is
 * both signed and sent.
 */
int url_encode(struct strbuf *out, const void *bytes, size_t length,
		bool keep_slash);

/* Decodes %XX in place of `text`'s bytes and leaves anything else, '+' too.
 * The result may have NULs: its length counts. -EINVAL on a bad escape. */
int url_decode(struct strbuf *out, const char *text, size_t length);

/*
 * The one printer for logs and messages: `text` up to its query, with user
 * and password replaced (a user without a password only in http and https:
 * in abfs:// it is a container). Writes at most size - 1 characters and a NUL.
 */
void url_print(const char *text, char *buffer, size_t size);

#endif
