#include "deadline_private.h"

void deadline_begin(struct deadline *deadline,
		const struct deadline_limits *limits, uint64_t now_ms)
{
	*deadline = (struct deadline){
			.limits = *limits,
			.phase = DEADLINE_CONNECTING,
			.begun_ms = now_ms,
			.phase_ms = now_ms,
	};
}

void deadline_sent(struct deadline *deadline, uint64_t now_ms)
{
	deadline->phase = DEADLINE_WAITING;
	deadline->phase_ms = now_ms;
}

void deadline_received(struct deadline *deadline, size_t bytes, uint64_t now_ms)
{
	if (deadline->phase != DEADLINE_RECEIVING) {
		deadline->phase = DEADLINE_RECEIVING;
		deadline->phase_ms = now_ms;
		deadline->span_bytes = 0;
	}
	deadline->span_bytes += bytes;
	if (deadline->span_bytes >= deadline->limits.stall_bytes) {
		deadline->phase_ms = now_ms;
		deadline->span_bytes = 0;
	}
}

static uint64_t after(uint64_t start_ms, uint32_t limit_ms)
{
	return limit_ms == 0 ? DEADLINE_NEVER : start_ms + limit_ms;
}

static uint64_t phase_end_ms(const struct deadline *deadline)
{
	switch (deadline->phase) {
	case DEADLINE_CONNECTING:
		break;
	case DEADLINE_WAITING:
		return after(deadline->phase_ms,
				deadline->limits.first_byte_ms);
	case DEADLINE_RECEIVING:
		return after(deadline->phase_ms, deadline->limits.stall_ms);
	}
	return DEADLINE_NEVER;
}

uint64_t deadline_at_ms(const struct deadline *deadline)
{
	uint64_t total = after(deadline->begun_ms, deadline->limits.total_ms);
	uint64_t phase = phase_end_ms(deadline);
	return total < phase ? total : phase;
}

const char *deadline_reason(const struct deadline *deadline, uint64_t now_ms)
{
	if (now_ms < phase_end_ms(deadline)) {
		return "Took too long as a whole";
	}
	if (deadline->phase == DEADLINE_WAITING) {
		return "No answer came in time";
	}
	return "The answer stalled";
}
