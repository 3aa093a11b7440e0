#include "limiter_private.h"

#define LEAST 4
#define CUT_INTERVAL_MS 1000
#define SUCCESSES_PER_STEP 32

void limiter_init(struct limiter *limiter, size_t most)
{
	*limiter = (struct limiter){.limit = most, .most = most};
}

void limiter_throttled(struct limiter *limiter, uint64_t now_ms)
{
	if (limiter->cut_ms != 0 &&
			now_ms - limiter->cut_ms < CUT_INTERVAL_MS) {
		return;
	}
	const size_t least = limiter->most < LEAST ? limiter->most : LEAST;
	const size_t cut = limiter->limit * 7 / 10;
	limiter->limit = cut > least ? cut : least;
	limiter->cut_ms = now_ms;
	limiter->successes = 0;
}

void limiter_succeeded(struct limiter *limiter)
{
	if (limiter->limit >= limiter->most) {
		return;
	}
	if (++limiter->successes >= SUCCESSES_PER_STEP) {
		limiter->successes = 0;
		limiter->limit++;
	}
}

size_t limiter_share(size_t limit, enum job_class class)
{
	if (class == JOB_PREFETCH && limit >= LEAST) {
		return limit - (limit < 32 ? 1 : limit / 8);
	}
	if (class == JOB_DEMAND && limit >= 16) {
		return limit - limit / 16;
	}
	return limit;
}
