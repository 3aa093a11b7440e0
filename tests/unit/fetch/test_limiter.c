#include <criterion/criterion.h>

#include "limiter_private.h"

Test(limiter, throttling_cuts_once_a_second_to_the_least)
{
	static const size_t limits[] = {44, 30, 21, 14, 9, 6, 4, 4};
	struct limiter limiter;
	limiter_init(&limiter, 64);
	uint64_t now_ms = 5000;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		limiter_throttled(&limiter, now_ms);
		limiter_throttled(&limiter, now_ms + 999);
		cr_expect_eq(limiter.limit, limits[i]);
		now_ms += 1000;
	}
}

Test(limiter, one_more_after_32_successes_up_to_the_most)
{
	struct limiter limiter;
	limiter_init(&limiter, 10);
	limiter_throttled(&limiter, 5000);
	cr_assert_eq(limiter.limit, 7);
	for (int i = 0; i < 31; i++) {
		limiter_succeeded(&limiter);
	}
	cr_expect_eq(limiter.limit, 7);
	limiter_succeeded(&limiter);
	cr_expect_eq(limiter.limit, 8);
	for (int i = 0; i < 32 * 20; i++) {
		limiter_succeeded(&limiter);
	}
	cr_expect_eq(limiter.limit, 10);
}

Test(limiter, fewer_connections_than_the_least_stay_as_they_are)
{
	struct limiter limiter;
	limiter_init(&limiter, 2);
	limiter_throttled(&limiter, 5000);
	cr_expect_eq(limiter.limit, 2);
}

Test(limiter, the_last_transfers_are_kept_for_what_goes_first)
{
	static const struct {
		size_t limit, metadata, demand, prefetch;
	} rows[] = {
			{1, 1, 1, 1},
			{3, 3, 3, 3},
			{4, 4, 4, 3},
			{8, 8, 8, 7},
			{16, 16, 15, 15},
			{64, 64, 60, 56},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t limit = rows[i].limit;
		cr_expect_eq(limiter_share(limit, JOB_METADATA),
				rows[i].metadata);
		cr_expect_eq(limiter_share(limit, JOB_DEMAND), rows[i].demand);
		cr_expect_eq(limiter_share(limit, JOB_PREFETCH),
				rows[i].prefetch);
	}
}
