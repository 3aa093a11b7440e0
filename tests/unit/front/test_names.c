#include <criterion/criterion.h>
#include <errno.h>
#include <fuse_lowlevel.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes.h"
#include "tree/tree.h"
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
}

TestSuite(names, .init = begin, .fini = end);

static struct fuse_entry_out entry_of(const struct wire_reply *reply)
{
	struct fuse_entry_out entry;

	cr_assert_eq(reply->error, 0);
	cr_assert_eq(reply->length, sizeof(entry));
	memcpy(&entry, reply->data, sizeof(entry));
	return entry;
}

Test(names, init_asks_for_large_requests_and_no_splice)
{
	cr_expect_eq(wire.init.major, 7);
	cr_expect_geq(wire.init.max_background, 128);
	cr_expect_gt(wire.init.congestion_threshold, 0);
	cr_expect_eq(wire.init.max_write, 1 << 20);
	cr_expect_eq(wire.init.max_pages, (1 << 20) / 4096);
	unsigned wanted = FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS |
			  FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |
			  FUSE_EXPLICIT_INVAL_DATA;
	unsigned unwanted = FUSE_SPLICE_READ | FUSE_SPLICE_WRITE |
			    FUSE_SPLICE_MOVE | FUSE_AUTO_INVAL_DATA |
			    FUSE_WRITEBACK_CACHE | FUSE_POSIX_LOCKS |
			    FUSE_FLOCK_LOCKS;
	/* Older ones know the flag and do not pass it on. */
	if (fuse_version() < FUSE_MAKE_VERSION(3, 17)) {
		wanted &= ~(unsigned)FUSE_PARALLEL_DIROPS;
	}
	cr_expect_eq(wire.init.flags & wanted, wanted);
	cr_expect_eq(wire.init.flags & unwanted, 0);
}

Test(names, ready_is_told_once)
{
	for (int i = 0; i < 5000 && wire.ready == 0; i++) {
		(void)usleep(1000);
	}
	cr_expect_eq(wire.ready, 1);
}

Test(names, a_lookup_gives_attributes_and_timeouts)
{
	struct wire_reply reply;

	wire_lookup(&wire, 1, "big", &reply);
	struct fuse_entry_out entry = entry_of(&reply);
	cr_expect_eq(entry.nodeid, FAKE_BIG);
	cr_expect_eq(entry.attr.ino, FAKE_BIG);
	cr_expect_eq(entry.attr.size, FAKE_BIG_SIZE);
	cr_expect_eq(entry.attr.mode, S_IFREG | 0440);
	cr_expect_eq(entry.attr.uid, 11);
	cr_expect_eq(entry.attr.gid, 22);
	cr_expect_eq(entry.entry_valid, 2);
	cr_expect_eq(entry.entry_valid_nsec, 500000000);
	cr_expect_eq(entry.attr_valid, 2);
	cr_expect_eq(fakes.lookups[FAKE_BIG], 1);
}

Test(names, an_absent_name_is_remembered_by_the_kernel)
{
	struct wire_reply reply;

	wire_lookup(&wire, 1, "nothing", &reply);
	struct fuse_entry_out entry = entry_of(&reply);
	cr_expect_eq(entry.nodeid, 0);
	cr_expect_eq(entry.entry_valid, 2);
}

Test(names, a_failed_lookup_is_not_remembered_as_absence)
{
	struct wire_reply reply;

	fakes.error = -EIO;
	wire_lookup(&wire, 1, "big", &reply);
	cr_expect_eq(reply.error, -EIO);
	fakes.error = -EACCES;
	wire_lookup(&wire, 1, "big", &reply);
	cr_expect_eq(reply.error, -EACCES);
	cr_expect_eq(fakes.lookups[FAKE_BIG], 0);
}

Test(names, a_name_of_256_bytes_is_too_long_and_one_of_255_is_not)
{
	struct wire_reply reply;
	char name[257];

	memset(name, 'x', sizeof(name));
	name[256] = '\0';
	wire_lookup(&wire, 1, name, &reply);
	cr_expect_eq(reply.error, -ENAMETOOLONG);
	cr_expect_eq(fakes.lookup_calls, 0);
	name[255] = '\0';
	wire_lookup(&wire, 1, name, &reply);
	cr_expect_eq(reply.error, 0);
	cr_expect_eq(fakes.lookup_calls, 1);
}

Test(names, a_lookup_that_waits_holds_up_no_other)
{
	struct wire_reply reply;

	fakes.hold = true;
	uint64_t first = wire_send(&wire, FUSE_LOOKUP, 1, "big", 4);
	cr_assert(fakes_wait_held(1));
	cr_expect_not(wire_receive(&wire, &reply, 20));
	wire_ask(&wire, FUSE_STATFS, 1, NULL, 0, &reply);
	cr_expect_eq(reply.error, 0);
	fakes_release(0);
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_eq(reply.unique, first);
	cr_expect_eq(entry_of(&reply).nodeid, FAKE_BIG);
	cr_expect_eq(fakes.lookups[FAKE_BIG], 1);
}

Test(names, a_lookup_completed_before_its_start_returned_is_answered_once)
{
	struct wire_reply reply;

	fakes.hold = true;
	fakes.complete_early = true;
	for (int i = 0; i < 100; i++) {
		wire_lookup(&wire, 1, "big", &reply);
		cr_expect_eq(entry_of(&reply).nodeid, FAKE_BIG);
	}
	cr_expect_not(wire_receive(&wire, &reply, 20));
	cr_expect_eq(fakes.lookups[FAKE_BIG], 100);
}

