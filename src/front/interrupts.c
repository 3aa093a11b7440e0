#include "interrupts_private.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/workers.h"
#include "front_private.h"
#include "park_private.h"

#define LOOK_AGAIN_MS 1000
#define SUSPECTS_AT_ONCE 64
/* The masks are in the first 1.5 KiB; groups of the caller may add to it. */
#define STATUS_MAX 16384

void interrupts_init(struct interrupts *interrupts, struct parking *parking)
{
	*interrupts = (struct interrupts){.parking = parking};
	front_cond_init(&interrupts->changed);
	(void)pthread_mutex_init(&interrupts->lock, NULL); /* Never fails. */
}

void interrupts_finish(struct interrupts *interrupts)
{
	(void)pthread_cond_destroy(&interrupts->changed);
	(void)pthread_mutex_destroy(&interrupts->lock);
}

void interrupts_note(struct interrupts *interrupts)
{
	LOCK_SCOPE(&interrupts->lock);
	interrupts->noted = true;
	(void)pthread_cond_signal(&interrupts->changed);
}

static bool mask_has_kill(const char *status, const char *field)
{
	const char *line = strstr(status, field);

	if (line == NULL) {
		return false;
	}
	uint64_t mask = strtoull(line + strlen(field), NULL, 16);
	return (mask >> (SIGKILL - 1) & 1) != 0;
}

bool interrupts_status_says_killed(const char *status)
{
	return mask_has_kill(status, "\nSigPnd:") ||
	       mask_has_kill(status, "\nShdPnd:");
}

static bool caller_is_killed(pid_t pid)
{
	char path[64];
	char status[STATUS_MAX];
	size_t length = 0;

	if (pid <= 0) {
		return false; /* Of another pid namespace, or the kernel. */
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return false;
	}
	while (length < sizeof(status) - 1) {
		ssize_t got = read(fd, status + length,
				sizeof(status) - 1 - length);
		if (got <= 0) {
			break;
		}
		length += (size_t)got;
	}
	status[length] = '\0';
	return interrupts_status_says_killed(status);
}

/* Looks once at every request whose caller may have been killed. */
static void look(struct parking *parking)
{
	struct park_suspect suspects[SUSPECTS_AT_ONCE];
	uint64_t before_ms = clock_monotonic_ms() - LOOK_AGAIN_MS;
	uint64_t after = 0;

	for (;;) {
		size_t count = park_list_suspects(parking, after, before_ms,
				suspects, SUSPECTS_AT_ONCE);
		if (count == 0) {
			return;
		}
		for (size_t i = 0; i < count; i++) {
			if (caller_is_killed(suspects[i].pid)) {
				park_answer_killed(parking, suspects[i].serial);
			}
		}
		after = suspects[count - 1].serial;
	}
}

/* Waits for the next signal, and no longer than a second while some request is
 * parked. False at the end. */
static bool wait_for_work(struct interrupts *interrupts, bool watching)
{
	struct timespec deadline = front_deadline(
			watching ? LOOK_AGAIN_MS : FRONT_FOREVER_MS);
	int error = 0;
	LOCK_SCOPE(&interrupts->lock);

	while (!interrupts->noted && !interrupts->ended && error == 0) {
		error = pthread_cond_timedwait(&interrupts->changed,
				&interrupts->lock, &deadline);
	}
	interrupts->noted = false;
	return !interrupts->ended;
}

static void *run(void *context)
{
	struct interrupts *interrupts = context;
	bool watching = false;

	while (wait_for_work(interrupts, watching)) {
		look(interrupts->parking);
		watching = park_keep_watching(interrupts->parking);
	}
	return NULL;
}

int interrupts_start(struct interrupts *interrupts)
{
	int error = workers_start_thread(
			"front-killed", run, interrupts, &interrupts->thread);

	interrupts->running = error == 0;
	return error;
}

void interrupts_stop(struct interrupts *interrupts)
{
	if (!interrupts->running) {
		return;
	}
	{
		LOCK_SCOPE(&interrupts->lock);
		interrupts->ended = true;
		(void)pthread_cond_signal(&interrupts->changed);
	}
	(void)pthread_join(interrupts->thread, NULL);
	interrupts->running = false;
}
