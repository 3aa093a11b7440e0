#include <criterion/criterion.h>
#include <errno.h>

#include "health_private.h"

static const struct store_outcome unreachable = {
		.error = -EIO, .advice = STORE_UNREACHABLE};
static const struct store_outcome no_answer = {
		.error = -EIO, .advice = STORE_RETRY};
static const struct store_outcome answer_503 = {
		.error = -EIO, .advice = STORE_THROTTLED, .answered = true};
static const struct store_outcome fault_500 = {
		.error = -EIO, .advice = STORE_RETRY, .answered = true};
static const struct store_outcome dead_connection = {
		.error = -EIO, .advice = STORE_RETRY_NOW};
static const struct store_outcome bad_certificate = {
		.error = -EIO, .advice = STORE_FINAL};
static const struct store_outcome success = {.answered = true};

Test(health, four_silent_ones_in_a_row_are_an_outage)
{
	struct health health;
	health_init(&health, 10, 0);
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(health_judge(&health,
					     i == 1 ? &no_answer : &unreachable,
					     100),
				HEALTH_SAME);
		cr_expect_not(health.down);
	}
	cr_expect_eq(health_judge(&health, &unreachable, 100),
			HEALTH_WENT_DOWN);
	cr_expect(health.down);
	cr_expect_eq(health_judge(&health, &unreachable, 100), HEALTH_SAME);
}

Test(health, an_outage_is_seen_before_the_attempts_are_used_up)
{
	static const struct {
		unsigned retries, silent;
	} rows[] = {{0, 1}, {1, 1}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {99, 4}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct health health;
		health_init(&health, rows[i].retries, 0);
		for (unsigned n = 0; n < rows[i].silent; n++) {
			cr_expect_not(health.down);
			(void)health_judge(&health, &unreachable, 100);
		}
		cr_expect(health.down);
	}
}

Test(health, any_answer_is_a_sign_of_life)
{
	static const struct store_outcome *const answers[] = {
			&answer_503, &fault_500, &success};
	for (size_t i = 0; i < 3; i++) {
		struct health health;
		health_init(&health, 10, 0);
		for (int n = 0; n < 3; n++) {
			(void)health_judge(&health, &unreachable, 100);
		}
		cr_expect_eq(health_judge(&health, answers[i], 200),
				HEALTH_SAME);
		cr_expect_eq(health.alive_ms, 200);
		for (int n = 0; n < 3; n++) {
			(void)health_judge(&health, &unreachable, 300);
		}
		cr_expect_not(health.down);
		(void)health_judge(&health, &unreachable, 300);
		cr_expect(health.down);
		cr_expect_eq(health_judge(&health, answers[i], 400),
				HEALTH_CAME_BACK);
		cr_expect_not(health.down);
	}
}

Test(health, what_says_nothing_about_the_endpoint_changes_nothing)
{
	static const struct store_outcome *const neutral[] = {
			&dead_connection, &bad_certificate};
	for (size_t i = 0; i < 2; i++) {
		struct health health;
		health_init(&health, 10, 0);
		for (int n = 0; n < 100; n++) {
			cr_expect_eq(health_judge(&health, neutral[i], 100),
					HEALTH_SAME);
		}
		cr_expect_not(health.down);
		for (int n = 0; n < 4; n++) {
			(void)health_judge(&health, &unreachable, 100);
		}
		(void)health_judge(&health, neutral[i], 100);
		cr_expect(health.down);
	}
}

Test(health, one_probe_a_second_while_it_is_down)
{
	struct health health;
	health_init(&health, 2, 0);
	cr_expect(health_may_send(&health, 100));
	(void)health_judge(&health, &unreachable, 100);
	cr_expect_not(health_may_send(&health, 100));
	cr_expect_not(health_may_send(&health, 1099));
	cr_expect(health_may_send(&health, 1100));
	health_sent(&health, 1100);
	cr_expect_not(health_may_send(&health, 2099));
	cr_expect(health_may_send(&health, 2100));
}
