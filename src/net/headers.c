#include "headers_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void headers_init(struct headers *headers)
{
	*headers = (struct headers){0};
	strbuf_init(&headers->text, HEADERS_MAX_BYTES);
}

void headers_finish(struct headers *headers)
{
	strbuf_finish(&headers->text);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* "HTTP/1.1 200 OK", also without a reason. */
static int parse_status(const char *line, size_t length)
{
	size_t i = sizeof("HTTP/") - 1;
	while (i < length && !is_blank(line[i])) {
		i++;
	}
	while (i < length && line[i] == ' ') {
		i++;
	}
	if (length - i < 3) {
		return 0;
	}
	int status = 0;
	for (size_t end = i + 3; i < end; i++) {
		if (line[i] < '0' || line[i] > '9') {
			return 0;
		}
		status = status * 10 + (line[i] - '0');
	}
	if (i < length && !is_blank(line[i])) {
		return 0;
	}
	return status;
}

static void begin(struct headers *headers, int status)
{
	strbuf_clear(&headers->text);
	headers->count = 0;
	headers->status = status;
}

static int end_block(struct headers *headers)
{
	if (headers->status >= 200) {
		headers->complete = true;
		return 0;
	}
	begin(headers, 0);
	headers->interim_count++;
	return headers->interim_count > HEADERS_MAX_INTERIM ? -EMSGSIZE : 0;
}

/* A field that does not fit is left out as a whole, since those before it may
 * still be looked up. */
static int add_field(struct headers *headers, const char *line, size_t length,
		size_t name_length)
{
	if (headers->count == HEADERS_MAX_COUNT) {
		return -EMSGSIZE;
	}
	const char *value = line + name_length + 1;
	size_t value_length = length - name_length - 1;
	while (value_length > 0 && is_blank(*value)) {
		value++;
		value_length--;
	}
	struct strbuf *text = &headers->text;
	size_t before = text->length;
	if (strbuf_add(text, line, name_length) != 0 ||
			strbuf_add_char(text, '\0') != 0 ||
			strbuf_add(text, value, value_length) != 0 ||
			strbuf_add_char(text, '\0') != 0) {
		text->length = before;
		return -EMSGSIZE;
	}
	headers->count++;
	return 0;
}

int headers_add_line(struct headers *headers, const char *line, size_t length)
{
	if (headers->complete) {
		return 0;
	}
	while (length > 0 && is_blank(line[length - 1])) {
		length--;
	}
	if (length >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		begin(headers, parse_status(line, length));
		return headers->status >= 100 ? 0 : -EPROTO;
	}
	if (headers->status == 0) {
		return -EPROTO;
	}
	if (length == 0) {
		return end_block(headers);
	}
	if (memchr(line, '\0', length) != NULL) {
		return -EPROTO;
	}
	const char *colon = memchr(line, ':', length);
	if (colon == NULL || colon == line || is_blank(line[0])) {
		return 0; /* No field; the next line may be one. */
	}
	return add_field(headers, line, length, (size_t)(colon - line));
}

const char *headers_find(const struct headers *headers, const char *name)
{
	const char *found = NULL;
	const char *at = headers->text.text;

	for (size_t i = 0; i < headers->count; i++) {
		const char *value = at + strlen(at) + 1;
		if (strcasecmp(at, name) == 0) {
			found = value;
		}
		at = value + strlen(value) + 1;
	}
	return found;
}

int64_t headers_content_length(const struct headers *headers)
{
	const char *text = headers_find(headers, "Content-Length");
	if (text == NULL ||
			headers_find(headers, "Transfer-Encoding") != NULL) {
		return -1;
	}
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || text[digits] != '\0') {
		return -1;
	}
	errno = 0;
	long long length = strtoll(text, NULL, 10);
	return errno == 0 ? length : -1;
}
