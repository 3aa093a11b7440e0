#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "base/block_pool.h"
#include "stack.h"
#include "store/object.h"
#include "store/testing.h"
#include "stream/stream.h"

static const struct stack_options defaults;

/* ---- In order ---- */

static void check_in_order(uint64_t size, uint64_t step)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", size);
	cr_assert_eq(stack_read_all(file, "a", 0, size, step), 0);
	struct stack_asked asked = stack_asked(&stack);
	cr_expect_eq(asked.bytes, size, "%lu by %lu: %lu", size, step,
			asked.bytes);
	cr_expect_eq(asked.twice, 0, "%lu by %lu", size, step);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, a_file_read_in_order_is_fetched_exactly_once)
{
	static const uint64_t sizes[] = {1, 4095, BLOCK_SIZE, BLOCK_SIZE + 1,
			MIB, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 9 * MIB + 77,
			32 * MIB};
	static const uint64_t steps[] = {12345, 128 * KIB, MIB};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t j = 0; j < sizeof(steps) / sizeof(steps[0]); j++) {
			check_in_order(sizes[i], steps[j]);
		}
	}
}

Test(stream, a_small_object_is_one_request_wherever_it_is_read)
{
	static const uint64_t offsets[] = {0, 128 * KIB, 3 * MIB};

	for (size_t i = 0; i < 3; i++) {
		struct stack stack;

		stack_open(&stack, &defaults);
		struct stream_file *file =
				stack_open_file(&stack, "small", 4 * MIB);
		cr_assert_eq(stack_read(file, "small", offsets[i], 4096), 0);
		cr_assert_eq(stack_read(file, "small", 0, 4 * MIB), 0);
		struct stack_asked asked = stack_asked(&stack);
		cr_expect_eq(asked.requests, 1);
		cr_expect_eq(asked.bytes, 4 * MIB);
		stream_file_close(file);
		stack_close(&stack);
	}
}

Test(stream, a_long_file_is_read_in_large_requests_many_at_once)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 128 * MIB);
	cr_assert_eq(stack_read(file, "a", 0, 64 * MIB), 0);
	cr_assert_geq(counters_get(&stack.counters.window_bytes), 8 * MIB);
	memory_store_hold(stack.store);
	memory_store_clear_records(stack.store);
	cr_assert_eq(stack_read(file, "a", 64 * MIB, MIB), 0);
	memory_store_release(stack.store);
	cr_assert_eq(stack_read(file, "a", 65 * MIB, 63 * MIB), 0);
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_geq(asked.bytes / asked.requests, MIB);
	cr_assert_eq(asked.twice, 0);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, the_first_mib_fetches_a_bounded_window)
{
	static const uint64_t steps[] = {4096, 128 * KIB, MIB};

	for (size_t i = 0; i < 3; i++) {
		struct stack stack;

		stack_open(&stack, &defaults);
		struct stream_file *file =
				stack_open_file(&stack, "a", 128 * MIB);
		cr_assert_eq(stack_read_all(file, "a", 0, MIB, steps[i]), 0);
		struct stack_asked asked = stack_asked(&stack);
		cr_expect_leq(asked.bytes, 4 * MIB + 128 * KIB, "%lu: %lu",
				steps[i], asked.bytes);
		stream_file_close(file);
		stack_close(&stack);
	}
}

Test(stream, that_is_no_longer_read_asks_for_nothing_more)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 128 * MIB);
	cr_assert_eq(stack_read_all(file, "a", 0, 8 * MIB, 128 * KIB), 0);
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_leq(asked.bytes, 8 * MIB * 4 + 128 * KIB);
	struct stack_asked later = stack_asked(&stack);
	cr_assert_eq(later.bytes, asked.bytes);
	stream_file_close(file);
	later = stack_asked(&stack);
	cr_assert_eq(later.bytes, asked.bytes);
	stack_close(&stack);
}

/* ---- Not in order ---- */

Test(stream, random_reads_fetch_just_their_blocks)
{
	static const uint64_t lengths[] = {4096, 64 * KIB, 128 * KIB};

	for (size_t l = 0; l < 3; l++) {
		struct stack stack;
		uint64_t length = lengths[l];

		srand(11);
		stack_open(&stack, &defaults);
		struct stream_file *file =
				stack_open_file(&stack, "a", 256 * MIB);
		for (int i = 0; i < 100; i++) {
			/* Every second place, so that none are neighbours. */
			uint64_t place = 1 + (uint64_t)rand() % 500 * 2;
			cr_assert_eq(stack_read(file, "a", place * 256 * KIB,
						     length),
					0);
		}
		struct stack_asked asked = stack_asked(&stack);
		uint64_t own = length < BLOCK_SIZE ? BLOCK_SIZE : length;
		cr_expect_leq(asked.bytes, 100 * own);
		cr_expect_eq(asked.bytes / asked.requests, own);
		cr_expect_eq(asked.twice, 0);
		stream_file_close(file);
		stack_close(&stack);
	}
}

