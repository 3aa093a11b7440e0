#ifndef NET_HEADERS_PRIVATE_H
#define NET_HEADERS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define HEADERS_MAX_BYTES ((size_t)65536)
#define HEADERS_MAX_COUNT 200
/* Interim (1xx) answers before the real one. */
#define HEADERS_MAX_INTERIM 16

/*
 * The status and headers of one answer, line by line:
 *
 *   nothing --"HTTP/..."--> open --blank line, final status--> complete
 *                           open --blank line, 1xx--> nothing
 *                           open --"HTTP/..."--> open, begun anew
 *
 * What comes after `complete` is a trailer, and is left out.
 */
struct headers {
	int status; /* 0: no status line yet. */
	bool complete;
	size_t count;
	size_t interim_count;
	struct strbuf text; /* Name, NUL, value, NUL, and so on. */
};

void headers_init(struct headers *headers);
void headers_finish(struct headers *headers);

/* One line with its line end. -EPROTO: not HTTP; -EMSGSIZE: beyond a limit, or
 * no memory. */
int headers_add_line(struct headers *headers, const char *line, size_t length);

/* The last value of that name, in any case; NULL when absent. */
const char *headers_find(const struct headers *headers, const char *name);

/* What Content-Length says; -1 when it is absent, not a plain number, or
 * overruled by Transfer-Encoding. */
int64_t headers_content_length(const struct headers *headers);

#endif
