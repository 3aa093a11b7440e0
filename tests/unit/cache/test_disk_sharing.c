#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "disk_rig.h"

/*
 * What users of one directory do to each other. Two tiers of one process are
 * as good as two processes: their locks and connections are their own.
 */

#define LIMIT (16 * RIG_MIB)
#define HALF (8 * RIG_MIB)
#define HALF_BLOCKS 128

static struct disk_rig rig;

static void set_up(void)
{
	disk_rig_init(&rig);
	rig.settings.limit_bytes = LIMIT;
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
}

static void tear_down(void)
{
	disk_rig_finish(&rig);
}

TestSuite(disk_sharing, .init = set_up, .fini = tear_down);

static struct disk_object *begun(
		struct disk_rig *user, const char *key, uint64_t size)
{
	struct disk_object *object = disk_rig_object(user, key, size);
	cr_assert_not_null(object);
	cr_assert_eq(disk_rig_write(object, key, size, 0, 1), 0);
	cr_assert_eq(disk_tier_flush(user->tier), 0);
	return object;
}

struct half {
	struct disk_object *object;
	const char *key;
	pthread_t thread;
};

static void *write_half(void *context)
{
	struct half *half = context;
	/* One of the two finds no space. */
	(void)disk_rig_write(half->object, half->key, HALF, 0, HALF_BLOCKS);
	return NULL;
}

static sqlite3 *lock_index(void)
{
	char path[256];
	sqlite3 *database = NULL;
	(void)snprintf(path, sizeof(path), "%s/v1/index.sqlite", rig.dir);
	cr_assert_eq(sqlite3_open(path, &database), SQLITE_OK);
	(void)sqlite3_busy_timeout(database, 2000);
	cr_assert_eq(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL,
				     NULL),
			SQLITE_OK);
	return database;
}

Test(disk_sharing, two_that_want_the_last_space_at_once_do_not_both_get_it)
{
	struct disk_rig other = rig;
	other.tier = NULL;
	cr_assert_eq(disk_rig_open(&other), 0, "%s", other.message);
	struct half halves[] = {{.key = "a"}, {.key = "b"}};
	halves[0].object = begun(&rig, "a", HALF);
	halves[1].object = begun(&other, "b", HALF);
	/* Both come to the index before either can take anything. */
	sqlite3 *database = lock_index();
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(pthread_create(&halves[i].thread, NULL, write_half,
					     &halves[i]),
				0);
	}
	(void)usleep(300000);
	cr_assert_eq(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL),
			SQLITE_OK);
	(void)sqlite3_close(database);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(pthread_join(halves[i].thread, NULL), 0);
	}
	int64_t taken = disk_rig_sql_number(&rig,
			"SELECT block_bytes + (SELECT sum(granted) FROM holder)"
			" FROM directory");
	cr_expect_leq(taken, (int64_t)LIMIT, "%lld", (long long)taken);
	cr_expect_geq(taken, (int64_t)HALF);
	disk_object_close(halves[0].object);
	disk_object_close(halves[1].object);
	disk_rig_close(&other);
}

Test(disk_sharing, settling_the_dead_spares_what_the_living_just_wrote)
{
	struct disk_object *object = begun(&rig, "a", 4 * RIG_MIB);
	struct disk_object *more = begun(&rig, "b", HALF);
	struct disk_object *old = disk_rig_object(&rig, "c", 4 * RIG_MIB);
	cr_assert_eq(disk_rig_write(old, "c", 4 * RIG_MIB, 0, 64), 0);
	disk_object_close(old);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	/* Another process wrote to the same object, and was killed. */
	cr_assert_eq(disk_rig_sql(&rig, "INSERT INTO holder VALUES"
					" ('0123456789abcdef', 4096);"
					"INSERT INTO writing SELECT"
					" '0123456789abcdef', name FROM object"
					" WHERE key = CAST('a' AS BLOB)"),
			SQLITE_OK);
	/* Rows of this wait while space has to be found for the next. */
	disk_object_touch(object, 0, 64); /* "c" is the one to go. */
	cr_assert_eq(disk_rig_write(object, "a", 4 * RIG_MIB, 0, 64), 0);
	cr_expect_eq(disk_rig_write(more, "b", HALF, 0, HALF_BLOCKS), 0);
	cr_expect_eq(disk_rig_sql_number(&rig, "SELECT count(*) FROM holder"),
			1, "the dead one was settled");
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	cr_expect_eq(disk_rig_check(object, "a", 4 * RIG_MIB), 64);
	cr_expect_eq(counters_get(&rig.counters.cache_damaged), 0);
	disk_object_close(object);
	disk_object_close(more);
}

Test(disk_sharing, names_of_evicted_files_are_not_kept)
{
	for (unsigned i = 0; i < 60; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%u", i);
		struct disk_object *object =
				disk_rig_object(&rig, key, RIG_MIB);
		cr_assert_eq(disk_rig_write(object, key, RIG_MIB, 0, 16), 0);
		disk_object_close(object);
		cr_assert_eq(disk_tier_flush(rig.tier), 0);
	}
	cr_expect_gt(counters_get(&rig.counters.cache_evictions), 30);
	cr_expect_eq(disk_rig_sql_number(&rig, "SELECT count(*) FROM writing"),
			0);
}
