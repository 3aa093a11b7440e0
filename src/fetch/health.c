#include "health_private.h"

#define SILENT_LIMIT 4
#define PROBE_INTERVAL_MS 1000

void health_init(struct health *health, unsigned retries, uint64_t now_ms)
{
	const unsigned before_last = retries > 1 ? retries - 1 : 1;
	*health = (struct health){
			.silent_limit = before_last < SILENT_LIMIT
							? before_last
							: SILENT_LIMIT,
			.alive_ms = now_ms,
	};
}

/* A dead idle connection, a refused certificate or our own cancel says nothing
 * about the endpoint. */
static bool is_silence(const struct store_outcome *outcome)
{
	return outcome->advice == STORE_UNREACHABLE ||
	       (outcome->advice == STORE_RETRY && !outcome->answered);
}

enum health_change health_alive(struct health *health, uint64_t now_ms)
{
	const bool was_down = health->down;
	health->down = false;
	health->silent_in_row = 0;
	health->alive_ms = now_ms;
	return was_down ? HEALTH_CAME_BACK : HEALTH_SAME;
}

enum health_change health_judge(struct health *health,
		const struct store_outcome *outcome, uint64_t now_ms)
{
	if (outcome->error == 0) {
		return health_alive(health, now_ms);
	}
	if (!is_silence(outcome)) {
		return outcome->answered ? health_alive(health, now_ms)
					 : HEALTH_SAME;
	}
	health->silent_in_row++;
	if (health->down || health->silent_in_row < health->silent_limit) {
		return HEALTH_SAME;
	}
	health->down = true;
	health->probe_ms = now_ms + PROBE_INTERVAL_MS;
	return HEALTH_WENT_DOWN;
}

bool health_may_send(const struct health *health, uint64_t now_ms)
{
	return !health->down || now_ms >= health->probe_ms;
}

void health_sent(struct health *health, uint64_t now_ms)
{
	if (health->down) {
		health->probe_ms = now_ms + PROBE_INTERVAL_MS;
	}
}
