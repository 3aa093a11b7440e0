#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "disk_rig.h"

static struct disk_rig rig;

static void set_up(void)
{
	disk_rig_init(&rig);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
}

static void tear_down(void)
{
	disk_rig_finish(&rig);
}

TestSuite(disk_tier, .init = set_up, .fini = tear_down);

static struct disk_object *filled(const char *key, uint64_t size)
{
	struct disk_object *object = disk_rig_object(&rig, key, size);
	cr_assert_not_null(object);
	size_t blocks = (size_t)((size + BLOCK_SIZE - 1) / BLOCK_SIZE);
	cr_assert_eq(disk_rig_write(object, key, size, 0, blocks), 0);
	return object;
}

Test(disk_tier, blocks_come_back_as_they_were_written)
{
	static const uint64_t sizes[] = {1, 511, 4095, 4096, 4097,
			BLOCK_SIZE - 1, BLOCK_SIZE, BLOCK_SIZE + 1,
			4 * RIG_MIB - 1, 4 * RIG_MIB, 4 * RIG_MIB + 1,
			5 * RIG_MIB + 12345};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%zu", i);
		struct disk_object *object = filled(key, sizes[i]);
		size_t blocks = (size_t)((sizes[i] + BLOCK_SIZE - 1) /
					 BLOCK_SIZE);
		cr_expect_eq(disk_object_bytes(object), sizes[i]);
		cr_expect_eq(disk_rig_read(object, key, sizes[i], 0, blocks), 0,
				"size %zu", (size_t)sizes[i]);
		disk_object_close(object);
	}
	cr_expect_eq(counters_get(&rig.counters.cache_damaged), 0);
}

Test(disk_tier, only_written_blocks_are_here)
{
	struct disk_object *object = disk_rig_object(&rig, "a", 9 * RIG_MIB);
	cr_expect_not(disk_object_has(object, 0));
	cr_assert_eq(disk_rig_write(object, "a", 9 * RIG_MIB, 60, 10), 0);
	for (uint64_t i = 0; i < 144; i++) {
		cr_expect_eq(disk_object_has(object, i), i >= 60 && i < 70);
	}
	cr_expect_not(disk_object_has(object, UINT64_MAX));
	cr_expect_eq(disk_rig_read(object, "a", 9 * RIG_MIB, 60, 10), 0);
	cr_expect_eq(disk_rig_read(object, "a", 9 * RIG_MIB, 59, 2), -EIO);
	disk_object_close(object);
}

Test(disk_tier, blocks_are_here_after_the_next_open)
{
	disk_object_close(filled("a", 9 * RIG_MIB + 5));
	disk_rig_close(&rig);
	rig.settings.limit_bytes = 0;
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	struct disk_object *object =
			disk_rig_object(&rig, "a", 9 * RIG_MIB + 5);
	cr_expect_eq(disk_rig_check(object, "a", 9 * RIG_MIB + 5), 145);
	disk_object_close(object);
	struct disk_usage usage;
	disk_tier_usage(rig.tier, &usage);
	cr_expect_eq(usage.limit_bytes, RIG_LIMIT, "the directory keeps it");
}

Test(disk_tier, other_versions_and_sources_are_other_objects)
{
	disk_object_close(filled("a", RIG_MIB));
	struct disk_object *others[] = {
			disk_rig_version(&rig, "mem://bucket", "a", "\"2\"",
					RIG_MIB),
			disk_rig_version(&rig, "mem://other", "a", "\"1\"",
					RIG_MIB),
			disk_rig_version(&rig, "mem://bucket", "a", "\"1\"",
					RIG_MIB - 1),
			disk_rig_version(&rig, "mem://bucket", "b", "\"1\"",
					RIG_MIB),
	};
	for (size_t i = 0; i < 4; i++) {
		cr_expect_eq(disk_object_bytes(others[i]), 0, "%zu", i);
		disk_object_close(others[i]);
	}
}

Test(disk_tier, an_object_opened_twice_is_one)
{
	struct disk_object *first = filled("a", RIG_MIB);
	struct disk_object *second = disk_rig_object(&rig, "a", RIG_MIB);
	cr_expect_eq(first, second);
	disk_object_close(first);
	cr_expect_eq(disk_tier_flush(rig.tier), 0);
	cr_expect_eq(disk_rig_read(second, "a", RIG_MIB, 0, 16), 0);
	disk_object_close(second);
}

