/*
 * Fetch under faults: threads submit, promote and cancel ranges, ask stats and
 * listings, while the store fails at random. Each byte that comes must be the
 * object's, in order and once; each request must end once. Then a fetch is
 * stopped and destroyed in the middle of it, several times.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"
#include "fetch/fetch.h"
#include "store/object.h"
#include "store/testing.h"

#define THREADS 4
#define RANGES 64 /* At once, of one thread. */
#define OBJECTS 8
#define OBJECT_SIZE ((uint64_t)4 << 20)
#define PIECE ((uint64_t)16384)
#define SECONDS 5
#define ROUNDS 20

static struct store *store;
static struct object *objects[OBJECTS];
static struct counters counters;
static atomic_ulong bytes_given;
static atomic_ulong ends_good;
static atomic_ulong ends_bad;
static atomic_bool failed;

struct task {
	struct fetch_range range; /* First. */
	uint32_t seed;
	uint64_t next;
	atomic_bool busy;
};

struct worker {
	pthread_t thread;
	struct fetch *fetch;
	unsigned seed;
	uint64_t end_ms;
	struct task tasks[RANGES];
	atomic_int metadata; /* Stats and listings under way. */
};

static void complain(const char *what)
{
	fprintf(stderr, "stress_fetch: %s\n", what);
	atomic_store(&failed, true);
}

static void on_data(struct fetch_range *range, uint64_t offset,
		const void *data, size_t length)
{
	struct task *task = (struct task *)range;
	const uint8_t *bytes = data;
	if (offset != task->next) {
		complain("bytes out of order");
	}
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] != memory_store_byte(task->seed, offset + i)) {
			complain("a wrong byte");
			break;
		}
	}
	task->next = offset + length;
	atomic_fetch_add(&bytes_given, length);
}

static void on_done(struct fetch_range *range, int error)
{
	struct task *task = (struct task *)range;
	if (!atomic_load(&task->busy)) {
		complain("ended twice");
	}
	if (error == 0 && task->next != range->offset + range->length) {
		complain("ended without all its bytes");
	}
	atomic_fetch_add(error == 0 ? &ends_good : &ends_bad, 1);
	atomic_store(&task->busy, false);
}

static void stat_done(void *context, int error, struct object *object)
{
	struct worker *worker = context;
	if (error == 0 && object->size != OBJECT_SIZE) {
		complain("a wrong size");
	}
	atomic_fetch_sub(&worker->metadata, 1);
}

static int list_page(void *context, const struct store_page *page)
{
	return 0;
}

static void list_done(void *context, int error, bool more)
{
	struct worker *worker = context;
	if (error == 0 && more) {
		complain("a listing without its end");
	}
	atomic_fetch_sub(&worker->metadata, 1);
}

static unsigned draw(struct worker *worker, unsigned below)
{
	return (unsigned)rand_r(&worker->seed) % below;
}

static void set_task(struct worker *worker, struct task *task, unsigned object,
		uint64_t offset, uint64_t length)
{
	task->seed = object;
	task->next = offset;
	task->range.object = objects[object];
	task->range.offset = offset;
	task->range.length = length;
	task->range.demand = draw(worker, 3) > 0;
	task->range.on_data = on_data;
	task->range.on_done = on_done;
	atomic_store(&task->busy, true);
}

/* Up to eight neighbours in the tasks that are free. */
static void submit_some(struct worker *worker)
{
	struct fetch_range *ranges[8];
	size_t count = 0;
	const unsigned object = draw(worker, OBJECTS);
	uint64_t offset = draw(worker, 100) * PIECE + draw(worker, 1000);
	const uint64_t length = 1 + draw(worker, 6 * PIECE);
	for (size_t i = 0; i < RANGES && count < 8; i++) {
		if (!atomic_load(&worker->tasks[i].busy)) {
			set_task(worker, &worker->tasks[i], object, offset,
					length);
			ranges[count++] = &worker->tasks[i].range;
			offset += length;
		}
	}
	fetch_ranges_submit(worker->fetch, ranges, count);
}

static void ask_metadata(struct worker *worker)
{
	static const struct fetch_list_callbacks callbacks = {
			.on_page = list_page,
			.on_done = list_done,
	};
	const struct fetch_list_args args = {.store = store, .prefix = ""};
	char key[16];
	snprintf(key, sizeof(key), "%u", draw(worker, OBJECTS));
	atomic_fetch_add(&worker->metadata, 2);
	if (fetch_stat(worker->fetch, store, key, stat_done, worker) < 0 ||
			fetch_list(worker->fetch, &args, &callbacks, worker) <
					0) {
		complain("no memory");
	}
}

static uint64_t real_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = 200000};
	nanosleep(&time, NULL);
}

static bool worker_is_idle(struct worker *worker)
{
	for (size_t i = 0; i < RANGES; i++) {
		if (atomic_load(&worker->tasks[i].busy)) {
			return false;
		}
	}
	return atomic_load(&worker->metadata) == 0;
}

