#ifndef FRONT_FRONT_PRIVATE_H
#define FRONT_FRONT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "attr_private.h"
#include "device_private.h"
#include "dirs_private.h"
#include "files_private.h"
#include "front/front.h"
#include "housekeeper_private.h"
#include "interrupts_private.h"
#include "park_private.h"
#include "ready_private.h"
#include "signals_private.h"

struct fuse_lowlevel_ops;
struct fuse_session;

struct front {
	/* Set at creation; strings are owned. */
	struct front_settings settings;
	struct attr_style style;
	struct fuse_session *session;
	bool mounted_here; /* False: the caller of /dev/fd/N has mounted. */
	bool device_known;
	struct device device;
	int64_t started; /* Wall clock, seconds. */

	struct files files;
	struct dirs dirs;
	struct parking parking;
	struct interrupts interrupts;
	struct housekeeper housekeeper;
	struct signals signals;
	struct ready ready;
	atomic_bool stopped; /* on_stop was called. */
};

/* Ends waiting reads, once: closes the parking and calls on_stop. */
void front_stop_readers(struct front *front);

/* Called by libfuse for FUSE_INTERRUPT; `req` is not followed. */
void front_note_interrupt(struct front *front, const void *req);

/* A wait without a limit, in a form that fits into a timespec. */
#define FRONT_FOREVER_MS ((uint64_t)1000 * 86400 * 36500)

/* A condition on the monotonic clock, and a deadline for it. */
void front_cond_init(pthread_cond_t *cond);
struct timespec front_deadline(uint64_t timeout_ms);

#endif
