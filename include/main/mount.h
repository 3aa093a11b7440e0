#ifndef MAIN_MOUNT_H
#define MAIN_MOUNT_H

#include <stdbool.h>

struct background;
struct options;

struct mount_plan {
	const struct options *options;
	const char *source;
	const char *shown;	/* In the mount table, letter for letter. */
	const char *mountpoint; /* Absolute, or /dev/fd/N. */
	bool helper;		/* Called by mount(8). */
	bool foreground;	/* Log to stderr. */
	bool debug;
	bool verbose;
};

/*
 * Checks, opens the rooms, mounts, reports through `background`, serves until
 * unmounted, and closes the rooms. Returns the exit status. Starts threads:
 * call after the last fork.
 */
int mount_run(const struct mount_plan *plan, struct background *background);

#endif
