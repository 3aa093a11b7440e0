#include <criterion/criterion.h>

#include "base/block_pool.h"
#include "stream/window.h"

#define KIB ((uint64_t)1024)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

Test(window, opens_doubles_to_its_limit_and_halves_to_one_block)
{
	struct window window;

	window_open(&window, 5 * MIB);
	cr_assert_eq(window.bytes, MIB);
	cr_assert_eq(window.ahead, 5 * MIB);
	for (uint64_t bytes = 2 * MIB; bytes <= 32 * MIB; bytes *= 2) {
		window_grow(&window, 48 * MIB);
		cr_assert_eq(window.bytes, bytes);
	}
	window_grow(&window, 48 * MIB);
	cr_assert_eq(window.bytes, 48 * MIB);
	window_cap(&window, 10 * MIB);
	cr_assert_eq(window.bytes, 10 * MIB);
	for (int i = 0; i < 20; i++) {
		window_shrink(&window);
	}
	cr_assert_eq(window.bytes, BLOCK_SIZE);
	window_grow(&window, 0);
	cr_assert_eq(window.bytes, BLOCK_SIZE);
}

struct plan {
	const char *what;
	struct window window;
	struct window_place place;
	uint64_t from, to; /* 0, 0: nothing. */
};

#define PLACE(start_, offset_, end_, next_)                                    \
	{                                                                      \
		.start = (start_), .offset = (offset_), .end = (end_),         \
		.next = (next_), .size = 100 * MIB                             \
	}

static const struct plan plans[] = {
		{"the first read, its bytes in it", {MIB, 0},
				PLACE(0, 0, 128 * KIB, 128 * KIB), 0, MIB},
		{"a first read as large as the window", {MIB, 0},
				PLACE(0, 0, MIB, MIB), 0, MIB},
		{"nothing while half a window is ahead", {MIB, MIB},
				PLACE(0, 256 * KIB, 384 * KIB, 384 * KIB), 0,
				0},
		{"half a window is asked for at once", {MIB, MIB},
				PLACE(0, 512 * KIB, 640 * KIB, 640 * KIB), MIB,
				MIB + 512 * KIB},
		{"a large window asks in steps of a part", {64 * MIB, 92 * MIB},
				PLACE(0, 29 * MIB, 30 * MIB, 30 * MIB), 0, 0},
		{"a large window, when a part is missing", {64 * MIB, 66 * MIB},
				PLACE(0, 29 * MIB, 30 * MIB, 30 * MIB),
				66 * MIB, 93 * MIB},
		{"no more than three times what was read from the start",
				{64 * MIB, MIB},
				PLACE(0, MIB, 2 * MIB, 2 * MIB), MIB, 7 * MIB},
		{"no more than was read, in the middle",
				{MIB, 50 * MIB + 128 * KIB},
				PLACE(50 * MIB, 50 * MIB + 128 * KIB,
						50 * MIB + 256 * KIB,
						50 * MIB + 256 * KIB),
				50 * MIB + 128 * KIB, 50 * MIB + 384 * KIB},
		{"what was skipped is not asked for", {4 * MIB, 20 * MIB},
				PLACE(0, 21 * MIB, 22 * MIB, 22 * MIB),
				21 * MIB, 25 * MIB},
		{"the end of the object, however little",
				{4 * MIB, 99 * MIB + 1},
				PLACE(0, 96 * MIB + 1, 97 * MIB, 97 * MIB),
				99 * MIB + 1, 100 * MIB},
		{"nothing behind the end", {4 * MIB, 100 * MIB},
				PLACE(0, 99 * MIB, 100 * MIB, 100 * MIB), 0, 0},
		{"a read larger than a shrunken window", {64 * KIB, 10 * MIB},
				PLACE(0, 10 * MIB, 11 * MIB, 11 * MIB),
				10 * MIB, 11 * MIB},
		{"a read from behind asks for nothing new", {4 * MIB, 14 * MIB},
				PLACE(0, 9 * MIB, 9 * MIB + 1, 10 * MIB), 0, 0},
};

Test(window, plans_by_this_table)
{
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		const struct plan *plan = &plans[i];
		uint64_t from = 0;
		uint64_t to = 0;
		bool any = window_plan(&plan->window, &plan->place, 8 * MIB,
				&from, &to);

		cr_expect_eq(any, plan->to > 0, "%s", plan->what);
		cr_expect_eq(from, plan->from, "%s: from %lu KiB", plan->what,
				from / KIB);
		cr_expect_eq(to, plan->to, "%s: to %lu KiB", plan->what,
				to / KIB);
	}
}

Test(window, is_asked_for_in_a_sixteenth_but_from_1_mib_to_a_part)
{
	cr_expect_eq(window_part(MIB, 8 * MIB), MIB);
	cr_expect_eq(window_part(16 * MIB, 8 * MIB), MIB);
	cr_expect_eq(window_part(64 * MIB, 8 * MIB), 4 * MIB);
	cr_expect_eq(window_part(GIB, 8 * MIB), 8 * MIB);
	cr_expect_eq(window_part(64 * MIB, 2 * MIB), 2 * MIB);
	cr_expect_eq(window_part(64 * MIB, 100 * KIB), 64 * KIB);
	cr_expect_eq(window_part(64 * MIB, 1), 64 * KIB);
	cr_expect_eq(window_part(20 * MIB, 8 * MIB) % BLOCK_SIZE, 0);
}

Test(window, of_a_stream_is_at_most_its_share_of_half_the_memory)
{
	cr_expect_eq(window_limit(64 * MIB, GIB, 1), 64 * MIB);
	cr_expect_eq(window_limit(64 * MIB, GIB, 8), 64 * MIB);
	cr_expect_eq(window_limit(64 * MIB, GIB, 16), 32 * MIB);
	cr_expect_eq(window_limit(64 * MIB, 16 * MIB, 1), 8 * MIB);
	cr_expect_eq(window_limit(64 * MIB, 16 * MIB, 600), BLOCK_SIZE);
	cr_expect_eq(window_limit(64 * MIB, GIB, 0), 64 * MIB);
}
