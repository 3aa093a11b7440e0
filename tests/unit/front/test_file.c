#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fakes.h"
#include "wire.h"

static struct wire wire;

static void begin(void)
{
	fakes_reset();
	wire_start(&wire);
}

static void end(void)
{
	wire_end(&wire);
	cr_expect_eq(fakes.open_streams, 0);
	cr_expect_eq(fakes.unreleased_reads, 0);
	cr_expect_eq(fakes.opens, fakes.closes);
	cr_expect_eq(counters_get(&wire.counters.open_files), 0);
}

TestSuite(file, .init = begin, .fini = end);

static void expect_bytes(
		const struct wire_reply *reply, uint64_t offset, size_t length)
{
	cr_assert_eq(reply->error, 0);
	cr_assert_eq(reply->length, length);
	for (size_t i = 0; i < length; i++) {
		cr_assert_eq((uint8_t)reply->data[i], fakes_byte(offset + i),
				"byte %zu", i);
	}
}

Test(file, a_read_gives_exactly_its_bytes)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);

	wire_read(&wire, FAKE_BIG, handle, 0, 1, &reply);
	expect_bytes(&reply, 0, 1);
	wire_read(&wire, FAKE_BIG, handle, 123457, 65536, &reply);
	expect_bytes(&reply, 123457, 65536);
	wire_release(&wire, FAKE_BIG, handle);
	cr_expect_eq(counters_get(&wire.counters.fuse_reads), 2);
}

Test(file, a_read_is_cut_at_the_end_and_past_it_asks_nobody)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);

	wire_read(&wire, FAKE_BIG, handle, FAKE_BIG_SIZE - 10, 4096, &reply);
	expect_bytes(&reply, FAKE_BIG_SIZE - 10, 10);
	cr_expect_eq(fakes.read_calls, 1);
	wire_read(&wire, FAKE_BIG, handle, FAKE_BIG_SIZE, 4096, &reply);
	expect_bytes(&reply, 0, 0);
	wire_read(&wire, FAKE_BIG, handle, (uint64_t)1 << 60, 4096, &reply);
	expect_bytes(&reply, 0, 0);
	cr_expect_eq(fakes.read_calls, 1);
	wire_release(&wire, FAKE_BIG, handle);
}

Test(file, a_request_larger_than_agreed_is_not_answered_short)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);

	wire_read(&wire, FAKE_BIG, handle, 0, (1 << 20) + 1, &reply);
	cr_expect_neq(reply.error, 0);
	wire_release(&wire, FAKE_BIG, handle);
}

Test(file, an_empty_file_opens_and_is_at_its_end)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_EMPTY);

	wire_read(&wire, FAKE_EMPTY, handle, 0, 4096, &reply);
	expect_bytes(&reply, 0, 0);
	cr_expect_eq(fakes.read_calls, 0);
	wire_release(&wire, FAKE_EMPTY, handle);
}

Test(file, an_open_keeps_the_page_cache_and_sends_nothing)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	struct fuse_open_out out;
	struct wire_reply reply;

	wire_ask(&wire, FUSE_OPEN, FAKE_BIG, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
	memcpy(&out, reply.data, sizeof(out));
	cr_expect_eq(out.open_flags & FOPEN_KEEP_CACHE, FOPEN_KEEP_CACHE);
	cr_expect_eq(out.open_flags & FOPEN_DIRECT_IO, 0);
	cr_expect_eq(fakes.read_calls, 0);
	wire_release(&wire, FAKE_BIG, out.fh);
}

Test(file, handles_of_an_inode_share_one_stream_file)
{
	uint64_t first = wire_open(&wire, FAKE_BIG);
	uint64_t second = wire_open(&wire, FAKE_BIG);

	cr_expect_eq(fakes.open_streams, 1);
	cr_expect_eq(counters_get(&wire.counters.open_files), 1);
	wire_release(&wire, FAKE_BIG, first);
	cr_expect_eq(fakes.open_streams, 1);
	wire_release(&wire, FAKE_BIG, second);
	cr_expect_eq(fakes.open_streams, 0);
	uint64_t third = wire_open(&wire, FAKE_BIG);
	cr_expect_eq(fakes.open_streams, 1);
	wire_release(&wire, FAKE_BIG, third);
}

Test(file, an_open_for_writing_is_refused)
{
	static const int flags[] = {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC};

	for (size_t i = 0; i < 3; i++) {
		struct fuse_open_in in = {.flags = (uint32_t)flags[i]};
		struct wire_reply reply;
		wire_ask(&wire, FUSE_OPEN, FAKE_BIG, &in, sizeof(in), &reply);
		cr_expect_eq(reply.error, -EROFS);
	}
	cr_expect_eq(fakes.opens, 0);
}

Test(file, a_version_known_to_be_gone_makes_the_kernel_look_again)
{
	struct fuse_open_in in = {.flags = O_RDONLY};
	struct wire_reply reply;

	wire_ask(&wire, FUSE_OPEN, FAKE_GONE, &in, sizeof(in), &reply);
	cr_expect_eq(reply.error, -ESTALE);
}

