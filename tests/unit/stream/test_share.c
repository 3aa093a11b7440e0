#include <criterion/criterion.h>
#include <stdlib.h>

#include "stream/share_private.h"

Test(share, counts_streams_read_in_this_period_or_the_last)
{
	struct share share;

	share_init(&share);
	cr_assert_eq(share_streams(&share), 1);
	for (int i = 0; i < 5; i++) {
		share_note_active(&share, 10);
	}
	cr_assert_eq(share_streams(&share), 5);
	share_note_active(&share, 11);
	cr_assert_eq(share_streams(&share), 5);
	share_note_active(&share, 12);
	cr_assert_eq(share_streams(&share), 1);
	share_note_active(&share, 40);
	cr_assert_eq(share_streams(&share), 1);
	share_finish(&share);
}

Test(share, sequential_percent_follows_the_recent_reads)
{
	struct share share;

	share_init(&share);
	cr_assert_eq(share_sequential_percent(&share), 100);
	for (int i = 0; i < 45; i++) {
		share_note_read(&share, false);
	}
	cr_assert_lt(share_sequential_percent(&share), 55);
	for (int i = 0; i < 10000; i++) {
		share_note_read(&share, false);
	}
	cr_assert_eq(share_sequential_percent(&share), 0);
	for (int i = 0; i < 10000; i++) {
		share_note_read(&share, i % 4 != 0);
	}
	cr_assert_leq(abs((int)share_sequential_percent(&share) - 75), 2);
	for (int i = 0; i < 10000; i++) {
		share_note_read(&share, true);
	}
	cr_assert_eq(share_sequential_percent(&share), 100);
	share_finish(&share);
}

Test(share, periods_begin_at_one)
{
	cr_assert_gt(share_period(0), 0);
	cr_assert_eq(share_period(0), share_period(1999));
	cr_assert_eq(share_period(0) + 1, share_period(2000));
}
