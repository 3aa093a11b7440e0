#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/workers.h"
#include "fetch_private.h"

/* The longest sleep while something is due: the clock may be moved forward. */
#define SLEEP_MAX_MS 25

static bool must_act_locked(const struct fetch *fetch)
{
	return fetch->quit || fetch->endings.ranges != NULL ||
	       fetch->endings.jobs != NULL ||
	       clock_monotonic_ms() >= fetch->wake_ms;
}

static void sleep_locked(struct fetch *fetch)
{
	if (fetch->wake_ms == UINT64_MAX) {
		pthread_cond_wait(&fetch->wake, &fetch->lock);
		return;
	}
	const uint64_t now_ms = clock_monotonic_ms();
	uint64_t sleep_ms = 0;
	if (fetch->wake_ms > now_ms) {
		sleep_ms = fetch->wake_ms - now_ms;
	}
	if (sleep_ms > SLEEP_MAX_MS) {
		sleep_ms = SLEEP_MAX_MS;
	}
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)sleep_ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	(void)pthread_cond_timedwait(&fetch->wake, &fetch->lock,
			&until); /* must_act_locked decides. */
}

/* False: nothing is left to do for ever. */
static bool turn(struct fetch *fetch)
{
	struct endings endings;
	unsigned timeouts = 0;
	bool more = true;
	{
		LOCK_SCOPE(&fetch->lock);
		while (!must_act_locked(fetch)) {
			sleep_locked(fetch);
		}
		timeouts = tick_locked(fetch, clock_monotonic_ms());
		endings = fetch->endings;
		fetch->endings = (struct endings){0};
		more = !fetch->quit || endings.ranges != NULL ||
		       endings.jobs != NULL;
	}
	failure_tell_timeouts(fetch, timeouts);
	endings_deliver(fetch, &endings);
	scheduler_pump(fetch);
	return more;
}

static void *timer_main(void *context)
{
	struct fetch *fetch = context;
	while (turn(fetch)) {
	}
	return NULL;
}

int timer_start(struct fetch *fetch)
{
	unsigned long thread = 0;
	const int error = workers_start_thread(
			"fetch-timer", timer_main, fetch, &thread);
	if (error == 0) {
		fetch->timer = (pthread_t)thread;
		fetch->timer_started = true;
	}
	return error;
}

void timer_stop(struct fetch *fetch)
{
	if (!fetch->timer_started) {
		return;
	}
	{
		LOCK_SCOPE(&fetch->lock);
		fetch->quit = true;
		pthread_cond_signal(&fetch->wake);
	}
	pthread_join(fetch->timer, NULL);
}
