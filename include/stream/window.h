#ifndef STREAM_WINDOW_H
#define STREAM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The read-ahead window of one stream: pure. It begins with 1 MiB, doubles
 * when the reader had to wait, halves when blocks were lost before they were
 * read, and stays between one block and its limit.
 */
struct window {
	uint64_t bytes; /* 0: no read-ahead yet. */
	uint64_t ahead; /* Offset up to which was asked for. */
};

#define WINDOW_FIRST ((uint64_t)1 << 20)

void window_open(struct window *window, uint64_t offset);
void window_grow(struct window *window, uint64_t limit);
void window_shrink(struct window *window);
/* Keeps a window within a limit that has become smaller. */
void window_cap(struct window *window, uint64_t limit);

/* Where a stream is. */
struct window_place {
	uint64_t start;	 /* Where it began. */
	uint64_t offset; /* The read that is to be answered: */
	uint64_t end;
	uint64_t next; /* The furthest end of its reads. */
	uint64_t size; /* Of the object. */
};

/*
 * What to prefetch now: [out_from, out_to), cut at the size; false: nothing.
 * The first time the demanded bytes are in it, so that they travel in the same
 * request. Later it asks in steps of a part, or of half a small window, so
 * that requests stay large. What a stream asks for is in proportion to what it
 * has read: three times that from the start of the object (1 MiB at least),
 * else once, so that who stops early wastes little.
 */
bool window_plan(const struct window *window, const struct window_place *place,
		uint64_t part_size, uint64_t *out_from, uint64_t *out_to);

/* The size of one request of a window: a sixteenth, so that several travel at
 * once, but from 1 MiB to `part_size`; whole blocks. */
uint64_t window_part(uint64_t window_bytes, uint64_t part_size);

/* A stream's limit: max_window, and its share of half the memory. */
uint64_t window_limit(uint64_t max_window, uint64_t memory_bytes,
		uint64_t stream_count);

#endif