Test(stream, eight_readers_of_one_file_fetch_it_once)
{
	struct stack stack;
	uint64_t eighth = 8 * MIB;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 64 * MIB);
	for (uint64_t at = 0; at < eighth; at += 256 * KIB) {
		for (uint64_t reader = 0; reader < 8; reader++) {
			cr_assert_eq(stack_read(file, "a", reader * eighth + at,
						     256 * KIB),
					0);
		}
	}
	cr_assert_eq(counters_get(&stack.counters.streams), 8);
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_eq(asked.bytes, 64 * MIB);
	cr_assert_eq(asked.twice, 0);
	/* Not one a read. */
	cr_assert_lt(asked.requests, 128);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, strides_fetch_just_their_blocks)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 64 * MIB);
	for (uint64_t at = MIB; at < 64 * MIB; at += MIB) {
		cr_assert_eq(stack_read(file, "a", at, 128 * KIB), 0);
	}
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_eq(asked.bytes, 63 * 128 * KIB);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, reading_backward_fetches_just_what_is_read)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 64 * MIB);
	for (uint64_t at = 64 * MIB; at > 48 * MIB;) {
		at -= 128 * KIB;
		cr_assert_eq(stack_read(file, "a", at, 128 * KIB), 0);
	}
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_eq(asked.bytes, 16 * MIB);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, a_reader_that_skips_a_little_stays_a_stream)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 50 * MIB);
	for (uint64_t at = 0; at < 50 * MIB; at += 5 * MIB) {
		cr_assert_eq(stack_read_all(file, "a", at, 4 * MIB, 128 * KIB),
				0);
	}
	cr_assert_eq(counters_get(&stack.counters.streams), 1);
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_leq(asked.bytes, 50 * MIB);
	cr_assert_eq(asked.twice, 0);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, a_column_in_the_middle_costs_at_most_twice_its_size)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 128 * MIB);
	/* The footer, then three columns, as the kernel splits the reads. */
	cr_assert_eq(stack_read(file, "a", 128 * MIB - 64 * KIB, 64 * KIB), 0);
	for (uint64_t column = 1; column <= 3; column++) {
		cr_assert_eq(stack_read_all(file, "a", column * 30 * MIB,
					     2 * MIB, 128 * KIB),
				0);
	}
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_leq(asked.bytes, 2 * 3 * 2 * MIB + 64 * KIB);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, sequential_percent_tells_streams_from_random_reads)
{
	struct stack stack;

	srand(5);
	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 128 * MIB);
	cr_assert_eq(stack_read_all(file, "a", 0, 16 * MIB, 128 * KIB), 0);
	cr_assert_eq(stream_set_sequential_percent(stack.set), 100);
	for (int i = 0; i < 300; i++) {
		uint64_t page = (uint64_t)rand() % 20000;
		cr_assert_eq(stack_read(file, "a", 40 * MIB + page * 4096,
					     4096),
				0);
	}
	cr_assert_leq(stream_set_sequential_percent(stack.set), 5);
	stream_file_close(file);
	stack_close(&stack);
}

/* ---- Again ---- */

Test(stream, what_is_in_memory_is_not_fetched_again)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	for (int epoch = 0; epoch < 3; epoch++) {
		struct stream_file *file =
				stack_open_file(&stack, "a", 20 * MIB);
		cr_assert_eq(stack_read(file, "a", 0, 20 * MIB), 0);
		stream_file_close(file);
	}
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_eq(asked.bytes, 20 * MIB);
	stack_close(&stack);
}

/* ---- Faults ---- */

Test(stream, faults_of_the_store_are_not_seen)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 24 * MIB);
	memory_store_fail(stack.store, "get", 0, 2, -EIO, STORE_RETRY, 100000);
	memory_store_fail(stack.store, "get", 3, 3, -EIO, STORE_RETRY, 0);
	cr_assert_eq(stack_read_all(file, "a", 0, 24 * MIB, 128 * KIB), 0);
	cr_assert_gt(counters_get(&stack.counters.retries), 0);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, an_object_that_is_gone_is_stale_where_it_is_not_cached)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 64 * MIB);
	cr_assert_eq(stack_read(file, "a", 0, 128 * KIB), 0);
	(void)stack_asked(&stack);
	memory_store_remove(stack.store, "a");
	cr_assert_eq(stack_read(file, "a", 40 * MIB, 128 * KIB), -ESTALE);
	cr_assert_eq(stack_read(file, "a", 0, 128 * KIB), 0);
	stream_file_close(file);
	stack_close(&stack);
}

Test(stream, a_failed_prefetch_is_asked_for_again_when_it_is_read)
{
	struct stack stack;

	stack_open(&stack, &defaults);
	struct stream_file *file = stack_open_file(&stack, "a", 64 * MIB);
	cr_assert_eq(stack_read(file, "a", 0, 4 * MIB), 0);
	(void)stack_asked(&stack);
	memory_store_fail(stack.store, "get", 0, 8, -EIO, STORE_RETRY, 0);
	cr_assert_eq(stack_read(file, "a", 4 * MIB, 2 * MIB), 0);
	cr_assert_eq(stack_read(file, "a", 6 * MIB, 58 * MIB), 0);
	stream_file_close(file);
	stack_close(&stack);
}
