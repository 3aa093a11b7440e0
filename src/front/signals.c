#include "signals_private.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/workers.h"
#include "front_private.h"

#define LOG_MODULE "front"
#define WAKE_SIGNAL SIGUSR1
#define WAKE_EVERY_MS 20
/* What waiting readers get to be answered in. */
#define ANSWERS_MS 1000
/* The whole exit; then the default action of SIGALRM ends the process. */
#define EXIT_SECONDS 5

static void do_nothing(int signal)
{
	(void)signal; /* Only to interrupt a system call. */
}

void signals_init(struct signals *signals, struct front *front)
{
	*signals = (struct signals){.front = front};
	front_cond_init(&signals->changed);
	(void)pthread_mutex_init(&signals->lock, NULL); /* Never fails. */
}

static void fill_set(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGTERM);
	(void)sigaddset(set, SIGINT);
	(void)sigaddset(set, SIGHUP);
}

int signals_block(struct signals *signals)
{
	sigset_t set;

	fill_set(&set);
	int error = pthread_sigmask(SIG_BLOCK, &set, &signals->before);
	signals->blocked = error == 0;
	return -error;
}

void signals_finish(struct signals *signals)
{
	if (signals->blocked) {
		/* Valid, as it was read from the system. */
		(void)pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
	}
	(void)pthread_cond_destroy(&signals->changed);
	(void)pthread_mutex_destroy(&signals->lock);
}

static bool loop_has_ended(struct signals *signals)
{
	LOCK_SCOPE(&signals->lock);
	return signals->loop_ended;
}

static void wait_for_loop(struct signals *signals, uint64_t timeout_ms)
{
	struct timespec deadline = front_deadline(timeout_ms);
	int error = 0;
	LOCK_SCOPE(&signals->lock);

	while (!signals->loop_ended && error == 0) {
		error = pthread_cond_timedwait(
				&signals->changed, &signals->lock, &deadline);
	}
}

static void end_session(struct signals *signals, int signal)
{
	struct front *front = signals->front;

	log_info("ending signal=%d", signal);
	(void)alarm(EXIT_SECONDS); /* No earlier one: this is the only. */
	front_stop_readers(front);
	if (!parking_wait_empty(&front->parking, ANSWERS_MS)) {
		log_warn("requests are still unanswered; ending without");
	}
	fuse_session_exit(front->session);
	while (!loop_has_ended(signals)) {
		/* It lives: it joins this thread after the loop. */
		(void)pthread_kill(signals->main_thread, WAKE_SIGNAL);
		wait_for_loop(signals, WAKE_EVERY_MS);
	}
}

static void *run(void *context)
{
	struct signals *signals = context;
	sigset_t set;
	int signal = 0;

	fill_set(&set);
	/* Fails only for a set that is not valid. */
	(void)sigwait(&set, &signal);
	if (!loop_has_ended(signals)) {
		end_session(signals, signal);
	}
	return NULL;
}

int signals_start(struct signals *signals)
{
	struct sigaction action = {.sa_handler = do_nothing};
	sigset_t wake;

	/* Without SA_RESTART: the wait is to be interrupted. */
	if (sigaction(WAKE_SIGNAL, &action, NULL) != 0) {
		return -errno;
	}
	(void)sigemptyset(&wake);
	(void)sigaddset(&wake, WAKE_SIGNAL);
	int error = pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
	if (error != 0) {
		return -error;
	}
	signals->main_thread = pthread_self();
	error = workers_start_thread(
			"front-signals", run, signals, &signals->thread);
	signals->running = error == 0;
	return error;
}

void signals_stop(struct signals *signals)
{
	if (!signals->running) {
		return;
	}
	{
		LOCK_SCOPE(&signals->lock);
		signals->loop_ended = true;
		(void)pthread_cond_signal(&signals->changed);
	}
	/* Ends its sigwait, if it is still there. */
	(void)pthread_kill(signals->thread, SIGHUP);
	(void)pthread_join(signals->thread, NULL);
	signals->running = false;
}
