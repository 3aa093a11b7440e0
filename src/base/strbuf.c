#include "base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

void strbuf_init(struct strbuf *buffer, size_t limit)
{
	*buffer = (struct strbuf){.limit = limit};
}

void strbuf_finish(struct strbuf *buffer)
{
	free(buffer->text);
	*buffer = (struct strbuf){.limit = buffer->limit};
}

void strbuf_clear(struct strbuf *buffer)
{
	buffer->length = 0;
	buffer->failed = false;
	if (buffer->text != NULL) {
		buffer->text[0] = '\0';
	}
}

static int fail(struct strbuf *buffer, int error)
{
	buffer->failed = true;
	return error;
}

/* Makes room for `extra` more bytes and the NUL. */
static int reserve(struct strbuf *buffer, size_t extra)
{
	if (extra > buffer->limit - buffer->length) {
		return fail(buffer, -EMSGSIZE);
	}
	size_t needed = buffer->length + extra + 1;
	if (needed <= buffer->capacity) {
		return 0;
	}
	size_t capacity = buffer->capacity;
	if (capacity < FIRST_CAPACITY) {
		capacity = FIRST_CAPACITY;
	}
	while (capacity < needed) {
		if (capacity > SIZE_MAX / 2) {
			return fail(buffer, -ENOMEM);
		}
		capacity *= 2;
	}
	char *text = realloc(buffer->text, capacity);
	if (text == NULL) {
		return fail(buffer, -ENOMEM);
	}
	buffer->text = text;
	buffer->capacity = capacity;
	return 0;
}

int strbuf_add(struct strbuf *buffer, const void *bytes, size_t length)
{
	int error = reserve(buffer, length);
	if (error != 0) {
		return error;
	}
	if (length > 0) {
		memcpy(buffer->text + buffer->length, bytes, length);
	}
	buffer->length += length;
	buffer->text[buffer->length] = '\0';
	return 0;
}

int strbuf_add_text(struct strbuf *buffer, const char *text)
{
	return strbuf_add(buffer, text, strlen(text));
}

int strbuf_add_char(struct strbuf *buffer, char c)
{
	return strbuf_add(buffer, &c, 1);
}

int strbuf_printf(struct strbuf *buffer, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0) {
		return fail(buffer, -ENOMEM);
	}
	int error = reserve(buffer, (size_t)length);
	if (error != 0) {
		return error;
	}
	va_start(arguments, format);
	(void)vsnprintf(buffer->text + buffer->length, (size_t)length + 1,
			format, arguments); /* Measured above. */
	va_end(arguments);
	buffer->length += (size_t)length;
	return 0;
}

char *strbuf_take(struct strbuf *buffer)
{
	if (buffer->failed || reserve(buffer, 0) != 0) {
		strbuf_finish(buffer);
		return NULL;
	}
	char *text = buffer->text;
	text[buffer->length] = '\0';
	*buffer = (struct strbuf){.limit = buffer->limit};
	return text;
}
