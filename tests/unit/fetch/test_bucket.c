#include <criterion/criterion.h>

#include "bucket_private.h"

Test(bucket, is_full_at_first_and_never_fuller)
{
	struct bucket bucket;
	bucket_init(&bucket, 10, 100, 1000);
	cr_expect(bucket_has(&bucket, 9, 1000));
	cr_expect_not(bucket_has(&bucket, 10, 1000000));
	bucket_give(&bucket, 5);
	cr_expect_not(bucket_has(&bucket, 10, 1000000));
}

Test(bucket, a_large_request_is_paid_for_by_the_time_after_it)
{
	struct bucket bucket;
	bucket_init(&bucket, 250, 1000, 1000);
	bucket_take(&bucket, 2250);
	cr_expect_not(bucket_has(&bucket, 0, 1000));
	cr_expect_not(bucket_has(&bucket, 0, 2999));
	cr_expect(bucket_has(&bucket, 0, 3001));
}

Test(bucket, says_how_long_to_wait)
{
	struct bucket bucket;
	bucket_init(&bucket, 100, 10, 1000);
	cr_expect_eq(bucket_wait_ms(&bucket, 0, 1000), 0);
	bucket_take(&bucket, 105);
	const uint64_t wait_ms = bucket_wait_ms(&bucket, 0, 1000);
	cr_expect_eq(wait_ms, 501);
	cr_expect(bucket_has(&bucket, 0, 1000 + wait_ms));
}

Test(bucket, a_clock_that_stands_still_gives_nothing)
{
	struct bucket bucket;
	bucket_init(&bucket, 1, 1000, 1000);
	bucket_take(&bucket, 1);
	cr_expect_not(bucket_has(&bucket, 0, 1000));
	cr_expect_not(bucket_has(&bucket, 0, 900));
}
