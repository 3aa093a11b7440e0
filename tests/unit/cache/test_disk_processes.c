#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "disk_rig.h"

/* Several processes on one directory, and processes that are killed. */

#define LIMIT (16 * RIG_MIB)
#define KEYS 12

static struct disk_rig rig;

static void set_up(void)
{
	disk_rig_init(&rig);
	rig.settings.limit_bytes = LIMIT;
	/* The directory and its index. */
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	disk_rig_close(&rig);
}

static void tear_down(void)
{
	disk_rig_finish(&rig);
}

TestSuite(disk_processes, .init = set_up, .fini = tear_down);

static uint64_t size_of(unsigned key)
{
	return (uint64_t)(key % 5 + 1) * RIG_MIB + key * 1000;
}

/* One object, written and read at random places. 0 or an exit status. */
static int use_object(unsigned *seed)
{
	unsigned number = (unsigned)rand_r(seed) % KEYS;
	char key[16];
	(void)snprintf(key, sizeof(key), "k%u", number);
	uint64_t size = size_of(number);
	uint64_t blocks = (size + BLOCK_SIZE - 1) / BLOCK_SIZE;
	struct disk_object *object = disk_rig_object(&rig, key, size);
	if (object == NULL) {
		return 3;
	}
	int result = 0;
	for (int i = 0; i < 8 && result == 0; i++) {
		uint64_t first = (uint64_t)rand_r(seed) % blocks;
		size_t count = 1 + (size_t)rand_r(seed) % 20;
		if (count > blocks - first) {
			count = (size_t)(blocks - first);
		}
		disk_object_touch(object, first, count);
		int error = disk_rig_read(object, key, size, first, count);
		if (error == -EBADMSG) {
			result = 4;
		} else if (error != 0) {
			(void)disk_rig_write(object, key, size, first, count);
		}
	}
	disk_object_close(object);
	return result;
}

static void churn(unsigned seed, uint64_t duration_ms, int ready)
{
	if (disk_rig_open(&rig) != 0) {
		_exit(2);
	}
	(void)!write(ready, "r", 1);
	uint64_t end_ms = clock_monotonic_ms() + duration_ms;
	while (clock_monotonic_ms() < end_ms) {
		int result = use_object(&seed);
		if (result != 0) {
			_exit(result);
		}
	}
	disk_rig_close(&rig);
	_exit(0);
}

static pid_t start_churn(unsigned seed, uint64_t duration_ms, int *out_ready)
{
	int ends[2];
	cr_assert_eq(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		churn(seed, duration_ms, ends[1]);
	}
	(void)close(ends[1]);
	*out_ready = ends[0];
	return child;
}

