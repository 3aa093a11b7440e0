#include "base/url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/strbuf.h"

static const char alphanumeric[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Blanks and control characters would let a URL end its request line. */
static bool is_printable(const char *text)
{
	for (const char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c <= ' ' || *c == 0x7f) {
			return false;
		}
	}
	return true;
}

static void lower_case(char *text)
{
	for (char *c = text; *c != '\0'; c++) {
		if (*c >= 'A' && *c <= 'Z') {
			*c = (char)(*c - 'A' + 'a');
		}
	}
}

/* The length of the host at the start of `text`, 0 if there is none. */
static size_t host_length(const char *text)
{
	if (*text == '[') {
		size_t inside = strspn(text + 1, "0123456789abcdefABCDEF:.");
		if (inside < 2 || text[1 + inside] != ']') {
			return 0;
		}
		return inside + 2;
	}
	size_t length = strspn(text, alphanumeric);
	while (text[length] != '\0' && strchr("-._", text[length]) != NULL) {
		length++;
		length += strspn(text + length, alphanumeric);
	}
	if (length == 0 || length > 253 || text[0] == '.') {
		return 0;
	}
	return length;
}

/* ":8080" up to a path, a query or the end; a bare ":" is refused. */
static int parse_port(const char *text, uint16_t *out_port, size_t *out_length)
{
	size_t digits = strspn(text + 1, "0123456789");
	if (digits == 0 || digits > 5) {
		return -EINVAL;
	}
	unsigned long port = strtoul(text + 1, NULL, 10);
	if (port == 0 || port > UINT16_MAX) {
		return -EINVAL;
	}
	*out_port = (uint16_t)port;
	*out_length = digits + 1;
	return 0;
}

static int parse_scheme(const char *text, struct url *url, size_t *out_length)
{
	static const struct {
		const char *name;
		uint16_t port;
	} schemes[] = {{"http", 80}, {"https", 443}};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t length = strlen(schemes[i].name);
		if (strncasecmp(text, schemes[i].name, length) != 0 ||
				strncmp(text + length, "://", 3) != 0) {
			continue;
		}
		url->scheme = strdup(schemes[i].name);
		if (url->scheme == NULL) {
			return -ENOMEM;
		}
		url->port = schemes[i].port;
		*out_length = length + 3;
		return 0;
	}
	return -EINVAL;
}

static int parse_authority(
		const char *text, struct url *url, size_t *out_length)
{
	size_t length = host_length(text);
	if (length == 0) {
		return -EINVAL;
	}
	url->host = strndup(text, length);
	if (url->host == NULL) {
		return -ENOMEM;
	}
	lower_case(url->host);
	uint16_t default_port = url->port;
	if (text[length] == ':') {
		size_t port_length = 0;
		int error = parse_port(text + length, &url->port, &port_length);
		if (error != 0) {
			return error;
		}
		length += port_length;
	}
	url->port_is_default = url->port == default_port;
	*out_length = length;
	return 0;
}

static int parse_target(const char *text, struct url *url)
{
	size_t path_length = strcspn(text, "?");
	if (path_length > 0 && text[0] != '/') {
		return -EINVAL;
	}
	url->path = strndup(text, path_length);
	if (url->path == NULL) {
		return -ENOMEM;
	}
	if (text[path_length] == '?') {
		url->query = strdup(text + path_length + 1);
		if (url->query == NULL) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int parse_parts(const char *text, struct url *url)
{
	size_t length = 0;
	int error = parse_scheme(text, url, &length);
	if (error != 0) {
		return error;
	}
	text += length;
	error = parse_authority(text, url, &length);
	if (error != 0) {
		return error;
	}
	return parse_target(text + length, url);
}

int url_parse(const char *text, struct url *out_url)
{
	if (!is_printable(text) || strchr(text, '#') != NULL) {
		return -EINVAL;
	}
	struct url url = {0};
	int error = parse_parts(text, &url);
	if (error != 0) {
		url_finish(&url);
		return error;
	}
	*out_url = url;
	return 0;
}

void url_finish(struct url *url)
{
	free(url->scheme);
	free(url->host);
	free(url->path);
	free(url->query);
	*url = (struct url){0};
}

int url_host_header(const struct url *url, struct strbuf *out)
{
	if (url->port_is_default) {
		return strbuf_add_text(out, url->host);
	}
	return strbuf_printf(out, "%s:%u", url->host, (unsigned)url->port);
}

int url_encode(struct strbuf *out, const void *bytes, size_t length,
		bool keep_slash)
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *input = bytes;
	int error = 0;

	for (size_t i = 0; i < length && error == 0; i++) {
		unsigned char c = input[i];
		bool plain = c != '\0' &&
			     (strchr(alphanumeric, c) != NULL ||
					     strchr("-._~", c) != NULL);
		if (plain || (keep_slash && c == '/')) {
			error = strbuf_add_char(out, (char)c);
			continue;
		}
		char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
		error = strbuf_add(out, escape, sizeof(escape));
	}
	return error;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	if (c >= 'a' && c <= 'f') {
		return c - 'a' + 10;
	}
	if (c >= 'A' && c <= 'F') {
		return c - 'A' + 10;
	}
	return -1;
}

int url_decode(struct strbuf *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (c == '%') {
			if (length - i < 3) {
				return -EINVAL;
			}
			int high = hex_value(text[i + 1]);
			int low = hex_value(text[i + 2]);
			if (high < 0 || low < 0) {
				return -EINVAL;
			}
			c = (char)(high * 16 + low);
			i += 2;
		}
		int error = strbuf_add_char(out, c);
		if (error != 0) {
			return error;
		}
	}
	return 0;
}

/* Whether what follows the first ':' of an authority is not a port: then it
 * is the start of a password with a slash in it that nobody encoded. */
static bool has_odd_port(const char *authority, size_t length)
{
	const char *colon = memchr(authority, ':', length);
	if (colon == NULL || authority[0] == '[') {
		return false;
	}
	size_t digits = strspn(colon + 1, "0123456789");
	return colon + 1 + digits < authority + length;
}

/* The length of the user and password at the start of `rest`, with the '@'.
 * They end at the last '@' of the authority, since a password may hold one
 * that nobody encoded. A user alone may be a token, but in abfs:// and its
 * like it is a container. */
static size_t secret_length(const char *rest, size_t length, bool is_http)
{
	size_t authority = strcspn(rest, "/?#");
	size_t end = has_odd_port(rest, authority) ? length : authority;
	const char *at = memrchr(rest, '@', end);
	if (at == NULL) {
		return 0;
	}
	if (!is_http && memchr(rest, ':', (size_t)(at - rest)) == NULL) {
		return 0;
	}
	return (size_t)(at - rest) + 1;
}

void url_print(const char *text, char *buffer, size_t size)
{
	size_t shown = strcspn(text, "?#");
	size_t start = 0;
	const char *scheme_end = strstr(text, "://");
	if (scheme_end != NULL && (size_t)(scheme_end - text) < shown) {
		start = (size_t)(scheme_end - text) + 3;
	}
	bool is_http = strncasecmp(text, "http", 4) == 0;
	size_t secret = secret_length(text + start, shown - start, is_http);
	(void)snprintf(buffer, size, "%.*s%s%.*s", (int)start, text,
			secret > 0 ? "***@" : "", (int)(shown - start - secret),
			text + start + secret);
}