Test(names, forget_takes_back_what_it_says)
{
	struct fuse_forget_in one = {.nlookup = 2};
	struct {
		struct fuse_batch_forget_in head;
		struct fuse_forget_one items[3];
	} batch = {
			.head = {.count = 3},
			.items = {{FAKE_BIG, 3}, {FAKE_DIR, 4}, {1, 9}},
	};
	struct wire_reply reply;

	wire_send(&wire, FUSE_FORGET, FAKE_BIG, &one, sizeof(one));
	wire_send(&wire, FUSE_BATCH_FORGET, 0, &batch, sizeof(batch));
	/* Neither has an answer; the next request has. */
	for (int i = 0; i < 5000 && fakes.lookups[FAKE_DIR] == 0; i++) {
		(void)usleep(1000);
	}
	wire_ask(&wire, FUSE_STATFS, 1, NULL, 0, &reply);
	for (int i = 0; i < 5000 && fakes.lookups[FAKE_BIG] != -5; i++) {
		(void)usleep(1000);
	}
	cr_expect_eq(fakes.lookups[FAKE_BIG], -5);
	cr_expect_eq(fakes.lookups[FAKE_DIR], -4);
	/* The root is not counted. */
	cr_expect_eq(fakes.lookups[1], 0);
}

Test(names, getattr_is_answered_from_memory)
{
	struct fuse_getattr_in in = {0};
	struct fuse_attr_out out;
	struct wire_reply reply;

	wire_ask(&wire, FUSE_GETATTR, 1, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
	memcpy(&out, reply.data, sizeof(out));
	cr_expect_eq(out.attr.mode, S_IFDIR | 0550);
	cr_expect_eq(out.attr.ino, 1);
	cr_expect_eq(fakes.lookup_calls, 0);
}

Test(names, statfs_is_big_and_all_free)
{
	struct fuse_statfs_out out;
	struct wire_reply reply;

	wire_ask(&wire, FUSE_STATFS, 1, NULL, 0, &reply);
	cr_assert_eq(reply.error, 0);
	memcpy(&out, reply.data, sizeof(out));
	cr_expect_gt(out.st.blocks, 0);
	cr_expect_eq(out.st.bfree, out.st.blocks);
	cr_expect_eq(out.st.bavail, out.st.blocks);
	cr_expect_geq(out.st.bsize, 4096);
	cr_expect_gt(out.st.files, 0);
	cr_expect_eq(out.st.ffree, out.st.files);
	cr_expect_eq(out.st.namelen, 255);
}

Test(names, everything_that_writes_is_refused_without_a_request)
{
	static const struct {
		uint32_t opcode;
		const char *data;
		size_t length;
	} rows[] = {
			{FUSE_SETATTR, NULL, sizeof(struct fuse_setattr_in)},
			{FUSE_UNLINK, "big", 4},
			{FUSE_RMDIR, "dir", 4},
			{FUSE_SYMLINK, "a\0b", 4},
			{FUSE_MKDIR, NULL, sizeof(struct fuse_mkdir_in) + 2},
			{FUSE_MKNOD, NULL, sizeof(struct fuse_mknod_in) + 2},
			{FUSE_RENAME, NULL, sizeof(struct fuse_rename_in) + 4},
			{FUSE_RENAME2, NULL,
					sizeof(struct fuse_rename2_in) + 4},
			{FUSE_LINK, NULL, sizeof(struct fuse_link_in) + 2},
			{FUSE_WRITE, NULL, sizeof(struct fuse_write_in)},
			{FUSE_CREATE, NULL, sizeof(struct fuse_create_in) + 2},
			{FUSE_SETXATTR, NULL, FUSE_COMPAT_SETXATTR_IN_SIZE + 4},
			{FUSE_REMOVEXATTR, "user.a", 7},
			{FUSE_FALLOCATE, NULL,
					sizeof(struct fuse_fallocate_in)},
			{FUSE_COPY_FILE_RANGE, NULL,
					sizeof(struct fuse_copy_file_range_in)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char data[256] = {0};
		struct wire_reply reply;
		if (rows[i].data != NULL) {
			memcpy(data, rows[i].data, rows[i].length);
		}
		wire_ask(&wire, rows[i].opcode, FAKE_BIG, data, rows[i].length,
				&reply);
		cr_expect_eq(reply.error, -EROFS, "opcode %u", rows[i].opcode);
	}
	cr_expect_eq(fakes.lookup_calls + fakes.opens + fakes.read_calls, 0);
}

Test(names, access_for_writing_is_refused)
{
	struct fuse_access_in in = {.mask = W_OK};
	struct wire_reply reply;

	wire_ask(&wire, FUSE_ACCESS, 1, &in, sizeof(in), &reply);
	cr_expect_eq(reply.error, -EROFS);
	in.mask = R_OK | X_OK;
	wire_ask(&wire, FUSE_ACCESS, 1, &in, sizeof(in), &reply);
	cr_expect_eq(reply.error, 0);
}

Test(names, a_hung_up_kernel_ends_waiting_lookups)
{
	fakes.hold = true;
	wire_send(&wire, FUSE_LOOKUP, 1, "big", 4);
	cr_assert(fakes_wait_held(1));
	/* The end of the suite hangs up and joins: on_stop must have come. */
}
