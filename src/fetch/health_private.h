#ifndef FETCH_HEALTH_PRIVATE_H
#define FETCH_HEALTH_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/*
 * Whether an endpoint answers at all. Pure.
 *
 *   up    --health_silent, `silent_limit` times in a row-->  down
 *   down  --health_alive: a byte or an answer of any kind-->  up
 *
 * While it is down one probe a second may go out.
 */
struct health {
	bool down;
	unsigned silent_in_row;
	unsigned silent_limit;
	uint64_t alive_ms; /* The last sign of life. */
	uint64_t probe_ms; /* The next probe, while down. */
};

enum health_change { HEALTH_SAME, HEALTH_WENT_DOWN, HEALTH_CAME_BACK };

/* `retries`: fewer silent ones in a row than that decide, so that a request
 * never uses up its attempts against an endpoint that is down. */
void health_init(struct health *health, unsigned retries, uint64_t now_ms);

enum health_change health_judge(struct health *health,
		const struct store_outcome *outcome, uint64_t now_ms);
enum health_change health_alive(struct health *health, uint64_t now_ms);

/* Up, or down and a probe is due. */
bool health_may_send(const struct health *health, uint64_t now_ms);
/* Says that something was sent. */
void health_sent(struct health *health, uint64_t now_ms);

#endif
