#include <criterion/criterion.h>

#include "net/deadline_private.h"

static const struct deadline_limits limits = {
		.first_byte_ms = 10000,
		.stall_bytes = 1000,
		.stall_ms = 5000,
};

static struct deadline begun(uint32_t total_ms)
{
	struct deadline deadline;
	struct deadline_limits with_total = limits;
	with_total.total_ms = total_ms;
	deadline_begin(&deadline, &with_total, 100);
	return deadline;
}

Test(deadline, the_connect_is_left_to_libcurl)
{
	struct deadline deadline = begun(0);
	cr_assert_eq(deadline_at_ms(&deadline), DEADLINE_NEVER);
}

Test(deadline, the_first_byte_counts_from_the_sent_request)
{
	struct deadline deadline = begun(0);
	deadline_sent(&deadline, 3000);
	cr_assert_eq(deadline_at_ms(&deadline), 13000);
	cr_assert_str_eq(deadline_reason(&deadline, 13000),
			"No answer came in time");
	deadline_sent(&deadline, 4000);
	cr_assert_eq(deadline_at_ms(&deadline), 14000);
}

Test(deadline, a_span_begins_with_the_first_byte_and_after_enough_bytes)
{
	struct deadline deadline = begun(0);
	deadline_sent(&deadline, 3000);
	deadline_received(&deadline, 1, 4000);
	cr_assert_eq(deadline_at_ms(&deadline), 9000);
	deadline_received(&deadline, 998, 5000);
	cr_assert_eq(deadline_at_ms(&deadline), 9000);
	deadline_received(&deadline, 1, 6000);
	cr_assert_eq(deadline_at_ms(&deadline), 11000);
	deadline_received(&deadline, 5000, 7000);
	cr_assert_eq(deadline_at_ms(&deadline), 12000);
	cr_assert_str_eq(deadline_reason(&deadline, 12000),
			"The answer stalled");
}

Test(deadline, bytes_of_one_span_do_not_count_in_the_next)
{
	struct deadline deadline = begun(0);
	deadline_received(&deadline, 1000, 4000);
	deadline_received(&deadline, 999, 5000);
	cr_assert_eq(deadline_at_ms(&deadline), 9000);
}

Test(deadline, the_whole_counts_from_the_start)
{
	struct deadline deadline = begun(2000);
	cr_assert_eq(deadline_at_ms(&deadline), 2100);
	cr_assert_str_eq(deadline_reason(&deadline, 2100),
			"Took too long as a whole");
	deadline_sent(&deadline, 500);
	cr_assert_eq(deadline_at_ms(&deadline), 2100);
	deadline_received(&deadline, 1, 600);
	cr_assert_eq(deadline_at_ms(&deadline), 2100);
}

Test(deadline, zero_switches_a_limit_off)
{
	struct deadline deadline;
	const struct deadline_limits none = {0};
	deadline_begin(&deadline, &none, 100);
	deadline_sent(&deadline, 100);
	cr_assert_eq(deadline_at_ms(&deadline), DEADLINE_NEVER);
	deadline_received(&deadline, 1, 100);
	cr_assert_eq(deadline_at_ms(&deadline), DEADLINE_NEVER);
}
