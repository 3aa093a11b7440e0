#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

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

TestSuite(control, .init = begin, .fini = end);

static uint64_t inode_of(uint64_t parent, const char *name)
{
	struct fuse_entry_out entry;
	struct wire_reply reply;

	wire_lookup(&wire, parent, name, &reply);
	if (reply.error != 0) {
		return 0;
	}
	memcpy(&entry, reply.data, sizeof(entry));
	return entry.nodeid;
}

Test(control, files_are_found_by_name_and_ask_the_tree_nothing)
{
	uint64_t dir = inode_of(1, ".shardfs");

	cr_assert_neq(dir, 0);
	cr_expect_lt(dir, TREE_FIRST_INODE);
	cr_expect_neq(inode_of(dir, "stats"), 0);
	cr_expect_neq(inode_of(dir, "metrics"), 0);
	cr_expect_neq(inode_of(dir, "metrics"), inode_of(dir, "stats"));
	cr_expect_eq(inode_of(dir, "other"), 0);
	cr_expect_eq(fakes.lookup_calls, 0);
	/* Only in the root. */
	cr_expect_eq(inode_of(FAKE_DIR, ".shardfs"), 0);
}

Test(control, a_file_is_read_directly_and_is_a_snapshot)
{
	uint64_t inode = inode_of(inode_of(1, ".shardfs"), "stats");
	struct fuse_open_in in = {0};
	struct fuse_open_out out;
	static struct wire_reply reply;
	const char *text = "{\"text\": \"of the test\"}\n";

	wire_ask(&wire, FUSE_OPEN, inode, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
	memcpy(&out, reply.data, sizeof(out));
	cr_expect_eq(out.open_flags & FOPEN_DIRECT_IO, FOPEN_DIRECT_IO);
	wire_read(&wire, inode, out.fh, 0, 4096, &reply);
	cr_assert_eq(reply.length, strlen(text));
	cr_expect_eq(memcmp(reply.data, text, reply.length), 0);
	wire_read(&wire, inode, out.fh, 2, 4, &reply);
	cr_assert_eq(reply.length, 4);
	cr_expect_eq(memcmp(reply.data, "text", 4), 0);
	wire_read(&wire, inode, out.fh, reply.length + 100, 4096, &reply);
	cr_expect_eq(reply.error, 0);
	cr_expect_eq(reply.length, 0);
	wire_release(&wire, inode, out.fh);
}

Test(control, its_size_is_0_and_it_cannot_be_written)
{
	uint64_t inode = inode_of(inode_of(1, ".shardfs"), "metrics");
	struct fuse_getattr_in in = {0};
	struct fuse_open_in open_in = {.flags = 1};
	struct fuse_attr_out out;
	struct wire_reply reply;

	wire_ask(&wire, FUSE_GETATTR, inode, &in, sizeof(in), &reply);
	cr_assert_eq(reply.error, 0);
	memcpy(&out, reply.data, sizeof(out));
	cr_expect_eq(out.attr.size, 0);
	wire_ask(&wire, FUSE_OPEN, inode, &open_in, sizeof(open_in), &reply);
	cr_expect_eq(reply.error, -EROFS);
}

static void get_xattr(uint64_t inode, const char *name, uint32_t size,
		struct wire_reply *out)
{
	struct fuse_getxattr_in in = {.size = size};
	char data[128];

	memcpy(data, &in, sizeof(in));
	memcpy(data + sizeof(in), name, strlen(name) + 1);
	wire_ask(&wire, FUSE_GETXATTR, inode, data,
			sizeof(in) + strlen(name) + 1, out);
}

Test(control, attributes_of_a_file_answer_by_name)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
			{"user.shardfs.url", "s3://bucket/prefix/big"},
			{"user.shardfs.etag", "\"v1\""},
			{"user.shardfs.cached_bytes", "0"},
	};

	for (size_t i = 0; i < 3; i++) {
		struct wire_reply reply;
		struct fuse_getxattr_out size;
		get_xattr(FAKE_BIG, rows[i].name, 0, &reply);
		cr_assert_eq(reply.error, 0);
		memcpy(&size, reply.data, sizeof(size));
		cr_expect_eq(size.size, strlen(rows[i].value));
		get_xattr(FAKE_BIG, rows[i].name, 100, &reply);
		cr_assert_eq(reply.length, strlen(rows[i].value));
		cr_expect_eq(memcmp(reply.data, rows[i].value, reply.length),
				0);
		if (reply.length > 1) {
			get_xattr(FAKE_BIG, rows[i].name, 1, &reply);
			cr_expect_eq(reply.error, -ERANGE);
		}
	}
	cr_expect_eq(fakes.opens, fakes.closes);
}

Test(control, cached_bytes_of_an_open_file_are_its_streams)
{
	uint64_t handle = wire_open(&wire, FAKE_BIG);
	struct wire_reply reply;

	get_xattr(FAKE_BIG, "user.shardfs.cached_bytes", 100, &reply);
	cr_assert_eq(reply.length, 5);
	cr_expect_eq(memcmp(reply.data, "65536", 5), 0);
	wire_release(&wire, FAKE_BIG, handle);
	cr_expect_eq(fakes.open_streams, 0);
}

Test(control, other_attributes_are_absent_and_none_is_listed)
{
	static const char *const names[] = {"security.capability",
			"system.posix_acl_access", "user.shardfs.",
			"user.shardfs.urlx", "user.x"};
	struct fuse_getxattr_in in = {.size = 100};
	struct wire_reply reply;

	for (size_t i = 0; i < 5; i++) {
		get_xattr(FAKE_BIG, names[i], 0, &reply);
		cr_expect_eq(reply.error, -ENODATA, "%s", names[i]);
	}
	get_xattr(FAKE_DIR, "user.shardfs.url", 0, &reply);
	cr_expect_eq(reply.error, -ENODATA);
	wire_ask(&wire, FUSE_LISTXATTR, FAKE_BIG, &in, sizeof(in), &reply);
	cr_expect_eq(reply.error, 0);
	cr_expect_eq(reply.length, 0);
}
