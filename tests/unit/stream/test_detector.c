#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "stream/detector.h"

#define KIB ((uint64_t)1024)
#define MIB ((uint64_t)1 << 20)

static const uint64_t no_jump[DETECTOR_STREAMS];

static struct detector_verdict read_at(
		struct detector *detector, uint64_t offset, uint64_t length)
{
	return detector_read(detector, offset, length, no_jump);
}

static bool sequential(
		struct detector *detector, uint64_t offset, uint64_t length)
{
	return read_at(detector, offset, length).sequential;
}

/* As stream.c does: so much is under way ahead of each proven stream. */
static bool with_ahead(struct detector *detector, uint64_t offset,
		uint64_t length, uint64_t ahead)
{
	uint64_t jump[DETECTOR_STREAMS];

	for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
		jump[i] = detector->streams[i].proven ? ahead : 0;
	}
	return detector_read(detector, offset, length, jump).sequential;
}

Test(detector, a_file_read_in_order_is_one_stream_from_its_first_read)
{
	struct detector detector;

	detector_init(&detector, 2 * MIB);
	for (uint64_t i = 0; i < 1000; i++) {
		struct detector_verdict verdict =
				read_at(&detector, i * 128 * KIB, 128 * KIB);
		cr_assert(verdict.sequential);
		cr_assert_eq(verdict.stream, 0);
		cr_assert_eq(verdict.fresh, i == 0);
	}
	cr_assert_eq(detector.streams[0].start, 0);
	cr_assert_eq(detector.streams[0].next, 1000 * 128 * KIB);
}

Test(detector, a_stream_in_the_middle_is_proven_by_its_second_read)
{
	struct detector detector;

	detector_init(&detector, 2 * MIB);
	cr_assert_not(sequential(&detector, 40 * MIB, 4 * KIB));
	cr_assert(sequential(&detector, 40 * MIB + 4 * KIB, 8 * KIB));
	cr_assert(sequential(&detector, 40 * MIB + 12 * KIB, MIB));
}

Test(detector, reads_of_one_window_in_any_order_stay_one_stream)
{
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct detector detector;
		size_t strangers = 0;

		srand(seed);
		detector_init(&detector, 2 * MIB);
		for (uint64_t window = 0; window < 20; window++) {
			size_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
			for (size_t i = 8; i > 1; i--) {
				size_t j = (size_t)rand() % i;
				size_t other = order[i - 1];
				order[i - 1] = order[j];
				order[j] = other;
			}
			for (size_t i = 0; i < 8; i++) {
				uint64_t offset = window * MIB +
						  order[i] * 128 * KIB;
				strangers += !with_ahead(&detector, offset,
						128 * KIB, MIB);
			}
		}
		/* All but some of the very first. */
		cr_assert_leq(strangers, 7, "seed %u: %zu", seed, strangers);
		size_t streams = 0;
		for (size_t i = 0; i < DETECTOR_STREAMS; i++) {
			streams += detector.streams[i].used;
		}
		cr_assert_eq(streams, 1, "seed %u: %zu", seed, streams);
	}
}

Test(detector, eight_readers_through_one_descriptor_are_eight_streams)
{
	struct detector detector;
	bool seen[DETECTOR_STREAMS] = {false};
	size_t streams = 0;

	detector_init(&detector, 2 * MIB);
	for (uint64_t i = 0; i < 200; i++) {
		for (uint64_t reader = 0; reader < 8; reader++) {
			struct detector_verdict verdict = read_at(&detector,
					reader * 64 * MIB + i * 256 * KIB,
					256 * KIB);
			cr_assert_eq(verdict.sequential, i > 0 || reader == 0);
			streams += !seen[verdict.stream];
			seen[verdict.stream] = true;
		}
	}
	cr_assert_eq(streams, 8);
}

Test(detector, random_reads_are_no_stream)
{
	struct detector detector;
	size_t found = 0;

	srand(7);
	detector_init(&detector, 2 * MIB);
	for (int i = 0; i < 2000; i++) {
		uint64_t page = 1 + (uint64_t)rand() % (1024 * 256);
		found += sequential(&detector, page * 4 * KIB, 4 * KIB);
	}
	/* One in thousands follows another by chance. */
	cr_assert_leq(found, 5);
}

Test(detector, streams_survive_random_reads_between_theirs)
{
	struct detector detector;
	size_t lost = 0;

	srand(3);
	detector_init(&detector, 2 * MIB);
	for (uint64_t i = 0; i < 300; i++) {
		lost += !sequential(&detector, i * 128 * KIB, 128 * KIB);
		for (int j = 0; j < 20; j++) {
			uint64_t page = (uint64_t)rand() % (1024 * 256);
			(void)read_at(&detector, 500 * MIB + page * 4 * KIB,
					4 * KIB);
		}
	}
	cr_assert_eq(lost, 0);
}

