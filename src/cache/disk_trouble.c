#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"
#include "cache/disk_private.h"

#define LOG_MODULE "cache"

#define WARN_INTERVAL_MS 10000
/* How long nothing is stored after the disk refused. */
#define PAUSE_MS 5000
/* Likewise when all that is stored is in use: that changes by itself. */
#define CROWDED_MS 1000

void disk_tier_turn_off(struct disk_tier *tier, const char *reason)
{
	if (!atomic_exchange(&tier->off, true)) {
		log_warn("the disk cache is off until the next mount: dir=%s"
			 " reason=%s",
				tier->dir.path, reason);
	}
}

void disk_tier_judge_index(struct disk_tier *tier, int error)
{
	if (error == 0) {
		return;
	}
	if (error == -EUCLEAN) {
		disk_dir_distrust(&tier->dir);
		disk_tier_turn_off(tier, "the index is damaged; the next mount"
					 " begins a new one");
	}
}

void disk_tier_pause(struct disk_tier *tier, int error)
{
	uint64_t now_ms = clock_monotonic_ms();
	if (error == -EDQUOT) {
		atomic_store(&tier->paused_until_ms, now_ms + CROWDED_MS);
		return;
	}
	atomic_store(&tier->paused_until_ms, now_ms + PAUSE_MS);
	if (log_ratelimit(&tier->warned, WARN_INTERVAL_MS)) {
		char text[128];
		log_warn("the disk cache is not filled for now: dir=%s"
			 " reason=%s",
				tier->dir.path,
				strerror_r(-error, text, sizeof(text)));
	}
}

bool disk_tier_is_paused(struct disk_tier *tier)
{
	return clock_monotonic_ms() < atomic_load(&tier->paused_until_ms);
}
