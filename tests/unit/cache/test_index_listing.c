#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/index_private.h"
#include "cache/index_sql_private.h"

static char path[64];
static struct index *ix;

static void set_up(void)
{
	strcpy(path, "/dev/shm/shardfs-index-XXXXXX");
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	(void)close(fd);
	cr_assert_eq(index_create(path, 1 << 24), 0);
	cr_assert_eq(index_open(path, INDEX_WRITER, 0, &ix), 0);
}

static void tear_down(void)
{
	index_close(ix);
	(void)unlink(path);
}

TestSuite(index_listing, .init = set_up, .fini = tear_down);

Test(index_listing, listings_stay_within_their_share)
{
	char blob[100];
	memset(blob, 'x', sizeof(blob));
	cr_assert_eq(index_begin(ix), 0);
	for (char i = 0; i < 20; i++) {
		char prefix[2] = {(char)('a' + i), '\0'};
		cr_assert_eq(index_put_listing(ix, "s", prefix, blob,
					     sizeof(blob), (uint64_t)i, 1000),
				0);
	}
	cr_assert_eq(index_put_listing(ix, "s", "t", blob, sizeof(blob), 50,
				     sizeof(blob) - 1),
			0);
	cr_assert_eq(index_commit(ix), 0);
	void *found = NULL;
	size_t length;
	uint64_t taken;
	cr_expect_eq(index_get_listing(ix, "s", "a", &found, &length, &taken),
			-ENOENT, "the oldest went");
	cr_expect_eq(index_get_listing(ix, "s", "t", &found, &length, &taken),
			-ENOENT, "too large a one, and the old one with it");
	cr_expect_eq(index_get_listing(ix, "s", "s", &found, &length, &taken),
			0);
	cr_expect_eq(length, sizeof(blob));
	free(found);
}

Test(index_listing, listings_are_counted_now_and_then_only)
{
	enum { COUNT = 400 };
	sqlite3_stmt *sum = ix->statements[INDEX_SQL_LISTING_BYTES];
	char blob[10] = "listing";
	cr_assert_eq(index_begin(ix), 0);
	for (unsigned i = 0; i < COUNT; i++) {
		char prefix[16];
		(void)snprintf(prefix, sizeof(prefix), "%u", i);
		cr_assert_eq(index_put_listing(ix, "s", prefix, blob,
					     sizeof(blob), i, 1000),
				0);
	}
	cr_assert_eq(index_commit(ix), 0);
	cr_expect_leq(sqlite3_stmt_status(sum, SQLITE_STMTSTATUS_RUN, 0),
			COUNT / 10);
	unsigned kept = 0;
	for (unsigned i = 0; i < COUNT; i++) {
		char prefix[16];
		void *found = NULL;
		size_t length;
		uint64_t taken;
		(void)snprintf(prefix, sizeof(prefix), "%u", i);
		int error = index_get_listing(
				ix, "s", prefix, &found, &length, &taken);
		cr_expect(error == 0 || kept == 0, "the newest are kept");
		kept += error == 0;
		free(found);
	}
	cr_expect_leq(kept, 100);
	cr_expect_geq(kept, 80);
}
