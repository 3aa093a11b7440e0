#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(clock, advance_moves_all_clocks_forward)
{
	uint64_t monotonic = clock_monotonic_ms();
	uint64_t monotonic_us = clock_monotonic_us();
	uint64_t boottime = clock_boottime_ms();
	uint64_t wall = clock_wall_ms();
	clock_advance_ms(1000000);
	cr_assert_geq(clock_monotonic_ms(), monotonic + 1000000);
	cr_assert_geq(clock_monotonic_us(), monotonic_us + 1000000000);
	cr_assert_geq(clock_boottime_ms(), boottime + 1000000);
	cr_assert_geq(clock_wall_ms(), wall + 1000000);
	cr_assert_lt(clock_monotonic_ms(), monotonic + 2000000);
}

Test(clock, boot_id_is_the_kernels)
{
	unsetenv("SHARDFS_BOOT_ID");
	const char *id = clock_boot_id();
	cr_assert_eq(strlen(id), 36);
	cr_assert_eq(strspn(id, "0123456789abcdef-"), 36);
	cr_assert_eq(clock_boot_id(), id);
}

Test(clock, boot_id_of_the_environment_replaces_it)
{
	const char *given = "01234567-89ab-cdef-0123-456789abcdef";
	setenv("SHARDFS_BOOT_ID", given, 1);
	cr_assert_str_eq(clock_boot_id(), given);
}

Test(clock, formats_http_dates)
{
	char text[30];
	clock_format_http(784111777, text, sizeof(text));
	cr_assert_str_eq(text, "Sun, 06 Nov 1994 08:49:37 GMT");
	clock_format_http(0, text, sizeof(text));
	cr_assert_str_eq(text, "Thu, 01 Jan 1970 00:00:00 GMT");
}

Test(clock, parses_all_three_http_dates)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} table[] = {
			{"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
			{"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
			{"Sun Nov  6 08:49:37 1994", 784111777},
			{"Wed Nov 16 08:49:37 1994", 784975777},
			{"Thu, 29 Feb 2024 23:59:60 GMT", 1709251200},
			{"Thursday, 01-Jan-26 00:00:00 GMT", 1767225600},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		int64_t seconds = 77;
		cr_assert_eq(clock_parse_http(table[i].text, &seconds), 0,
				"refused %s", table[i].text);
		cr_assert_eq(seconds, table[i].seconds, "%s gave %lld",
				table[i].text, (long long)seconds);
	}
}

Test(clock, refuses_other_http_dates)
{
	static const char *const table[] = {"", "Sun", "784111777",
			"Sun, 06 Nov 1994 08:49:37",
			"Sun, 6 Nov 1994 08:49:37 GMT",
			"Sun, 06 Nov 1994 08:49:37 PST",
			"Sun, 06 Nov 1994 08:49:37 GMT ",
			"Sun, 31 Feb 1994 08:49:37 GMT",
			"Sun, 00 Nov 1994 08:49:37 GMT",
			"Sun, 06 Nov 1994 24:00:00 GMT",
			"Sun, 06 Nov 1994 08:60:37 GMT",
			"Sun, 06 Nov 1994 08:49:61 GMT",
			"Sun, 06 Foo 1994 08:49:37 GMT",
			"Sun, 06 Nov 94 08:49:37 GMT",
			"Sun Nov   6 08:49:37 1994"};

	for (size_t i = 0; i < COUNT(table); i++) {
		int64_t seconds = 77;
		cr_assert_eq(clock_parse_http(table[i], &seconds), -EINVAL,
				"took \"%s\"", table[i]);
		cr_assert_eq(seconds, 77);
	}
}

Test(clock, parses_iso_8601)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} table[] = {
			{"1970-01-01T00:00:00Z", 0},
			{"1969-12-31T23:59:59Z", -1},
			{"2009-10-12T17:50:30.000Z", 1255369830},
			{"2009-10-12T17:50:30.123456789Z", 1255369830},
			{"2009-10-12T17:50:30", 1255369830},
			{"2009-10-12T19:50:30+02:00", 1255369830},
			{"2009-10-12T12:20:30.5-0530", 1255369830},
			{"2024-02-29T00:00:00Z", 1709164800},
			{"2016-12-31T23:59:60Z", 1483228800},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		int64_t seconds = 77;
		cr_assert_eq(clock_parse_iso8601(table[i].text, &seconds), 0,
				"refused %s", table[i].text);
		cr_assert_eq(seconds, table[i].seconds, "%s gave %lld",
				table[i].text, (long long)seconds);
	}
}

Test(clock, refuses_other_iso_8601)
{
	static const char *const table[] = {"", "2009", "2009-10-12",
			"2009-10-12 17:50:30Z", "2009-10-12T17:50Z",
			"2009-13-12T17:50:30Z", "2009-00-12T17:50:30Z",
			"2009-02-29T17:50:30Z", "2009-10-00T17:50:30Z",
			"2009-10-12T24:00:00Z", "2009-10-12T17:50:30.Z",
			"2009-10-12T17:50:30Zx", "2009-10-12T17:50:30+24:00",
			"2009-10-12T17:50:30+02:", "2009-10-12T17:50:30+",
			"99999-10-12T17:50:30Z", "-009-10-12T17:50:30Z"};

	for (size_t i = 0; i < COUNT(table); i++) {
		int64_t seconds = 77;
		cr_assert_eq(clock_parse_iso8601(table[i], &seconds), -EINVAL,
				"took \"%s\"", table[i]);
		cr_assert_eq(seconds, 77);
	}
}