Test(detector, reading_backward_is_no_stream)
{
	struct detector detector;

	detector_init(&detector, 2 * MIB);
	for (uint64_t i = 100; i > 1; i--) {
		cr_assert_not(sequential(&detector, i * 128 * KIB, 128 * KIB));
	}
}

Test(detector, strides_are_no_stream_whatever_is_under_way)
{
	static const uint64_t lengths[] = {4 * KIB, 64 * KIB, 128 * KIB};

	for (size_t l = 0; l < 3; l++) {
		struct detector detector;

		detector_init(&detector, 2 * MIB);
		for (uint64_t i = 0; i < 100; i++) {
			bool found = with_ahead(
					&detector, i * MIB, lengths[l], MIB);
			cr_assert_eq(found, i == 0, "%lu of %lu", i,
					lengths[l]);
		}
	}
}

Test(detector, a_stream_that_turns_into_strides_ends)
{
	struct detector detector;
	uint64_t offset = 0;
	size_t found = 0;

	detector_init(&detector, 2 * MIB);
	for (; offset < 100 * MIB; offset += MIB) {
		cr_assert(with_ahead(&detector, offset, MIB, 64 * MIB));
	}
	for (int i = 0; i < 100; i++, offset += MIB) {
		found += with_ahead(&detector, offset, 4 * KIB, 64 * MIB);
	}
	cr_assert_leq(found, 20);
}

Test(detector, a_jump_within_what_is_under_way_keeps_the_stream)
{
	struct detector detector;
	uint64_t offset = 0;

	detector_init(&detector, 2 * MIB);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 32; i++, offset += 128 * KIB) {
			cr_assert(with_ahead(
					&detector, offset, 128 * KIB, 2 * MIB));
		}
		offset += MIB;
	}
	cr_assert_eq(detector.streams[1].used, false);
}

Test(detector, a_jump_beyond_what_is_under_way_begins_anew)
{
	struct detector detector;

	detector_init(&detector, 2 * MIB);
	cr_assert(with_ahead(&detector, 0, 4 * MIB, 2 * MIB));
	cr_assert_not(with_ahead(&detector, 44 * MIB, 128 * KIB, 2 * MIB));
	/* The old one may still go on. */
	cr_assert(with_ahead(&detector, 4 * MIB, 128 * KIB, 2 * MIB));
	cr_assert(with_ahead(
			&detector, 44 * MIB + 128 * KIB, 128 * KIB, 2 * MIB));
}

Test(detector, the_same_bytes_again_are_no_stream)
{
	struct detector detector;

	detector_init(&detector, 2 * MIB);
	for (int i = 0; i < 10; i++) {
		cr_assert_not(sequential(&detector, 9 * MIB, 64 * KIB));
		cr_assert_not(sequential(&detector, 9 * MIB + 4096, 4096));
	}
}

Test(detector, reading_again_from_the_start_is_a_fresh_stream)
{
	struct detector detector;

	detector_init(&detector, 2 * MIB);
	for (int epoch = 0; epoch < 40; epoch++) {
		for (uint64_t i = 0; i < 64; i++) {
			struct detector_verdict verdict =
					read_at(&detector, i * MIB, MIB);
			cr_assert(verdict.sequential);
			cr_assert_eq(verdict.fresh, i == 0);
		}
	}
}

Test(detector, new_readers_are_found_after_many_old_streams)
{
	struct detector detector;

	detector_init(&detector, 2 * MIB);
	for (uint64_t old = 0; old < 16; old++) {
		(void)read_at(&detector, old * 10 * MIB, MIB);
		(void)read_at(&detector, old * 10 * MIB + MIB, MIB);
	}
	for (uint64_t i = 0; i < 50; i++) {
		for (uint64_t reader = 0; reader < 8; reader++) {
			uint64_t offset = (1000 + reader * 100) * MIB + i * MIB;
			bool found = sequential(&detector, offset, MIB);
			cr_assert(found || i < 8, "round %lu", i);
		}
	}
}

Test(detector, page_faults_in_order_are_a_stream_at_every_size)
{
	static const uint64_t lengths[] = {
			4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, MIB};

	for (size_t l = 0; l < 5; l++) {
		struct detector detector;

		detector_init(&detector, 2 * MIB);
		for (uint64_t i = 0; i < 500; i++) {
			cr_assert(sequential(
					&detector, i * lengths[l], lengths[l]));
		}
	}
}
