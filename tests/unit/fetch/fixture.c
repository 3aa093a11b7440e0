#include "fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/object.h"

#define PATIENCE_MS 10000
#define SEED 7

static void must(bool holds)
{
	if (!holds) {
		abort(); /* The test itself is broken. */
	}
}

void sleep_ms(unsigned ms)
{
	const struct timespec time = {
			.tv_sec = ms / 1000,
			.tv_nsec = (long)(ms % 1000) * 1000000,
	};
	nanosleep(&time, NULL);
}

void fixture_init(struct fixture *fixture)
{
	*fixture = (struct fixture){
			.settings =
					{
							.part_size = 8 * MIB,
							.max_connections = 64,
							.timeout_ms = 300000,
							.retries = 10,
					},
	};
	fixture->settings.counters = &fixture->counters;
	pthread_mutex_init(&fixture->lock, NULL);
	pthread_cond_init(&fixture->told, NULL);
	must(memory_store_create("mem://bucket", "", &fixture->store) == 0);
}

void fixture_start(struct fixture *fixture)
{
	must(fetch_create(&fixture->settings, &fixture->fetch) == 0);
}

void fixture_finish(struct fixture *fixture)
{
	memory_store_release(fixture->store);
	fetch_destroy(fixture->fetch);
	store_destroy(fixture->store);
	object_unref(fixture->object);
	pthread_cond_destroy(&fixture->told);
	pthread_mutex_destroy(&fixture->lock);
}

struct object *fixture_object(struct fixture *fixture, const char *key,
		uint64_t size, uint32_t seed)
{
	must(memory_store_put_pattern(
			     fixture->store, key, size, seed, "\"v1\"") == 0);
	struct object *object =
			object_create(fixture->store, key, "\"v1\"", size, 0);
	must(object != NULL);
	return object;
}

static void on_data(struct fetch_range *range, uint64_t offset,
		const void *data, size_t length)
{
	struct wanted *wanted = (struct wanted *)range;
	const uint8_t *bytes = data;
	wanted->wrong = wanted->wrong || offset != wanted->next ||
			wanted->ends > 0;
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] != memory_store_byte(wanted->seed, offset + i)) {
			wanted->wrong = true;
		}
	}
	wanted->next = offset + length;
}

static void on_done(struct fetch_range *range, int error)
{
	struct wanted *wanted = (struct wanted *)range;
	struct fixture *fixture = wanted->fixture;
	if (wanted->then != NULL) {
		wanted_submit(wanted->then);
	}
	LOCK_SCOPE(&fixture->lock);
	wanted->error = error;
	wanted->ends++;
	wanted->order = fixture->done_count++;
	pthread_cond_broadcast(&fixture->told);
}

void wanted_init(struct wanted *wanted, struct fixture *fixture,
		struct object *object, uint32_t seed, uint64_t offset,
		uint64_t length, bool demand)
{
	memset(wanted, 0x5a, sizeof(*wanted)); /* Needs no initial value. */
	wanted->range.object = object;
	wanted->range.offset = offset;
	wanted->range.length = length;
	wanted->range.demand = demand;
	wanted->range.on_data = on_data;
	wanted->range.on_done = on_done;
	wanted->fixture = fixture;
	wanted->seed = seed;
	wanted->next = offset;
	wanted->wrong = false;
	wanted->ends = 0;
	wanted->error = 0;
	wanted->then = NULL;
}

void wanted_submit(struct wanted *wanted)
{
	fetch_range_submit(wanted->fixture->fetch, &wanted->range);
}

bool wanted_is_done(struct wanted *wanted)
{
	LOCK_SCOPE(&wanted->fixture->lock);
	return wanted->ends > 0;
}

static int verdict(struct wanted *wanted)
{
	LOCK_SCOPE(&wanted->fixture->lock);
	const uint64_t end = wanted->range.offset + wanted->range.length;
	if (wanted->wrong || wanted->ends != 1) {
		return 1;
	}
	if (wanted->error == 0 && wanted->next != end) {
		return 1;
	}
	return wanted->error;
}

int wanted_wait_moving(struct wanted *wanted, uint64_t step_ms)
{
	for (unsigned i = 0; i < PATIENCE_MS / 2; i++) {
		if (wanted_is_done(wanted)) {
			return verdict(wanted);
		}
		if (step_ms > 0) {
			clock_advance_ms(step_ms);
		}
		sleep_ms(2);
	}
	return -ETIME;
}

int wanted_wait(struct wanted *wanted)
{
	return wanted_wait_moving(wanted, 0);
}

bool fixture_wait_asked(struct fixture *fixture, char kind, size_t count)
{
	for (unsigned i = 0; i < 2500; i++) {
		if (memory_store_count(fixture->store, kind) >= count) {
			return true;
		}
		sleep_ms(2);
	}
	return false;
}

struct memory_store_record fixture_record(struct fixture *fixture, size_t index)
{
	struct memory_store_record record = {0};
	(void)memory_store_get_record(
			fixture->store, index, &record); /* kind stays 0. */
	return record;
}

void fixture_use_object(struct fixture *fixture)
{
	fixture->object = fixture_object(fixture, "a", 64 * MIB, SEED);
}

void fixture_start_tries(
		struct fixture *fixture, unsigned retries, uint64_t timeout_ms)
{
	fixture_init(fixture);
	fixture->settings.retries = retries;
	fixture->settings.timeout_ms = timeout_ms;
	fixture_start(fixture);
	fixture_use_object(fixture);
}

void fixture_want(struct fixture *fixture, struct wanted *wanted,
		uint64_t offset, uint64_t length, bool demand)
{
	wanted_init(wanted, fixture, fixture->object, SEED, offset, length,
			demand);
}

void fixture_occupy(struct fixture *fixture, struct wanted *blocker)
{
	memory_store_hold(fixture->store);
	fixture_want(fixture, blocker, 63 * MIB, 64 * KIB, true);
	wanted_submit(blocker);
	must(memory_store_wait_held(fixture->store, 1) == 0);
}

void fixture_fail_gets(struct fixture *fixture, unsigned first, unsigned count,
		int error, enum store_advice advice, uint64_t after_bytes)
{
	memory_store_fail(fixture->store, "get", first, count, error, advice,
			after_bytes);
}

void fixture_expect_get(struct fixture *fixture, size_t index, uint64_t offset,
		uint64_t length)
{
	const struct memory_store_record record =
			fixture_record(fixture, index);
	cr_expect_eq(record.kind, 'g');
	cr_expect_eq(record.offset, offset, "request %zu is at %lu", index,
			record.offset);
	cr_expect_eq(record.length, length, "request %zu has %lu", index,
			record.length);
}
