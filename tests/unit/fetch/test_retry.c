#include <criterion/criterion.h>
#include <errno.h>

#include "retry_private.h"

static const struct retry_limits limits = {
		.retries = 10,
		.timeout_ms = 300000,
};

static struct store_outcome failure(enum store_advice advice)
{
	return (struct store_outcome){
			.error = -EIO,
			.advice = advice,
			.answered = true,
			.detail = "",
	};
}

static struct retry_event event_of(const struct store_outcome *outcome)
{
	return (struct retry_event){
			.outcome = outcome,
			.now_ms = 1000,
			.random = UINT32_MAX,
			.demand = true,
	};
}

static struct fetch_retry begun(void)
{
	struct fetch_retry retry = {0};
	retry_begin(&retry, 1000);
	return retry;
}

Test(retry, final_errors_are_given_up_with_their_errno)
{
	static const int errors[] = {-EACCES, -ESTALE, -EIO, -ENOENT, -EDQUOT};
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct store_outcome outcome = failure(STORE_FINAL);
		outcome.error = errors[i];
		struct retry_event event = event_of(&outcome);
		struct fetch_retry retry = begun();
		const struct retry_decision decision =
				retry_decide(&retry, &limits, &event);
		cr_expect_eq(decision.action, RETRY_GIVE_UP);
		cr_expect_eq(decision.error, errors[i]);
	}
}

/* The longest wait after the n-th failure in a row. */
Test(retry, backoff_doubles_up_to_its_limit)
{
	static const struct {
		enum store_advice advice;
		uint64_t most_ms[9];
	} rows[] = {
			{STORE_RETRY, {50, 100, 200, 400, 800, 1600, 3200, 4000,
						      4000}},
			{STORE_UNREACHABLE, {50, 100, 200, 400, 800, 1600, 3200,
							    4000, 4000}},
			{STORE_THROTTLED, {1000, 2000, 4000, 8000, 16000, 20000,
							  20000, 20000, 20000}},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct store_outcome outcome = failure(rows[i].advice);
		struct retry_event event = event_of(&outcome);
		struct fetch_retry retry = begun();
		for (size_t n = 0; n < 9; n++) {
			const struct retry_decision decision =
					retry_decide(&retry, &limits, &event);
			cr_expect_eq(decision.action, RETRY_AFTER);
			cr_expect_eq(decision.delay_ms, rows[i].most_ms[n]);
			cr_expect(decision.budgeted);
		}
		cr_expect_eq(retry_decide(&retry, &limits, &event).action,
				RETRY_GIVE_UP);
	}
}

Test(retry, backoff_may_be_nothing)
{
	const struct store_outcome outcome = failure(STORE_THROTTLED);
	struct retry_event event = event_of(&outcome);
	event.random = 0;
	struct fetch_retry retry = begun();
	cr_expect_eq(retry_decide(&retry, &limits, &event).delay_ms, 0);
}

Test(retry, retry_after_is_a_floor_of_at_most_a_minute)
{
	static const struct {
		uint32_t told_ms, random;
		uint64_t delay_ms;
	} rows[] = {
			{0, 0, 0},
			{2000, 0, 2000},
			{500, UINT32_MAX, 1000},
			{3600000, 0, 60000},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct store_outcome outcome = failure(STORE_THROTTLED);
		outcome.retry_after_ms = rows[i].told_ms;
		struct retry_event event = event_of(&outcome);
		event.random = rows[i].random;
		struct fetch_retry retry = begun();
		cr_expect_eq(retry_decide(&retry, &limits, &event).delay_ms,
				rows[i].delay_ms);
	}
}

static unsigned attempts_until_given_up(
		const struct retry_limits *within, struct retry_event event)
{
	struct fetch_retry retry = begun();
	unsigned attempts = 1;
	while (attempts < 100000 &&
			retry_decide(&retry, within, &event).action !=
					RETRY_GIVE_UP) {
		attempts++;
	}
	return attempts;
}

Test(retry, attempts_in_all_are_limited)
{
	static const struct {
		unsigned retries;
		bool demand;
		uint64_t progress_bytes;
		unsigned attempts;
	} rows[] = {
			{10, true, 0, 10}, {3, true, 0, 3}, {1, true, 0, 1},
			{0, true, 0, 1}, {10, false, 0, 2}, {1, false, 0, 1},
			{10, true, 1, 160}, /* Hardly any progress ends. */
			{10, true, 16383, 160},
			{10, true, 16384, 100000}, /* Progress does not. */
	};
	const struct store_outcome outcome = failure(STORE_RETRY);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct retry_event event = event_of(&outcome);
		event.demand = rows[i].demand;
		event.progress_bytes = rows[i].progress_bytes;
		const struct retry_limits within = {
				.retries = rows[i].retries,
				.timeout_ms = 300000,
		};
		cr_expect_eq(attempts_until_given_up(&within, event),
				rows[i].attempts, "row %zu", i);
	}
}

