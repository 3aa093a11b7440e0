#ifndef NET_DEADLINE_PRIVATE_H
#define NET_DEADLINE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEADLINE_NEVER UINT64_MAX

/* Zero switches a limit off. */
struct deadline_limits {
	uint32_t first_byte_ms;
	uint64_t stall_bytes; /* Fewer in stall_ms is a stall. */
	uint32_t stall_ms;
	uint32_t total_ms;
};

/*
 * How long one transfer may go on. libcurl watches the connect; what comes
 * after is watched here:
 *
 *   connecting --deadline_sent--> waiting --deadline_received--> receiving
 *
 * deadline_sent comes again when libcurl sends the request a second time
 * because a kept-alive connection was dead. While receiving, a span begins
 * with the first byte and again whenever stall_bytes have come: one that lasts
 * for stall_ms is a stall.
 */
enum deadline_phase {
	DEADLINE_CONNECTING,
	DEADLINE_WAITING,
	DEADLINE_RECEIVING
};

struct deadline {
	struct deadline_limits limits;
	enum deadline_phase phase;
	uint64_t begun_ms;
	uint64_t phase_ms; /* Start of the wait, or of the span. */
	uint64_t span_bytes;
};

void deadline_begin(struct deadline *deadline,
		const struct deadline_limits *limits, uint64_t now_ms);
void deadline_sent(struct deadline *deadline, uint64_t now_ms);
void deadline_received(
		struct deadline *deadline, size_t bytes, uint64_t now_ms);

/* When the transfer has lasted too long, if nothing else comes. */
uint64_t deadline_at_ms(const struct deadline *deadline);

/* Why, for logs, once that time has come. */
const char *deadline_reason(const struct deadline *deadline, uint64_t now_ms);

#endif
