#ifndef MAIN_METRICS_FILE_H
#define MAIN_METRICS_FILE_H

#include <stdint.h>

struct strbuf;

/*
 * A file with the Prometheus text of a mount, rewritten every `interval_ms` by
 * a thread of its own, for collectors that read text files. It is replaced by
 * rename: a reader sees a whole text. It stays when the mount ends.
 */
struct metrics_file;

struct metrics_file_settings {
	const char *path; /* Absolute; copied. */
	uint64_t interval_ms;
	int (*render)(void *context, struct strbuf *out);
	void *context; /* Borrowed. */
};

/* Writes it a first time. A negative errno when it cannot be written. */
int metrics_file_create(const struct metrics_file_settings *settings,
		struct metrics_file **out_file);
/* Writes it a last time. */
void metrics_file_destroy(struct metrics_file *file);

#endif
