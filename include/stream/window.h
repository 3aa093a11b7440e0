#ifndef STREAM_WINDOW_H
#define STREAM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The read-ahead window of one stream: pure. It begins with 1 MiB, doubles
 * when the reader had to wait, halves when prefetched blocks were dropped
 * unread, and stays between one block and its limit.
 */
struct window {
	uint64_t bytes; /* 0: no read-ahead yet. */
	uint64_t ahead; /* Offset up to which was asked for. */
};

#define WINDOW_FIRST ((uint64_t)1 << 20)

void window_open(struct window *window, uint64_t offset);
void window_grow(struct window *window, uint64_t limit);
void window_shrink(struct window *window);

/*
 * What to prefetch when the reader stands at `position`: [out_from, out_to),
 * cut at `size`. Asks in steps of at least a quarter of the window or
 * `part_size`, so that requests are large; false: nothing now.
 */
bool window_plan(const struct window *window, uint64_t position, uint64_t size,
		uint64_t part_size, uint64_t *out_from, uint64_t *out_to);

/* A stream's limit: max_window, and its share of the memory. */
uint64_t window_limit(uint64_t max_window, uint64_t memory_bytes,
		uint64_t stream_count);

#endif
