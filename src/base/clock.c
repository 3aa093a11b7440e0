#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define BOOT_ID_LENGTH 36

static _Atomic uint64_t advanced_ms;

static uint64_t now_us(clockid_t id)
{
	struct timespec now = {0};
	(void)clock_gettime(id, &now); /* Fails only for an unknown clock. */
	uint64_t us = (uint64_t)now.tv_sec * 1000000 +
		      (uint64_t)now.tv_nsec / 1000;
	return us +
	       1000 * atomic_load_explicit(&advanced_ms, memory_order_relaxed);
}

uint64_t clock_monotonic_ms(void)
{
	return now_us(CLOCK_MONOTONIC) / 1000;
}

uint64_t clock_monotonic_us(void)
{
	return now_us(CLOCK_MONOTONIC);
}

uint64_t clock_boottime_ms(void)
{
	return now_us(CLOCK_BOOTTIME) / 1000;
}

uint64_t clock_wall_ms(void)
{
	return now_us(CLOCK_REALTIME) / 1000;
}

void clock_advance_ms(uint64_t ms)
{
	atomic_fetch_add_explicit(&advanced_ms, ms, memory_order_relaxed);
}

static char boot_id[BOOT_ID_LENGTH + 1];

/* Without /proc no id is known: one made of this process and the time matches
 * no other, so that nothing noted under another id is trusted. */
static void invent_boot_id(void)
{
	(void)snprintf(boot_id, sizeof(boot_id), "%08x-0000-4000-8000-%012llx",
			(unsigned)getpid(),
			(unsigned long long)(clock_wall_ms() &
					     0xffffffffffffULL));
}

static void read_boot_id(void)
{
	const char *given = getenv("SHARDFS_BOOT_ID");
	if (given != NULL && strlen(given) == BOOT_ID_LENGTH) {
		memcpy(boot_id, given, BOOT_ID_LENGTH);
		return;
	}
	CLEANUP_CLOSE int fd = open("/proc/sys/kernel/random/boot_id",
			O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, boot_id, BOOT_ID_LENGTH) != BOOT_ID_LENGTH) {
		invent_boot_id();
	}
}

const char *clock_boot_id(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, read_boot_id); /* Cannot fail. */
	return boot_id;
}