Test(disk_tier, the_limit_holds_and_the_least_recently_used_goes)
{
	struct disk_object *kept = filled("kept", 4 * RIG_MIB);
	for (int i = 0; i < 30; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		disk_object_close(filled(key, 4 * RIG_MIB));
		disk_object_touch(kept, 0, 64);
		cr_assert_eq(disk_tier_flush(rig.tier), 0);
		cr_expect_leq(disk_rig_du(rig.dir), RIG_LIMIT);
	}
	cr_expect_eq(disk_rig_read(kept, "kept", 4 * RIG_MIB, 0, 64), 0);
	disk_object_close(kept);
	struct disk_object *oldest = disk_rig_object(&rig, "k0", 4 * RIG_MIB);
	struct disk_object *newest = disk_rig_object(&rig, "k29", 4 * RIG_MIB);
	cr_expect_eq(disk_object_bytes(oldest), 0);
	cr_expect_eq(disk_object_bytes(newest), 4 * RIG_MIB);
	disk_object_close(oldest);
	disk_object_close(newest);
	cr_expect_gt(counters_get(&rig.counters.cache_evictions), 20);
	cr_expect_geq(disk_rig_file_count(&rig), 6);
	cr_expect_leq(disk_rig_file_count(&rig), 8);
}

Test(disk_tier, chunks_of_an_open_object_go_but_not_its_file)
{
	uint64_t size = 60 * RIG_MIB;
	struct disk_object *object = disk_rig_object(&rig, "big", size);
	for (uint64_t at = 0; at < 960; at += 16) {
		cr_assert_eq(disk_rig_write(object, "big", size, at, 16), 0);
		disk_object_touch(object, at, 16);
	}
	cr_expect_eq(disk_rig_file_count(&rig), 1);
	cr_expect_not(disk_object_has(object, 0));
	cr_expect(disk_object_has(object, 959));
	cr_expect_geq(disk_rig_check(object, "big", size), 6 * 64);
	cr_expect_leq(disk_rig_du(rig.dir), RIG_LIMIT);
	cr_expect_eq(counters_get(&rig.counters.cache_damaged), 0);
	disk_object_close(object);
}

Test(disk_tier, small_objects_count_as_the_disk_counts_them)
{
	disk_rig_close(&rig);
	rig.settings.limit_bytes = 16 * RIG_MIB;
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	for (int i = 0; i < 6000; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		disk_object_close(filled(key, 100));
	}
	cr_expect_leq(disk_rig_du(rig.dir), 16 * RIG_MIB);
	cr_expect_geq(disk_rig_file_count(&rig), 1500);
	struct disk_object *last = disk_rig_object(&rig, "k5999", 100);
	cr_expect_eq(disk_rig_check(last, "k5999", 100), 1);
	disk_object_close(last);
}

Test(disk_tier, a_sparse_object_counts_what_it_has)
{
	struct disk_object *object = disk_rig_object(&rig, "s", 1024 * RIG_MIB);
	for (uint64_t i = 0; i < 10; i++) {
		cr_assert_eq(disk_rig_write(object, "s", 1024 * RIG_MIB,
					     i * 1000, 1),
				0);
	}
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	cr_expect_eq(disk_rig_sql_number(
				     &rig, "SELECT block_bytes FROM directory"),
			10 * (int64_t)BLOCK_SIZE);
	disk_object_close(object);
}

Test(disk_tier, a_lowered_limit_is_enforced_before_the_open_returns)
{
	for (int i = 0; i < 7; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		struct disk_object *object = filled(key, 4 * RIG_MIB);
		disk_object_touch(object, 0, 64);
		disk_object_close(object);
	}
	disk_rig_close(&rig);
	cr_expect_gt(disk_rig_du(rig.dir), 24 * RIG_MIB);
	rig.settings.limit_bytes = 16 * RIG_MIB;
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_expect_leq(disk_rig_du(rig.dir), 16 * RIG_MIB);
	struct disk_usage usage;
	disk_tier_usage(rig.tier, &usage);
	cr_expect_eq(usage.limit_bytes, 16 * RIG_MIB);
	cr_expect_leq(usage.used_bytes, usage.limit_bytes);
}

Test(disk_tier, a_limit_below_16M_is_refused)
{
	struct disk_rig other;
	disk_rig_init(&other);
	other.settings.limit_bytes = 16 * RIG_MIB - 1;
	cr_expect_eq(disk_rig_open(&other), -EINVAL);
	cr_expect_neq(strstr(other.message, "16M"), NULL);
	other.tier = NULL;
	disk_rig_finish(&other);
}

static int mode_of(const char *name)
{
	char path[256];
	(void)snprintf(path, sizeof(path), "%s/%s", rig.dir, name);
	struct stat status;
	cr_assert_eq(stat(path, &status), 0, "%s", name);
	return (int)(status.st_mode & 07777);
}

Test(disk_tier, others_cannot_read_whatever_the_umask)
{
	disk_rig_finish(&rig);
	disk_rig_init(&rig);
	(void)chmod(rig.dir, 0777);
	mode_t mask = umask(0);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	disk_object_close(filled("a", RIG_MIB));
	(void)umask(mask);
	cr_expect_eq(mode_of("."), 0700);
	cr_expect_eq(mode_of("v1"), 0700);
	cr_expect_eq(mode_of("v1/objects"), 0700);
	cr_expect_eq(mode_of("lock"), 0600);
	cr_expect_eq(mode_of("v1/index.sqlite"), 0600);
	cr_expect_eq(mode_of("v1/index.sqlite-wal"), 0600);
	cr_expect_eq(mode_of("v1/index.sqlite-shm"), 0600);
	char path[256];
	cr_assert(disk_rig_data_file(&rig, path, sizeof(path)));
	cr_expect_eq(mode_of(path + strlen(rig.dir) + 1), 0600);
}

