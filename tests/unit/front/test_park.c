#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "fakes.h"
#include "front/front_private.h"
#include "wire.h"

static struct wire wire;

static void begin(void)
{
	fakes_reset();
	wire_start(&wire);
	fakes.hold = true;
}

static void end(void)
{
	wire_end(&wire);
	cr_expect_eq(fakes.unreleased_reads, 0);
	cr_expect_eq(fakes.open_dirs, 0);
	cr_expect_eq(fakes.open_streams, 0);
}

TestSuite(park, .init = begin, .fini = end);

/* The serial of the only request that waits. */
static uint64_t only_serial(void)
{
	struct park_suspect suspects[2];

	cr_assert_eq(park_list_suspects(&wire.front->parking, 0, UINT64_MAX,
				     suspects, 2),
			1);
	cr_expect_eq(suspects[0].pid, getpid());
	return suspects[0].serial;
}

/* The handler parks after the call below has returned. */
static void wait_parked(size_t count)
{
	struct park_suspect suspects[8];

	cr_assert(fakes_wait_held(count));
	for (int i = 0; i < 5000; i++) {
		if (park_list_suspects(&wire.front->parking, 0, UINT64_MAX,
				    suspects, 8) == count) {
			/* On the list, and a moment later out of STARTING. */
			(void)usleep(20000);
			return;
		}
		(void)usleep(1000);
	}
	cr_assert(false, "not parked");
}

Test(park, a_killed_read_is_answered_once_and_gives_its_blocks_back)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);
	uint64_t unique = wire_send_read(&wire, FAKE_BIG, handle, 0, 4096);

	wait_parked(1);
	park_answer_killed(&wire.front->parking, only_serial());
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_eq(reply.unique, unique);
	cr_expect_eq(reply.error, -EINTR);
	/* The kernel is done with it and releases; the bytes come later. */
	wire_release(&wire, FAKE_BIG, handle);
	cr_expect_eq(fakes.open_streams, 1);
	fakes_release(0);
	cr_expect_not(wire_receive(&wire, &reply, 50));
	cr_expect_eq(fakes.open_streams, 0);
}

Test(park, a_killed_lookup_takes_its_count_back)
{
	struct wire_reply reply;

	(void)wire_send(&wire, FUSE_LOOKUP, 1, "big", 4);
	wait_parked(1);
	park_answer_killed(&wire.front->parking, only_serial());
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_eq(reply.error, -EINTR);
	fakes_release(0);
	cr_expect_not(wire_receive(&wire, &reply, 50));
	cr_expect_eq(fakes.lookups[FAKE_BIG], 0);
}

Test(park, a_killed_opendir_closes_its_listing)
{
	struct fuse_open_in in = {0};
	struct wire_reply reply;

	(void)wire_send(&wire, FUSE_OPENDIR, FAKE_DIR, &in, sizeof(in));
	wait_parked(1);
	park_answer_killed(&wire.front->parking, only_serial());
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_eq(reply.error, -EINTR);
	fakes_release(0);
	cr_expect_not(wire_receive(&wire, &reply, 50));
	cr_expect_eq(fakes.open_dirs, 0);
}

Test(park, a_request_is_not_answered_twice)
{
	struct wire_reply reply;

	(void)wire_send(&wire, FUSE_LOOKUP, 1, "big", 4);
	wait_parked(1);
	uint64_t serial = only_serial();
	park_answer_killed(&wire.front->parking, serial);
	park_answer_killed(&wire.front->parking, serial);
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_not(wire_receive(&wire, &reply, 50));
	fakes_release(0);
	/* Nor after it is gone. */
	park_answer_killed(&wire.front->parking, serial);
	cr_expect_not(wire_receive(&wire, &reply, 50));
}

Test(park, only_the_interrupted_and_those_that_wait_long_are_suspects)
{
	struct park_suspect suspects[8];
	uint64_t uniques[3];

	for (size_t i = 0; i < 3; i++) {
		uniques[i] = wire_send(&wire, FUSE_LOOKUP, 1, "big", 4);
		wait_parked(i + 1);
	}
	cr_expect_eq(park_list_suspects(
				     &wire.front->parking, 0, 0, suspects, 8),
			0);
	struct fuse_interrupt_in in = {.unique = uniques[1]};
	(void)wire_send(&wire, FUSE_INTERRUPT, 0, &in, sizeof(in));
	for (int i = 0; i < 5000; i++) {
		if (park_list_suspects(&wire.front->parking, 0, 0, suspects,
				    8) == 1) {
			break;
		}
		(void)usleep(1000);
	}
	cr_assert_eq(park_list_suspects(
				     &wire.front->parking, 0, 0, suspects, 8),
			1);
	uint64_t interrupted = suspects[0].serial;
	/* In order, a page at a time. */
	cr_assert_eq(park_list_suspects(&wire.front->parking, 0, UINT64_MAX,
				     suspects, 2),
			2);
	cr_expect_eq(suspects[1].serial, interrupted);
	cr_assert_eq(park_list_suspects(&wire.front->parking,
				     suspects[1].serial, UINT64_MAX, suspects,
				     2),
			1);
	cr_expect_gt(suspects[0].serial, interrupted);
}

Test(park, nothing_is_taken_when_closed)
{
	struct wire_reply reply;

	parking_close(&wire.front->parking);
	wire_lookup(&wire, 1, "big", &reply);
	cr_expect_eq(reply.error, -EIO);
	cr_expect_eq(fakes.lookup_calls, 0);
}

Test(park, waiting_for_an_empty_parking_ends_with_the_last_answer)
{
	struct wire_reply reply;

	cr_expect(parking_wait_empty(&wire.front->parking, 0));
	(void)wire_send(&wire, FUSE_LOOKUP, 1, "big", 4);
	wait_parked(1);
	cr_expect_not(parking_wait_empty(&wire.front->parking, 10));
	fakes_release(0);
	cr_expect(parking_wait_empty(&wire.front->parking, 5000));
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_not(park_keep_watching(&wire.front->parking));
}