Test(retry, progress_makes_the_next_failure_the_first)
{
	const struct store_outcome outcome = failure(STORE_RETRY);
	struct retry_event event = event_of(&outcome);
	struct fetch_retry retry = begun();
	for (int i = 0; i < 5; i++) {
		(void)retry_decide(&retry, &limits, &event);
	}
	event.progress_bytes = 100000;
	event.now_ms = 200000;
	const struct retry_decision decision =
			retry_decide(&retry, &limits, &event);
	cr_expect_eq(decision.delay_ms, 50);
	cr_expect_not(decision.budgeted);
	cr_expect_eq(retry.silent_since_ms, 200000);
}

Test(retry, each_repair_is_tried_once_and_at_once)
{
	struct store_outcome outcome = failure(STORE_REPAIRED);
	outcome.error = -EACCES;
	struct retry_event event = event_of(&outcome);
	struct fetch_retry retry = begun();
	static const enum store_repair repairs[] = {STORE_REPAIR_CREDENTIALS,
			STORE_REPAIR_CLOCK, STORE_REPAIR_REGION};
	for (size_t i = 0; i < 3; i++) {
		outcome.repair = repairs[i];
		const struct retry_decision decision =
				retry_decide(&retry, &limits, &event);
		cr_expect_eq(decision.action, RETRY_AFTER);
		cr_expect_eq(decision.delay_ms, 0);
		cr_expect_not(decision.budgeted);
	}
	for (size_t i = 0; i < 3; i++) {
		outcome.repair = repairs[i];
		const struct retry_decision decision =
				retry_decide(&retry, &limits, &event);
		cr_expect_eq(decision.action, RETRY_GIVE_UP);
		cr_expect_eq(decision.error, -EACCES);
	}
}

Test(retry, dead_connections_are_not_counted_but_bounded)
{
	const struct store_outcome outcome = failure(STORE_RETRY_NOW);
	struct retry_event event = event_of(&outcome);
	struct fetch_retry retry = begun();
	for (int i = 0; i < 4; i++) {
		const struct retry_decision decision =
				retry_decide(&retry, &limits, &event);
		cr_expect_eq(decision.action, RETRY_AFTER);
		cr_expect_eq(decision.delay_ms, 0);
		cr_expect_not(decision.budgeted);
		cr_expect_eq(retry.attempts, 0);
	}
	cr_expect_eq(attempts_until_given_up(&limits, event), 14);
}

Test(retry, a_silent_endpoint_costs_no_attempts_but_time)
{
	const struct store_outcome outcome = failure(STORE_UNREACHABLE);
	struct retry_event event = event_of(&outcome);
	event.endpoint_down = true;
	struct fetch_retry retry = begun();
	for (int i = 0; i < 299; i++) {
		event.now_ms += 1000;
		cr_assert_eq(retry_decide(&retry, &limits, &event).action,
				RETRY_PARK);
	}
	cr_expect_eq(retry.attempts, 0);
	event.now_ms += 1000;
	const struct retry_decision decision =
			retry_decide(&retry, &limits, &event);
	cr_expect_eq(decision.action, RETRY_GIVE_UP);
	cr_expect_eq(decision.error, -EIO);
}

Test(retry, prefetch_does_not_wait_for_a_silent_endpoint)
{
	const struct store_outcome outcome = failure(STORE_UNREACHABLE);
	struct retry_event event = event_of(&outcome);
	event.endpoint_down = true;
	event.demand = false;
	struct fetch_retry retry = begun();
	cr_expect_eq(retry_decide(&retry, &limits, &event).action,
			RETRY_GIVE_UP);
}

Test(retry, the_last_attempt_is_when_the_readers_time_is_up)
{
	struct store_outcome outcome = failure(STORE_THROTTLED);
	outcome.retry_after_ms = 60000;
	struct retry_event event = event_of(&outcome);
	const struct retry_limits within = {.retries = 10, .timeout_ms = 5000};
	struct fetch_retry retry = begun();
	event.now_ms = 3000;
	cr_expect_eq(retry_decide(&retry, &within, &event).delay_ms, 3000);
	event.now_ms = 6000;
	cr_expect_eq(retry_decide(&retry, &within, &event).action,
			RETRY_GIVE_UP);
}

Test(retry, waiting_for_ever_has_no_timeout)
{
	const struct retry_limits within = {
			.retries = 10, .timeout_ms = UINT64_MAX};
	const struct fetch_retry retry = begun();
	cr_expect_not(retry_timed_out(&retry, &within, UINT64_MAX - 1));
}

Test(retry, time_is_counted_from_the_first_attempt)
{
	struct fetch_retry retry = {.silent_since_ms = 1};
	retry_begin(&retry, 5000);
	retry_begin(&retry, 9000);
	cr_expect_eq(retry.silent_since_ms, 5000);
	struct fetch_retry late = {.silent_since_ms = 7000};
	retry_begin(&late, 5000); /* The endpoint fell silent before. */
	cr_expect_eq(late.silent_since_ms, 7000);
}
