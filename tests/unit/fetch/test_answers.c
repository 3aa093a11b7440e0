#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fixture.h"
#include "store/object.h"
#include "store/ops.h"

/*
 * A store that breaks its contract: bytes that are not where they were asked
 * for, too few, too many, or nothing for as long as it likes, deaf to cancels.
 */
enum manner { RIGHT, SHIFTED, SHORT, LONG, STUCK, REFUSING };

struct rogue {
	struct store store;
	enum manner manner; /* Of the next `count` requests. */
	unsigned count;
	/* Guarded by lock. */
	pthread_mutex_t lock;
	pthread_cond_t told;
	unsigned requests;
	bool stuck; /* A call waits for `freed`. */
	bool freed;
	int data_result;
};

struct rogue_call {
	struct store_call call;
	struct rogue *rogue;
	const struct store_callbacks_get *callbacks;
	void *context;
	uint64_t offset, length;
	enum manner manner;
};

static struct rogue rogue;
static struct fixture fixture;
static struct object *object;

static uint8_t byte_at(uint64_t offset)
{
	return memory_store_byte(7, offset);
}

static int give(struct rogue_call *call, uint64_t offset, uint64_t length)
{
	uint8_t data[1000];
	for (uint64_t i = 0; i < length; i++) {
		data[i] = byte_at(offset + i);
	}
	return call->callbacks->on_data(call->context, offset, data, length);
}

static void stay_stuck(void)
{
	LOCK_SCOPE(&rogue.lock);
	rogue.stuck = true;
	pthread_cond_broadcast(&rogue.told);
	while (!rogue.freed) {
		pthread_cond_wait(&rogue.told, &rogue.lock);
	}
}

static void *answer_main(void *context)
{
	struct rogue_call *call = context;
	const struct store_outcome good = {
			.answered = true, .http_status = 206, .detail = ""};
	if (call->manner == STUCK) {
		stay_stuck();
	}
	const uint64_t offset =
			call->offset + (call->manner == SHIFTED ? 1 : 0);
	uint64_t length = call->length;
	if (call->manner == SHORT) {
		length -= 1;
	} else if (call->manner == LONG) {
		length += 1;
	}
	const int result = give(call, offset, length);
	{
		LOCK_SCOPE(&rogue.lock);
		rogue.data_result = result;
	}
	call->callbacks->on_done(call->context, &good);
	store_call_unref(&call->call);
	return NULL;
}

static void cancel(struct store_call *call)
{
}

static void free_call(struct store_call *call)
{
	free(call);
}

static int rogue_get(struct store *store, struct object *of, uint64_t offset,
		uint64_t length, const struct store_callbacks_get *callbacks,
		void *context, struct store_call **out_call)
{
	static const struct store_call_ops ops = {
			.cancel = cancel, .free = free_call};
	LOCK_SCOPE(&rogue.lock);
	const bool odd = rogue.requests++ < rogue.count;
	if (odd && rogue.manner == REFUSING) {
		return -ENOMEM;
	}
	struct rogue_call *call = malloc(sizeof(*call));
	cr_assert_not_null(call);
	*call = (struct rogue_call){
			.call = {.ops = &ops, .references = 2},
			.rogue = &rogue,
			.callbacks = callbacks,
			.context = context,
			.offset = offset,
			.length = length,
			.manner = odd ? rogue.manner : RIGHT,
	};
	*out_call = &call->call;
	pthread_t thread;
	cr_assert_eq(pthread_create(&thread, NULL, answer_main, call), 0);
	pthread_detach(thread);
	return 0;
}

static void start(enum manner manner, unsigned count)
{
	static const struct store_ops ops = {.get = rogue_get};
	rogue = (struct rogue){
			.store = {.ops = &ops, .name = (char *)"rogue"},
			.manner = manner,
			.count = count,
	};
	pthread_mutex_init(&rogue.lock, NULL);
	pthread_cond_init(&rogue.told, NULL);
	fixture_init(&fixture);
	fixture.settings.retries = 3;
	fixture_start(&fixture);
	object = object_create(&rogue.store, "a", "\"e\"", 100000, 0);
}

static void stop(void)
{
	fixture_finish(&fixture);
	object_unref(object);
}

Test(answers, not_as_asked_are_never_believed)
{
	static const enum manner manners[] = {SHIFTED, LONG};
	for (size_t i = 0; i < 2; i++) {
		struct wanted wanted;
		start(manners[i], 1);
		wanted_init(&wanted, &fixture, object, 7, 100, 500, true);
		wanted_submit(&wanted);
		cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
		cr_expect_eq(rogue.requests, 2);
		stop();
	}
}

Test(answers, that_stay_wrong_are_eio)
{
	static const enum manner manners[] = {SHIFTED, LONG};
	for (size_t i = 0; i < 2; i++) {
		struct wanted wanted;
		start(manners[i], 100);
		wanted_init(&wanted, &fixture, object, 7, 100, 500, true);
		wanted_submit(&wanted);
		cr_expect_eq(wanted_wait_moving(&wanted, 20), -EIO);
		cr_expect_eq(rogue.requests, 3);
		cr_expect_eq(wanted.next, 100, "bytes were given");
		cr_expect_eq(counters_get(&fixture.counters.errors_invalid), 1);
		stop();
	}
}

Test(answers, too_short_are_completed_by_another_request)
{
	struct wanted wanted;
	start(SHORT, 1);
	wanted_init(&wanted, &fixture, object, 7, 100, 500, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait_moving(&wanted, 20), 0);
	cr_expect_eq(rogue.requests, 2);
	stop();
}

Test(answers, without_memory_for_the_request_are_enomem)
{
	struct wanted wanted;
	start(REFUSING, 1);
	wanted_init(&wanted, &fixture, object, 7, 100, 500, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), -ENOMEM);
	cr_expect_eq(counters_get(&fixture.counters.transfers), 0);
	wanted_init(&wanted, &fixture, object, 7, 100, 500, true);
	wanted_submit(&wanted);
	cr_expect_eq(wanted_wait(&wanted), 0);
	stop();
}

/* Readers of a dead network share get their answer at a stop, and what comes
 * for them later touches nothing. */
Test(answers, that_do_not_come_do_not_hold_up_a_stop)
{
	struct wanted *wanted = malloc(sizeof(*wanted));
	cr_assert_not_null(wanted);
	start(STUCK, 1);
	wanted_init(wanted, &fixture, object, 7, 100, 500, true);
	wanted_submit(wanted);
	{
		LOCK_SCOPE(&rogue.lock);
		while (!rogue.stuck) {
			pthread_cond_wait(&rogue.told, &rogue.lock);
		}
	}
	fetch_stop(fixture.fetch, -EIO);
	cr_expect_eq(wanted_wait(wanted), -EIO);
	free(wanted);
	{
		LOCK_SCOPE(&rogue.lock);
		rogue.freed = true;
		pthread_cond_broadcast(&rogue.told);
	}
	stop();
	cr_expect_eq(rogue.data_result, -ECANCELED);
}
