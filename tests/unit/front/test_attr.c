#include <criterion/criterion.h>
#include <fuse_lowlevel.h>

#include "base/size.h"
#include "front/attr_private.h"
#include "tree/tree.h"

static const struct attr_style style = {
		.uid = 7, .gid = 8, .file_mode = 0444, .dir_mode = 0555};

Test(attr, a_file_has_the_blocks_of_its_whole_size)
{
	static const struct {
		uint64_t size;
		int64_t blocks;
	} rows[] = {
			{0, 0},
			{1, 1},
			{511, 1},
			{512, 1},
			{513, 2},
			{(uint64_t)1 << 40, (int64_t)1 << 31},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tree_attr attr = {.inode = 99, .size = rows[i].size};
		struct stat status;
		attr_fill(&style, &attr, &status);
		cr_expect_eq(status.st_size, (off_t)rows[i].size);
		cr_expect_eq(status.st_blocks, rows[i].blocks);
	}
}

Test(attr, a_file_shows_the_mounts_owner_and_mode_and_whole_seconds)
{
	struct tree_attr attr = {.inode = 99, .size = 5, .mtime = 1234567890};
	struct stat status;

	attr_fill(&style, &attr, &status);
	cr_expect_eq(status.st_ino, 99);
	cr_expect_eq(status.st_mode, S_IFREG | 0444);
	cr_expect_eq(status.st_nlink, 1);
	cr_expect_eq(status.st_uid, 7);
	cr_expect_eq(status.st_gid, 8);
	cr_expect_geq(status.st_blksize, 4096);
	cr_expect_eq(status.st_mtim.tv_sec, 1234567890);
	cr_expect_eq(status.st_ctim.tv_sec, 1234567890);
	cr_expect_eq(status.st_atim.tv_sec, 1234567890);
	cr_expect_eq(status.st_mtim.tv_nsec, 0);
}

Test(attr, a_directory_does_not_say_that_it_has_no_subdirectories)
{
	struct tree_attr attr = {.inode = 1, .is_dir = true, .size = 77};
	struct stat status;

	attr_fill(&style, &attr, &status);
	cr_expect_eq(status.st_mode, S_IFDIR | 0555);
	cr_expect_neq(status.st_nlink, 2);
	cr_expect_eq(status.st_size, 0);
}

Test(attr, timeouts_are_seconds_and_forever_is_long)
{
	cr_expect_eq(attr_timeout(0), 0);
	cr_expect_eq(attr_timeout(1500), 1.5);
	cr_expect_geq(attr_timeout(DURATION_FOREVER), 1e8);
	/* Still a number of seconds that fits the protocol. */
	cr_expect_leq(attr_timeout(DURATION_FOREVER), 1e12);
	cr_expect_eq(attr_timeout(DURATION_FOREVER - 1),
			attr_timeout(DURATION_FOREVER));
}

Test(attr, an_entry_has_both_timeouts_and_a_generation)
{
	struct tree_attr attr = {.inode = 42, .valid_ms = 60000};
	struct fuse_entry_param entry;

	attr_fill_entry(&style, &attr, &entry);
	cr_expect_eq(entry.ino, 42);
	cr_expect_eq(entry.attr.st_ino, 42);
	cr_expect_neq(entry.generation, 0);
	cr_expect_eq(entry.entry_timeout, 60);
	cr_expect_eq(entry.attr_timeout, 60);
}
