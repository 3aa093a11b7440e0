#ifndef TESTS_FETCH_FIXTURE_H
#define TESTS_FETCH_FIXTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"
#include "fetch/fetch.h"
#include "store/testing.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)

/* A fetch over a memory store, and what was heard from it. */
struct fixture {
	struct counters counters;
	struct fetch_settings settings;
	struct store *store;
	struct fetch *fetch;
	struct object *object; /* Of fixture_use_object, or NULL. */
	pthread_mutex_t lock;
	pthread_cond_t told;
	unsigned done_count;
};

/* A range that checks each of its bytes. */
struct wanted {
	struct fetch_range range; /* First. */
	struct fixture *fixture;
	uint32_t seed;
	uint64_t next;	/* Where the next byte belongs. */
	bool wrong;	/* A byte that is not the object's, or twice. */
	unsigned ends;	/* Calls of on_done. */
	unsigned order; /* How many had ended before it. */
	int error;
	/* Submitted by on_done. */
	struct wanted *then;
};

/* Defaults: part 8 MiB, 64 connections, no rate, 5 min, 10 retries. */
void fixture_init(struct fixture *fixture);
void fixture_start(struct fixture *fixture);
void fixture_finish(struct fixture *fixture);

/* The caller unrefs it. */
struct object *fixture_object(struct fixture *fixture, const char *key,
		uint64_t size, uint32_t seed);
void wanted_init(struct wanted *wanted, struct fixture *fixture,
		struct object *object, uint32_t seed, uint64_t offset,
		uint64_t length, bool demand);
void wanted_submit(struct wanted *wanted);
/* Its error, or 1 when a byte was wrong, missing or told twice; -ETIME when
 * nothing came for 10 s. */
int wanted_wait(struct wanted *wanted);
/* The same while the clock runs `step_ms` every 2 ms. */
int wanted_wait_moving(struct wanted *wanted, uint64_t step_ms);
bool wanted_is_done(struct wanted *wanted);

/* Makes the object "a" of 64 MiB that the calls below are about. */
void fixture_use_object(struct fixture *fixture);
/* Init and start with such an object. */
void fixture_start_tries(
		struct fixture *fixture, unsigned retries, uint64_t timeout_ms);
void fixture_want(struct fixture *fixture, struct wanted *wanted,
		uint64_t offset, uint64_t length, bool demand);
/* Holds the store with a transfer under way: of one at most, what is submitted
 * next waits. */
void fixture_occupy(struct fixture *fixture, struct wanted *blocker);
/* Lets GETs fail as memory_store_fail does. */
void fixture_fail_gets(struct fixture *fixture, unsigned first, unsigned count,
		int error, enum store_advice advice, uint64_t after_bytes);
/* The store's request `index` was a GET of this range. */
void fixture_expect_get(struct fixture *fixture, size_t index, uint64_t offset,
		uint64_t length);

/* Real time. */
void sleep_ms(unsigned ms);

/* Waits until the store was asked `count` times for `kind`. False after 5 s. */
bool fixture_wait_asked(struct fixture *fixture, char kind, size_t count);
struct memory_store_record fixture_record(
		struct fixture *fixture, size_t index);

#endif
