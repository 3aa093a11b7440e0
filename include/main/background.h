#ifndef MAIN_BACKGROUND_H
#define MAIN_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The process that serves a mount, and how it tells its caller how the start
 * went: a status and at most one line each for stdout and stderr.
 *
 *   starting --background_report--> told (nothing further is sent)
 *
 * In front, the lines go to the process's own streams at once. In the
 * background they go through a pipe to the parent, which prints them and exits
 * with the status.
 */
struct background {
	int pipe; /* -1: in front, or told. */
	bool told;
};

/* Start in front. */
void background_stay(struct background *background);

/*
 * Forks. In the child, which has a session of its own, "/" as its directory
 * and /dev/null as its streams, returns 0. In the parent waits for the report
 * and returns 1 with the exit status. Before any thread exists. A negative
 * errno: no child was made.
 */
int background_start(struct background *background, int *out_status);

/* Closes what the child got from its caller beside the streams: a lock or a
 * pipe would live as long as the mount. `keep` stays open, -1: nothing. */
void background_close_inherited(const struct background *background, int keep);

/* Sends the report, once. NULL: no such line. Lines without newline. */
void background_report(struct background *background, int status,
		const char *out_line, const char *err_line);

#endif