static int exit_status(pid_t child)
{
	int status = 0;
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static uint64_t file_system_used(void)
{
	struct statvfs status;
	cr_assert_eq(statvfs(rig.dir, &status), 0);
	return (status.f_blocks - status.f_bfree) * status.f_frsize;
}

/* The most that was used at any time: exactly, on a file system of its own. */
static uint64_t watch(uint64_t duration_ms, bool is_mounted)
{
	uint64_t most = 0;
	uint64_t end_ms = clock_monotonic_ms() + duration_ms;
	while (clock_monotonic_ms() < end_ms) {
		if (is_mounted) {
			uint64_t now = file_system_used();
			most = now > most ? now : most;
		} else if (disk_rig_is_over(rig.dir, LIMIT)) {
			return UINT64_MAX;
		}
		(void)usleep(200);
	}
	return is_mounted ? most : disk_rig_du(rig.dir);
}

Test(disk_processes, share_a_limit_and_never_see_a_wrong_byte)
{
	char command[256];
	(void)snprintf(command, sizeof(command),
			"mount -t tmpfs -o size=64m tmpfs %s 2>&1", rig.dir);
	bool is_mounted = system(command) == 0;
	pid_t children[4];
	for (unsigned i = 0; i < 4; i++) {
		int ready; /* Stays open: nobody is killed by a closed pipe. */
		children[i] = start_churn(100 + i, 2500, &ready);
	}
	uint64_t most = watch(2500, is_mounted);
	for (unsigned i = 0; i < 4; i++) {
		cr_expect_eq(exit_status(children[i]), 0);
	}
	cr_expect_leq(most, LIMIT, "%zu", (size_t)most);
	cr_expect_gt(most, LIMIT / 2, "it was used: %zu", (size_t)most);
	cr_expect_eq(disk_rig_sql_number(&rig, "SELECT count(*) FROM holder"),
			0);
	if (is_mounted) {
		(void)snprintf(command, sizeof(command), "umount %s", rig.dir);
		cr_expect_eq(system(command), 0);
	}
}

static uint64_t data_bytes(void)
{
	char objects[160];
	(void)snprintf(objects, sizeof(objects), "%s/v1/objects", rig.dir);
	return disk_rig_du(objects);
}

/* In a process of its own: an open tier does not survive a fork. */
static void check_all(void)
{
	if (disk_rig_open(&rig) != 0) {
		_exit(2);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%u", i);
		struct disk_object *object =
				disk_rig_object(&rig, key, size_of(i));
		if (object == NULL) {
			_exit(3);
		}
		if (disk_rig_check(object, key, size_of(i)) < 0) {
			_exit(4);
		}
		disk_object_close(object);
	}
	if (counters_get(&rig.counters.cache_damaged) != 0) {
		_exit(5);
	}
	disk_rig_close(&rig);
	_exit(0);
}

Test(disk_processes, killed_at_any_time_leave_right_bytes_and_no_lost_space)
{
	unsigned seed = 7;
	for (unsigned round = 0; round < 25; round++) {
		int ready;
		pid_t child = start_churn(round, 60000, &ready);
		char byte;
		cr_assert_eq(read(ready, &byte, 1), 1);
		(void)close(ready);
		(void)usleep((unsigned)rand_r(&seed) % 60000);
		(void)kill(child, SIGKILL);
		cr_expect_eq(exit_status(child), -1);
		pid_t checker = fork();
		if (checker == 0) {
			check_all();
		}
		cr_expect_eq(exit_status(checker), 0, "round %u", round);
		cr_expect_leq(disk_rig_du(rig.dir), LIMIT);
		int64_t counted = disk_rig_sql_number(
				&rig, "SELECT block_bytes FROM directory");
		int64_t granted = disk_rig_sql_number(&rig,
				"SELECT coalesce(sum(granted), 0) FROM holder");
		cr_expect_eq(granted, 0);
		cr_expect_leq((int64_t)data_bytes(), counted);
	}
	cr_expect_gt(data_bytes(), RIG_MIB, "something was kept");
}

/* Holds one object open, says so, waits, then reads all of it again. */
static void hold_object(int ready, int go)
{
	uint64_t size = 4 * RIG_MIB;
	if (disk_rig_open(&rig) != 0) {
		_exit(2);
	}
	struct disk_object *object = disk_rig_object(&rig, "held", size);
	if (disk_rig_write(object, "held", size, 0, 64) != 0 ||
			disk_tier_flush(rig.tier) != 0) {
		_exit(3);
	}
	char byte = 0;
	(void)!write(ready, &byte, 1);
	(void)!read(go, &byte, 1);
	long right = disk_rig_check(object, "held", size);
	disk_object_close(object);
	disk_rig_close(&rig);
	_exit(right == 64 ? 0 : 4);
}

Test(disk_processes, a_file_that_another_process_holds_is_no_victim)
{
	int ready[2];
	int go[2];
	cr_assert_eq(pipe(ready), 0);
	cr_assert_eq(pipe(go), 0);
	pid_t child = fork();
	if (child == 0) {
		hold_object(ready[1], go[0]);
	}
	char byte;
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	for (unsigned i = 0; i < 40; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "n%u", i);
		struct disk_object *object =
				disk_rig_object(&rig, key, RIG_MIB);
		cr_expect_eq(disk_rig_write(object, key, RIG_MIB, 0, 16), 0);
		disk_object_close(object);
	}
	cr_assert_eq(write(go[1], &byte, 1), 1);
	cr_expect_eq(exit_status(child), 0);
	/* Nobody holds it now, and it is the oldest. */
	for (unsigned i = 0; i < 40; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "m%u", i);
		struct disk_object *object =
				disk_rig_object(&rig, key, RIG_MIB);
		cr_expect_eq(disk_rig_write(object, key, RIG_MIB, 0, 16), 0);
		disk_object_close(object);
	}
	struct disk_object *held = disk_rig_object(&rig, "held", 4 * RIG_MIB);
	cr_expect_eq(disk_object_bytes(held), 0);
	disk_object_close(held);
}

/* Writes, and is killed before a row is in the index. */
static void write_and_die(void)
{
	if (disk_rig_open(&rig) != 0) {
		_exit(2);
	}
	struct disk_object *object = disk_rig_object(&rig, "lost", 4 * RIG_MIB);
	if (disk_rig_write(object, "lost", 4 * RIG_MIB, 0, 64) != 0) {
		_exit(3);
	}
	(void)kill(getpid(), SIGKILL);
}

Test(disk_processes, space_of_the_dead_is_taken_back_while_mounts_go_on)
{
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	struct disk_object *object = disk_rig_object(&rig, "a", RIG_MIB);
	cr_assert_eq(disk_rig_write(object, "a", RIG_MIB, 0, 16), 0);
	pid_t child = fork();
	if (child == 0) {
		rig.tier = NULL;
		write_and_die();
	}
	cr_expect_eq(exit_status(child), -1);
	pid_t checker = fork();
	if (checker == 0) {
		rig.tier = NULL;
		check_all();
	}
	cr_expect_eq(exit_status(checker), 0);
	cr_expect_eq(disk_rig_sql_number(&rig, "SELECT count(*) FROM holder"),
			1, "ours");
	/* On a busy machine the row may have come before the kill. */
	int64_t kept = disk_rig_sql_number(&rig,
			"SELECT count(*) FROM chunk c JOIN object o"
			" ON o.id = c.slot >> 24 WHERE o.size = 4194304");
	cr_expect_lt(data_bytes(), (uint64_t)(2 + 4 * kept) * RIG_MIB);
	cr_expect_eq(disk_rig_check(object, "a", RIG_MIB), 16);
	disk_object_close(object);
}

Test(disk_processes, a_new_limit_holds_for_all)
{
	cr_assert_eq(disk_rig_open(&rig), 0, "%s", rig.message);
	struct disk_rig other = rig;
	other.settings.limit_bytes = 20 * RIG_MIB;
	cr_assert_eq(disk_rig_open(&other), 0, "%s", other.message);
	struct disk_usage usage;
	disk_tier_usage(rig.tier, &usage);
	cr_expect_eq(usage.limit_bytes, 20 * RIG_MIB);
	disk_rig_close(&other);
}
