#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "fakes.h"
#include "wire.h"

static struct wire wire;

static void begin(void)
{
	fakes_reset();
	fakes.entry_count = 100;
	wire_start(&wire);
}

static void end(void)
{
	wire_end(&wire);
	cr_expect_eq(fakes.open_dirs, 0);
}

TestSuite(dir, .init = begin, .fini = end);

static uint64_t open_dir(uint64_t inode)
{
	struct fuse_open_in in = {0};
	struct fuse_open_out out;
	struct wire_reply reply;

	wire_ask(&wire, FUSE_OPENDIR, inode, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
	memcpy(&out, reply.data, sizeof(out));
	return out.fh;
}

static void release_dir(uint64_t inode, uint64_t handle)
{
	struct fuse_release_in in = {.fh = handle};
	struct wire_reply reply;

	wire_ask(&wire, FUSE_RELEASEDIR, inode, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
}

/* One READDIR: the names, one a line; the last cookie. */
static size_t read_dir(uint64_t inode, uint64_t handle, uint64_t offset,
		uint32_t size, char *names, uint64_t *out_last)
{
	struct fuse_read_in in = {.fh = handle, .offset = offset, .size = size};
	struct wire_reply reply;
	size_t count = 0;

	wire_ask(&wire, FUSE_READDIR, inode, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
	cr_assert_leq(reply.length, size);
	for (size_t at = 0; at < reply.length; count++) {
		struct fuse_dirent *entry =
				(struct fuse_dirent *)(reply.data + at);
		cr_assert_neq(entry->ino, 0);
		cr_assert_gt(entry->off, offset);
		names += sprintf(names, "%.*s\n", (int)entry->namelen,
				entry->name);
		*out_last = entry->off;
		at += FUSE_DIRENT_SIZE(entry);
	}
	*names = '\0';
	return count;
}

Test(dir, lists_dots_and_entries_in_order)
{
	static char names[4096];
	uint64_t handle = open_dir(FAKE_DIR);
	uint64_t last = 0;

	fakes.entry_count = 3; /* Not of this handle: it is a snapshot. */
	cr_expect_eq(read_dir(FAKE_DIR, handle, 0, 32768, names, &last), 102);
	cr_expect_eq(strncmp(names, ".\n..\ne0000\ne0001\n", 17), 0);
	cr_expect_eq(read_dir(FAKE_DIR, handle, last, 32768, names, &last), 0);
	release_dir(FAKE_DIR, handle);
}

Test(dir, small_buffers_lose_and_repeat_nothing)
{
	static char all[4096];
	static char part[4096];
	static char joined[4096];
	uint64_t handle = open_dir(FAKE_DIR);
	uint64_t last = 0;
	uint64_t offset = 0;

	(void)read_dir(FAKE_DIR, handle, 0, 32768, all, &last);
	while (read_dir(FAKE_DIR, handle, offset, 100, part, &offset) > 0) {
		strcat(joined, part);
	}
	cr_expect_str_eq(joined, all);
	release_dir(FAKE_DIR, handle);
}

Test(dir, any_cookie_resumes_behind_its_entry)
{
	static char names[4096];
	uint64_t handle = open_dir(FAKE_DIR);
	uint64_t last = 0;

	for (uint64_t cookie = 101; cookie >= 2; cookie--) {
		char wanted[16];
		(void)snprintf(wanted, sizeof(wanted), "e%04u\n",
				(unsigned)cookie - 2);
		(void)read_dir(FAKE_DIR, handle, cookie, 4096, names, &last);
		cr_expect_eq(strncmp(names, wanted, 6), 0, "cookie %u",
				(unsigned)cookie);
	}
	release_dir(FAKE_DIR, handle);
}

Test(dir, a_cookie_beyond_the_end_is_the_end)
{
	static char names[4096];
	uint64_t handle = open_dir(FAKE_DIR);
	uint64_t last = 0;

	cr_expect_eq(read_dir(FAKE_DIR, handle, 102, 4096, names, &last), 0);
	cr_expect_eq(read_dir(FAKE_DIR, handle, (uint64_t)1 << 62, 4096, names,
				     &last),
			0);
	release_dir(FAKE_DIR, handle);
}

Test(dir, a_buffer_too_small_for_one_name_is_an_error_not_the_end)
{
	uint64_t handle = open_dir(FAKE_DIR);
	struct fuse_read_in in = {.fh = handle, .offset = 2, .size = 24};
	struct wire_reply reply;

	wire_ask(&wire, FUSE_READDIR, FAKE_DIR, &in, sizeof(in), &reply);
	cr_expect_eq(reply.error, -EINVAL);
	release_dir(FAKE_DIR, handle);
}

Test(dir, readdirplus_counts_one_lookup_for_each_entry_that_fits)
{
	uint64_t handle = open_dir(FAKE_DIR);
	struct fuse_read_in in = {.fh = handle, .size = 4096};
	struct wire_reply reply;
	size_t count = 0;

	wire_ask(&wire, FUSE_READDIRPLUS, FAKE_DIR, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
	for (size_t at = 0; at < reply.length; count++) {
		struct fuse_direntplus *entry =
				(struct fuse_direntplus *)(reply.data + at);
		bool dot = entry->dirent.name[0] == '.';
		cr_expect_eq(entry->entry_out.nodeid,
				dot ? 0 : FAKE_FIRST_ENTRY + count - 2);
		cr_expect_neq(entry->dirent.ino, 0);
		cr_expect_eq(entry->dirent.off, count + 1);
		at += FUSE_DIRENTPLUS_SIZE(entry);
	}
	cr_assert_gt(count, 4);
	cr_assert_lt(count, 102);
	for (size_t i = 0; i < 100; i++) {
		cr_expect_eq(fakes.lookups[FAKE_FIRST_ENTRY + i],
				i < count - 2 ? 1 : 0, "entry %zu", i);
	}
	cr_expect_eq(fakes.lookups[FAKE_DIR], 0);
	cr_expect_eq(fakes.lookups[1], 0);
	release_dir(FAKE_DIR, handle);
}

/* The kernel does not take the answer of a reader that was killed. */
Test(dir, readdirplus_that_is_not_taken_forgets_what_it_counted)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const uint64_t handle = open_dir(FAKE_DIR);
	const struct fuse_read_in in = {.fh = handle, .size = 4096};
	bool clean = false;

	(void)signal(SIGPIPE, SIG_IGN);
	fakes.newer = 500;
	cr_assert_eq(shutdown(wire.fd, SHUT_RD), 0);
	(void)wire_send(&wire, FUSE_READDIRPLUS, FAKE_DIR, &in, sizeof(in));
	for (int i = 0; i < 5000 && !clean; i++) {
		(void)nanosleep(&pause, NULL);
		clean = fakes.lookup_calls > 4;
		for (size_t inode = 0; inode < FAKE_FIRST_ENTRY + 1000;
				inode++) {
			clean = clean && fakes.lookups[inode] == 0;
		}
	}
	cr_expect(clean);
}

Test(dir, a_failed_listing_is_an_error_of_opendir)
{
	struct fuse_open_in in = {0};
	struct wire_reply reply;

	fakes.error = -EACCES;
	wire_ask(&wire, FUSE_OPENDIR, FAKE_DIR, &in, sizeof(in), &reply);
	cr_expect_eq(reply.error, -EACCES);
}

Test(dir, an_opendir_that_waits_is_answered_by_the_completion)
{
	struct fuse_open_in in = {0};
	struct fuse_open_out out;
	struct wire_reply reply;

	fakes.hold = true;
	uint64_t unique = wire_send(
			&wire, FUSE_OPENDIR, FAKE_DIR, &in, sizeof(in));
	cr_assert(fakes_wait_held(1));
	fakes_release(0);
	cr_assert(wire_receive(&wire, &reply, 5000));
	cr_expect_eq(reply.unique, unique);
	cr_assert_eq(reply.error, 0);
	memcpy(&out, reply.data, sizeof(out));
	release_dir(FAKE_DIR, out.fh);
}

Test(dir, the_control_directory_lists_its_files_and_is_not_listed)
{
	static char names[4096];
	struct fuse_entry_out entry;
	struct wire_reply reply;
	uint64_t last = 0;

	wire_lookup(&wire, 1, ".shardfs", &reply);
	cr_assert_eq(reply.error, 0);
	memcpy(&entry, reply.data, sizeof(entry));
	uint64_t handle = open_dir(entry.nodeid);
	(void)read_dir(entry.nodeid, handle, 0, 4096, names, &last);
	cr_expect_str_eq(names, ".\n..\nstats\nmetrics\n");
	release_dir(entry.nodeid, handle);

	handle = open_dir(1);
	(void)read_dir(1, handle, 0, 32768, names, &last);
	cr_expect_null(strstr(names, "shardfs"));
	release_dir(1, handle);
}

Test(dir, a_handle_that_the_kernel_does_not_release_is_closed_at_the_end)
{
	(void)open_dir(FAKE_DIR);
	cr_expect_eq(fakes.open_dirs, 1);
}
