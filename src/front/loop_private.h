#ifndef FRONT_LOOP_PRIVATE_H
#define FRONT_LOOP_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

struct fuse_session;

/*
 * Runs the session's loop in `thread_count` threads, each with a device
 * descriptor of its own if `clone_fd`. libfuse changed this call in 3.12:
 * the build takes loop_312.c or loop_310.c. 0 or a negative errno.
 */
int loop_serve(struct fuse_session *session, size_t thread_count,
		bool clone_fd);

#endif
