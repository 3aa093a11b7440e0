#include "stream/window.h"

#include "base/block_pool.h"

#define WINDOW_LEAST ((uint64_t)BLOCK_SIZE)
/* A stream asks ahead for so many times what it has read. */
#define RATIO_FROM_START 3
#define RATIO_FROM_MIDDLE 1
/* Transfers of one window at the same time. */
#define PARTS 16

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void window_open(struct window *window, uint64_t offset)
{
	*window = (struct window){.bytes = WINDOW_FIRST, .ahead = offset};
}

void window_grow(struct window *window, uint64_t limit)
{
	window->bytes = max(min(window->bytes * 2, limit), WINDOW_LEAST);
}

void window_shrink(struct window *window)
{
	window->bytes = max(window->bytes / 2, WINDOW_LEAST);
}

void window_cap(struct window *window, uint64_t limit)
{
	window->bytes = min(window->bytes, limit);
}

/* How far ahead a stream may ask that has come from `start` to `next`. */
static uint64_t earned(const struct window_place *place)
{
	uint64_t read = place->next - place->start;

	if (place->start > 0) {
		return read * RATIO_FROM_MIDDLE;
	}
	return max(read * RATIO_FROM_START, WINDOW_FIRST);
}

bool window_plan(const struct window *window, const struct window_place *place,
		uint64_t part_size, uint64_t *out_from, uint64_t *out_to)
{
	uint64_t bytes = min(window->bytes, earned(place));
	uint64_t from = max(window->ahead, place->offset);
	/* The window is counted from where the furthest read began, as long
	 * as it has all of that read. */
	uint64_t length = place->end - place->offset;
	uint64_t to = max(place->next - min(length, place->next) + bytes,
			place->next);
	uint64_t step = min(window_part(bytes, part_size), bytes / 2);

	to = min(to, place->size);
	if (from >= to) {
		return false;
	}
	bool ends = to == place->size;
	bool nothing_ahead = window->ahead < place->end;
	if (to - from < step && !ends && !nothing_ahead) {
		return false;
	}
	*out_from = from;
	*out_to = to;
	return true;
}

uint64_t window_part(uint64_t window_bytes, uint64_t part_size)
{
	uint64_t part = max(window_bytes / PARTS, WINDOW_FIRST);

	part = min(part, part_size);
	return max(part / BLOCK_SIZE * BLOCK_SIZE, WINDOW_LEAST);
}

uint64_t window_limit(uint64_t max_window, uint64_t memory_bytes,
		uint64_t stream_count)
{
	uint64_t share = memory_bytes / 2 / max(stream_count, 1);

	return max(min(max_window, share), WINDOW_LEAST);
}
