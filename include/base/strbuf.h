#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A byte string that grows up to a limit. `text` is always NUL-terminated
 * once something was added, and NULL before. An append that would pass the
 * limit or finds no memory changes nothing but `failed`, which stays set, so
 * that a caller may check once at the end.
 */
struct strbuf {
	char *text;
	size_t length;
	size_t capacity;
	size_t limit;
	bool failed;
};

void strbuf_init(struct strbuf *buffer, size_t limit);
void strbuf_finish(struct strbuf *buffer);
void strbuf_clear(struct strbuf *buffer); /* Keeps the memory. */

/* Each returns 0, or -ENOMEM / -EMSGSIZE (limit). */
int strbuf_add(struct strbuf *buffer, const void *bytes, size_t length);
int strbuf_add_text(struct strbuf *buffer, const char *text);
int strbuf_add_char(struct strbuf *buffer, char c);
int strbuf_printf(struct strbuf *buffer, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* Hands the text to the caller, who frees it; the buffer is empty afterwards.
 * NULL when an append had failed. An empty buffer gives "". */
char *strbuf_take(struct strbuf *buffer);

#endif