static size_t descriptor_count(void)
{
	DIR *entries = opendir("/proc/self/fd");
	size_t count = 0;
	while (readdir(entries) != NULL) {
		count++;
	}
	(void)closedir(entries);
	return count;
}

Test(disk_tier, a_process_with_few_descriptors_keeps_most_for_the_store)
{
	struct rlimit few = {64, 64};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	disk_rig_close(&rig);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	size_t before = descriptor_count();
	struct disk_object *objects[40];
	for (unsigned i = 0; i < 40; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%u", i);
		objects[i] = filled(key, 100000);
	}
	cr_expect_leq(descriptor_count(), before + 16);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	for (unsigned i = 0; i < 40; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%u", i);
		cr_expect_eq(disk_rig_check(objects[i], key, 100000), 2);
		disk_object_close(objects[i]);
	}
	cr_expect_leq(descriptor_count(), before + 16);
}

Test(disk_tier, many_objects_share_few_descriptors)
{
	disk_rig_close(&rig);
	rig.settings.max_open_files = 4;
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	struct disk_object *objects[40];
	char keys[40][8];
	for (int i = 0; i < 40; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "k%d", i);
		objects[i] = filled(keys[i], 2 * BLOCK_SIZE);
	}
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 40; i++) {
			cr_expect_eq(disk_rig_read(objects[i], keys[i],
						     2 * BLOCK_SIZE, 0, 2),
					0);
		}
	}
	for (int i = 0; i < 40; i++) {
		disk_object_close(objects[i]);
	}
}

Test(disk_tier, an_object_that_may_not_be_stored_is_not)
{
	struct disk_object *object =
			disk_rig_object(&rig, "huge", UINT64_C(1) << 62);
	cr_assert_not_null(object);
	cr_expect_eq(disk_rig_write(object, "huge", UINT64_C(1) << 62, 0, 1),
			-ENOTSUP);
	cr_expect_not(disk_object_has(object, 0));
	disk_object_close(object);
	object = disk_rig_object(&rig, "empty", 0);
	cr_assert_not_null(object);
	cr_expect_eq(disk_rig_write(object, "empty", 0, 0, 1), -EINVAL);
	cr_expect_eq(disk_object_bytes(object), 0);
	disk_object_close(object);
	cr_expect_eq(disk_rig_file_count(&rig), 0);
}

Test(disk_tier, an_object_without_blocks_leaves_nothing)
{
	struct disk_object *object = filled("a", RIG_MIB);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	cr_assert_eq(disk_rig_sql(&rig, "UPDATE chunk SET sums = x'00'"), 0);
	cr_expect_eq(disk_rig_check(object, "a", RIG_MIB), 0);
	disk_object_close(object);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(disk_tier_flush(rig.tier), 0);
	}
	cr_expect_eq(counters_get(&rig.counters.cache_damaged), 16);
	cr_expect_eq(disk_rig_sql_number(&rig,
				     "SELECT count(*) FROM chunk WHERE"
				     " present != 0"),
			0);
}

Test(disk_tier, listings_are_kept)
{
	void *blob = NULL;
	size_t length = 0;
	uint64_t taken = 0;
	cr_expect_eq(disk_listing_get(rig.tier, "s", "p/", &blob, &length,
				     &taken),
			-ENOENT);
	cr_assert_eq(disk_listing_put(rig.tier, "s", "p/", "abc", 3, 77), 0);
	cr_assert_eq(disk_listing_put(rig.tier, "s", "", "", 0, 78), 0);
	disk_rig_close(&rig);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	cr_assert_eq(disk_listing_get(rig.tier, "s", "p/", &blob, &length,
				     &taken),
			0);
	cr_expect_eq(length, 3);
	cr_expect_arr_eq(blob, "abc", 3);
	cr_expect_eq(taken, 77);
	free(blob);
	cr_assert_eq(disk_listing_get(
				     rig.tier, "s", "", &blob, &length, &taken),
			0);
	cr_expect_eq(length, 0);
	free(blob);
	cr_expect_eq(disk_listing_get(rig.tier, "t", "p/", &blob, &length,
				     &taken),
			-ENOENT);
	cr_assert_eq(disk_listing_remove(rig.tier, "s", "p/"), 0);
	cr_assert_eq(disk_tier_flush(rig.tier), 0);
	cr_expect_eq(disk_listing_get(rig.tier, "s", "p/", &blob, &length,
				     &taken),
			-ENOENT);
}
