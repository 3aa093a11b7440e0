#include "stream/share_private.h"

#include "base/cleanup.h"

#define PERIOD_MS 2000
#define ALL 65536
/* Reads that the average looks back on. */
#define SAMPLE 64

void share_init(struct share *share)
{
	*share = (struct share){.period = 0};
	(void)pthread_mutex_init(&share->lock, NULL); /* No attributes. */
	atomic_init(&share->sequential, ALL);
}

void share_finish(struct share *share)
{
	(void)pthread_mutex_destroy(&share->lock);
}

uint64_t share_period(uint64_t now_ms)
{
	return now_ms / PERIOD_MS + 1;
}

void share_note_active(struct share *share, uint64_t period)
{
	LOCK_SCOPE(&share->lock);

	if (period > share->period) {
		bool next = period == share->period + 1;

		share->active_before = next ? share->active : 0;
		share->active = 0;
		share->period = period;
	}
	share->active++;
}

uint64_t share_streams(struct share *share)
{
	LOCK_SCOPE(&share->lock);
	uint64_t most = share->active > share->active_before
					? share->active
					: share->active_before;

	return most > 0 ? most : 1;
}

void share_note_read(struct share *share, bool sequential)
{
	uint32_t old = atomic_load_explicit(
			&share->sequential, memory_order_relaxed);
	uint32_t goal = sequential ? ALL : 0;

	/* Of two updates at the same time one may be lost: it is a sample. */
	if (old != goal) {
		int32_t step = ((int32_t)goal - (int32_t)old) / SAMPLE;
		uint32_t now = step ? old + (uint32_t)step : goal;
		atomic_store_explicit(
				&share->sequential, now, memory_order_relaxed);
	}
}

unsigned share_sequential_percent(const struct share *share)
{
	uint32_t average = atomic_load_explicit(
			&share->sequential, memory_order_relaxed);

	return (unsigned)((average * 100ULL + ALL / 2) / ALL);
}
