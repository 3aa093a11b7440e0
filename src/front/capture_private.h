#ifndef FRONT_CAPTURE_PRIVATE_H
#define FRONT_CAPTURE_PRIVATE_H

#include <stddef.h>

/*
 * What libfuse and fusermount3, which it starts, say on stderr while mounting:
 * kept back, so that an error is one line of ours. Other threads that write to
 * stderr meanwhile are kept back too, hence only around the mount call.
 */
struct capture {
	int saved_fd, text_fd; /* -1: not captured. */
};

void capture_begin(struct capture *capture);
/* Gives stderr back. `out_line` gets the last line that was said, or "". */
void capture_end(struct capture *capture, char *out_line, size_t size);

/* The last line of `text` that is not empty, without the name of the program
 * that said it: pure. */
void capture_last_line(const char *text, char *out_line, size_t size);

#endif
