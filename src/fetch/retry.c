#include "retry_private.h"

#include <errno.h>
#include <string.h>

#define FAULT_BASE_MS 50
#define FAULT_MAX_MS 4000
#define THROTTLE_BASE_MS 1000
#define THROTTLE_MAX_MS 20000
#define RETRY_AFTER_MAX_MS 60000
#define PREFETCH_ATTEMPTS 2
#define DEAD_CONNECTIONS 4 /* At once; more are ordinary faults. */
#define THIN_PER_RETRY 16

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t silent_ms(const struct fetch_retry *retry, uint64_t now_ms)
{
	return now_ms > retry->silent_since_ms ? now_ms - retry->silent_since_ms
					       : 0;
}

static struct retry_decision give_up(int error)
{
	return (struct retry_decision){
			.action = RETRY_GIVE_UP,
			.error = error != 0 ? error : -EIO,
	};
}

static struct retry_decision at_once(void)
{
	return (struct retry_decision){.action = RETRY_AFTER};
}

/* Random between 0 and base * 2^n, so that readers that failed together do not
 * come back together. */
static uint64_t backoff_ms(bool throttled, unsigned attempts, uint32_t random)
{
	const uint64_t base = throttled ? THROTTLE_BASE_MS : FAULT_BASE_MS;
	const uint64_t most = throttled ? THROTTLE_MAX_MS : FAULT_MAX_MS;
	const unsigned doublings = attempts > 16 ? 16 : attempts;
	const uint64_t span = smaller(base << doublings, most);
	return ((uint64_t)random * (span + 1)) >> 32;
}

static void note_progress(
		struct fetch_retry *retry, const struct retry_event *event)
{
	if (event->progress_bytes == 0) {
		return;
	}
	retry->silent_since_ms = event->now_ms;
	retry->attempts = 0;
	if (event->progress_bytes >= RETRY_THIN_BYTES) {
		retry->thin_attempts = 0;
		retry->dead_connections = 0;
	}
}

static void count_attempt(
		struct fetch_retry *retry, const struct retry_event *event)
{
	if (event->progress_bytes == 0) {
		retry->attempts++;
	}
	if (event->progress_bytes < RETRY_THIN_BYTES) {
		retry->thin_attempts++;
	}
}

static bool attempts_used_up(const struct fetch_retry *retry,
		const struct retry_limits *limits, bool demand)
{
	unsigned allowed = limits->retries > 0 ? limits->retries : 1;
	if (!demand && allowed > PREFETCH_ATTEMPTS) {
		allowed = PREFETCH_ATTEMPTS;
	}
	return retry->attempts >= allowed ||
	       retry->thin_attempts >= allowed * THIN_PER_RETRY;
}

static uint64_t delay_ms(const struct fetch_retry *retry,
		const struct retry_limits *limits,
		const struct retry_event *event)
{
	const bool throttled = event->outcome->advice == STORE_THROTTLED;
	const unsigned n = retry->attempts > 0 ? retry->attempts - 1 : 0;
	uint64_t delay = backoff_ms(throttled, n, event->random);
	const uint64_t floor = smaller(
			event->outcome->retry_after_ms, RETRY_AFTER_MAX_MS);
	if (delay < floor) {
		delay = floor;
	}
	if (!event->demand) {
		return delay;
	}
	/* A last attempt is made when the reader's time is up. */
	return smaller(delay,
			limits->timeout_ms - silent_ms(retry, event->now_ms));
}

static struct retry_decision decide_fault(struct fetch_retry *retry,
		const struct retry_limits *limits,
		const struct retry_event *event)
{
	if (event->demand && retry_timed_out(retry, limits, event->now_ms)) {
		return give_up(-EIO);
	}
	if (event->endpoint_down && !event->demand) {
		return give_up(-EIO);
	}
	if (event->endpoint_down) {
		retry->attempts = 0;
		return (struct retry_decision){.action = RETRY_PARK};
	}
	count_attempt(retry, event);
	if (attempts_used_up(retry, limits, event->demand)) {
		return give_up(-EIO);
	}
	return (struct retry_decision){
			.action = RETRY_AFTER,
			.delay_ms = delay_ms(retry, limits, event),
			.budgeted = event->progress_bytes < RETRY_THIN_BYTES,
	};
}

void retry_begin(struct fetch_retry *retry, uint64_t silent_since_ms)
{
	if (retry->tried) {
		return;
	}
	retry->tried = true;
	if (retry->silent_since_ms < silent_since_ms) {
		retry->silent_since_ms = silent_since_ms;
	}
}

bool retry_timed_out(const struct fetch_retry *retry,
		const struct retry_limits *limits, uint64_t now_ms)
{
	return silent_ms(retry, now_ms) >= limits->timeout_ms;
}

struct retry_decision retry_decide(struct fetch_retry *retry,
		const struct retry_limits *limits,
		const struct retry_event *event)
{
	const struct store_outcome *outcome = event->outcome;
	note_progress(retry, event);
	if (outcome->advice == STORE_FINAL) {
		return give_up(outcome->error);
	}
	if (outcome->advice == STORE_REPAIRED) {
		const unsigned bit = 1U << outcome->repair;
		if ((retry->repaired & bit) != 0) {
			return give_up(outcome->error);
		}
		retry->repaired |= bit;
		return at_once();
	}
	if (outcome->advice == STORE_RETRY_NOW &&
			retry->dead_connections < DEAD_CONNECTIONS) {
		retry->dead_connections++;
		return at_once();
	}
	return decide_fault(retry, limits, event);
}