/* The range of a task is of this thread between submit and on_done only, so
 * promotions and cancels race with its end: fetch must stand that while the
 * struct lives, which it does here. */
static void *worker_main(void *context)
{
	struct worker *worker = context;
	while (real_ms() < worker->end_ms) {
		const unsigned choice = draw(worker, 20);
		struct task *task = &worker->tasks[draw(worker, RANGES)];
		if (choice < 12) {
			submit_some(worker);
		} else if (choice < 17 && atomic_load(&task->busy)) {
			fetch_range_promote(worker->fetch, &task->range);
		} else if (choice < 18 && atomic_load(&task->busy)) {
			fetch_range_cancel(worker->fetch, &task->range);
		} else if (atomic_load(&worker->metadata) < 8) {
			ask_metadata(worker);
		}
		nap();
	}
	return NULL;
}

static void fail_at_random(struct worker *worker)
{
	static const struct {
		int error;
		enum store_advice advice;
	} faults[] = {
			{-EIO, STORE_RETRY},
			{-EIO, STORE_RETRY_NOW},
			{-EIO, STORE_THROTTLED},
			{-EACCES, STORE_REPAIRED},
			{-EIO, STORE_UNREACHABLE},
			{-EACCES, STORE_FINAL},
	};
	const unsigned fault = draw(worker, 6);
	memory_store_fail(store, NULL, draw(worker, 40), 1 + draw(worker, 6),
			faults[fault].error, faults[fault].advice,
			draw(worker, 100000));
}

static struct fetch *create(void)
{
	const struct fetch_settings settings = {
			.counters = &counters,
			.part_size = 262144,
			.max_connections = 16,
			.timeout_ms = 60000,
			.retries = 10,
	};
	struct fetch *fetch = NULL;
	if (fetch_create(&settings, &fetch) < 0) {
		abort();
	}
	return fetch;
}

static void start_workers(
		struct worker *workers, struct fetch *fetch, uint64_t run_ms)
{
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].fetch = fetch;
		workers[i].seed = i + 1;
		workers[i].end_ms = real_ms() + run_ms;
		if (pthread_create(&workers[i].thread, NULL, worker_main,
				    &workers[i]) != 0) {
			abort();
		}
	}
}

static void join_workers(struct worker *workers)
{
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
	}
}

static void wait_idle(struct worker *workers)
{
	for (unsigned i = 0; i < THREADS; i++) {
		while (!worker_is_idle(&workers[i])) {
			clock_advance_ms(5);
			nap();
		}
	}
}

static void run_faults(struct worker *workers)
{
	struct fetch *fetch = create();
	const uint64_t end_ms = real_ms() + SECONDS * 1000;
	struct worker chaos = {.seed = 4711};
	start_workers(workers, fetch, SECONDS * 1000);
	while (real_ms() < end_ms) {
		if (draw(&chaos, 20) == 0) {
			fail_at_random(&chaos);
		}
		clock_advance_ms(2); /* Ten times as fast. */
		nap();
	}
	join_workers(workers);
	wait_idle(workers);
	fetch_destroy(fetch);
}

static void run_stops(struct worker *workers)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct fetch *fetch = create();
		start_workers(workers, fetch, 50);
		nap();
		if (round % 2 == 0) {
			fetch_stop(fetch, -EIO);
		}
		join_workers(workers);
		fetch_destroy(fetch);
		for (unsigned i = 0; i < THREADS; i++) {
			if (!worker_is_idle(&workers[i])) {
				complain("a request outlived fetch");
			}
		}
	}
}

int main(void)
{
	(void)log_open(LOG_SINK_STDERR, LOG_ERROR, NULL); /* Never fails. */
	if (memory_store_create("mem://stress", "", &store) < 0) {
		abort();
	}
	memory_store_set_page(store, 3);
	for (unsigned i = 0; i < OBJECTS; i++) {
		char key[16];
		snprintf(key, sizeof(key), "%u", i);
		if (memory_store_put_pattern(
				    store, key, OBJECT_SIZE, i, "\"e\"") < 0) {
			abort();
		}
		objects[i] = object_create(store, key, "\"e\"", OBJECT_SIZE, 0);
	}
	struct worker *workers = calloc(THREADS, sizeof(*workers));
	if (workers == NULL) {
		abort();
	}
	run_faults(workers);
	run_stops(workers);
	if (counters_get(&counters.transfers) != 0) {
		complain("transfers are left");
	}
	printf("stress_fetch: %lu bytes, %lu ranges whole, %lu ended early, "
	       "%lu retries\n",
			atomic_load(&bytes_given), atomic_load(&ends_good),
			atomic_load(&ends_bad),
			(unsigned long)counters_get(&counters.retries));
	free(workers);
	for (unsigned i = 0; i < OBJECTS; i++) {
		object_unref(objects[i]);
	}
	store_destroy(store);
	return atomic_load(&failed) ? 1 : 0;
}