Test(file, reads_that_wait_are_answered_when_their_bytes_come)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);
	uint64_t sum = 0;

	fakes.hold = true;
	for (uint64_t i = 0; i < 8; i++) {
		sum += wire_send_read(&wire, FAKE_BIG, handle, i * 4096, 4096);
	}
	cr_assert(fakes_wait_held(8));
	cr_expect_not(wire_receive(&wire, &reply, 20));
	fakes_release(0);
	for (uint64_t i = 0; i < 8; i++) {
		cr_assert(wire_receive(&wire, &reply, 5000));
		cr_expect_eq(reply.error, 0);
		cr_expect_eq(reply.length, 4096);
		sum -= reply.unique;
	}
	cr_expect_eq(sum, 0);
	fakes.hold = false;
	wire_release(&wire, FAKE_BIG, handle);
}

Test(file, an_error_is_told_and_counted)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);

	fakes.error = -EIO;
	wire_read(&wire, FAKE_BIG, handle, 0, 4096, &reply);
	cr_expect_eq(reply.error, -EIO);
	cr_expect_eq(reply.length, 0);
	cr_expect_eq(counters_get(&wire.counters.errors_readers), 1);
	cr_expect_eq(fakes.marked, 0);
	wire_release(&wire, FAKE_BIG, handle);
}

Test(file, a_changed_object_is_told_to_the_tree_and_to_the_kernel)
{
	static struct wire_reply reply;
	struct fuse_notify_inval_entry_out entry;
	uint64_t handle = wire_open(&wire, FAKE_BIG);
	bool told = false;
	bool answered = false;

	fakes.error = -ESTALE;
	wire_send_read(&wire, FAKE_BIG, handle, 0, 4096);
	for (int i = 0; i < 2; i++) {
		cr_assert(wire_receive(&wire, &reply, 5000));
		if (reply.unique == 0) {
			cr_expect_eq(reply.error, FUSE_NOTIFY_INVAL_ENTRY);
			memcpy(&entry, reply.data, sizeof(entry));
			cr_expect_eq(entry.parent, 1);
			cr_expect_eq(entry.namelen, 3);
			told = true;
		} else {
			cr_expect_eq(reply.error, -ESTALE);
			answered = true;
		}
	}
	cr_expect(told);
	cr_expect(answered);
	cr_expect_eq(fakes.marked, 1);
	wire_release(&wire, FAKE_BIG, handle);
}

Test(file, a_signal_that_does_not_kill_cancels_nothing)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);

	fakes.hold = true;
	uint64_t unique = wire_send_read(&wire, FAKE_BIG, handle, 0, 4096);
	cr_assert(fakes_wait_held(1));
	struct fuse_interrupt_in in = {.unique = unique};
	wire_send(&wire, FUSE_INTERRUPT, 0, &in, sizeof(in));
	/* Longer than the second look: the caller, this process, lives. */
	cr_expect_not(wire_receive(&wire, &reply, 1300));
	fakes_release(0);
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_eq(reply.unique, unique);
	expect_bytes(&reply, 0, 4096);
	fakes.hold = false;
	wire_release(&wire, FAKE_BIG, handle);
}

Test(file, what_the_kernel_does_not_release_is_closed_at_the_end)
{
	(void)wire_open(&wire, FAKE_BIG);
	(void)wire_open(&wire, FAKE_EMPTY);
	fakes.hold = true;
	uint64_t handle = wire_open(&wire, FAKE_BIG);
	wire_send_read(&wire, FAKE_BIG, handle, 0, 4096);
	cr_assert(fakes_wait_held(1));
}

Test(file, a_signal_answers_waiting_reads_and_ends_the_session)
{
	static struct wire_reply reply;
	uint64_t handle = wire_open(&wire, FAKE_BIG);

	fakes.hold = true;
	uint64_t unique = wire_send_read(&wire, FAKE_BIG, handle, 0, 4096);
	cr_assert(fakes_wait_held(1));
	cr_assert_eq(kill(getpid(), SIGTERM), 0);
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_eq(reply.unique, unique);
	cr_expect_eq(reply.error, -EIO);
	/* Without our hanging up. */
	wire_join(&wire);
	cr_expect_eq(wire.result, 0);
	cr_expect_eq(wire.stopped, 1);
	(void)alarm(0);
}

static int ask_open(uint64_t inode, uint64_t *out_handle)
{
	const struct fuse_open_in in = {.flags = O_RDONLY};
	struct fuse_open_out out = {0};
	struct wire_reply reply;

	wire_ask(&wire, FUSE_OPEN, inode, &in, sizeof(in), &reply);
	if (reply.error == 0) {
		memcpy(&out, reply.data, sizeof(out));
	}
	*out_handle = out.fh;
	return reply.error;
}

/* A listing does not tell whether an archived object was restored. */
Test(file, an_archived_object_opens_when_it_was_restored)
{
	const struct fuse_open_in in = {.flags = O_RDONLY};
	struct wire_reply reply;
	uint64_t handle = 0;

	cr_expect_eq(ask_open(FAKE_ARCHIVED, &handle), -EACCES);
	cr_assert_eq(ask_open(FAKE_RESTORED, &handle), 0);
	wire_release(&wire, FAKE_RESTORED, handle);
	fakes.hold = true;
	(void)wire_send(&wire, FUSE_OPEN, FAKE_RESTORED, &in, sizeof(in));
	cr_assert(fakes_wait_held(1));
	cr_expect_not(wire_receive(&wire, &reply, 50));
	fakes_release(0);
	fakes.hold = false;
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_assert_eq(reply.error, 0);
	struct fuse_open_out out;
	memcpy(&out, reply.data, sizeof(out));
	wire_release(&wire, FAKE_RESTORED, out.fh);
}
