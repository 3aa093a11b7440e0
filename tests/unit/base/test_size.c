#include <criterion/criterion.h>
#include <errno.h>

#include "base/size.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(size, parses_powers_of_1024_with_every_suffix)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} table[] = {
			{"0", 0},
			{"4096", 4096},
			{"4096B", 4096},
			{"8M", 8ULL << 20},
			{"8m", 8ULL << 20},
			{"64KiB", 65536},
			{"64kib", 65536},
			{"100GB", 100ULL << 30},
			{"1.5G", 3ULL << 29},
			{"0.5T", 1ULL << 39},
			{"2P", 2ULL << 50},
			{"9223372036854775807", INT64_MAX},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		uint64_t bytes = 77;
		cr_assert_eq(size_parse(table[i].text, &bytes), 0, "refused %s",
				table[i].text);
		cr_assert_eq(bytes, table[i].bytes, "%s gave %llu",
				table[i].text, (unsigned long long)bytes);
	}
}

Test(size, refuses_anything_else_and_leaves_the_result)
{
	static const struct {
		const char *text;
		int error;
	} table[] = {
			{"", -EINVAL},
			{"M", -EINVAL},
			{" 1", -EINVAL},
			{"1 ", -EINVAL},
			{"1 M", -EINVAL},
			{"+1", -EINVAL},
			{"-1", -EINVAL},
			{"0x10", -EINVAL},
			{"1e3", -EINVAL},
			{"1.", -EINVAL},
			{".5G", -EINVAL},
			{"1.5.5", -EINVAL},
			{"1iB", -EINVAL},
			{"1Ki", -EINVAL},
			{"1KBB", -EINVAL},
			{"1X", -EINVAL},
			{"10%", -EINVAL},
			{"0.1234567890", -EINVAL},
			{"9223372036854775808", -ERANGE},
			{"8192P", -ERANGE},
			{"99999999999999999999999999999999999999999", -ERANGE},
			{"9223372036854775807P", -ERANGE},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		uint64_t bytes = 77;
		cr_assert_eq(size_parse(table[i].text, &bytes), table[i].error,
				"for \"%s\"", table[i].text);
		cr_assert_eq(bytes, 77);
	}
}

Test(size, formats_at_most_three_digits_and_a_letter)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} table[] = {
			{0, "0"},
			{999, "999"},
			{1000, "0.9K"},
			{1024, "1K"},
			{1536, "1.5K"},
			{12 << 10, "12K"},
			{41ULL << 30, "41G"},
			{(1ULL << 20) - 1, "0.9M"},
			{999ULL << 20, "999M"},
			{1000ULL << 20, "0.9G"},
			{200ULL << 30, "200G"},
			{1ULL << 50, "1P"},
			{UINT64_MAX, "15E"},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		char text[16];
		size_format(table[i].bytes, text, sizeof(text));
		cr_assert_str_eq(text, table[i].text);
	}
}

Test(duration, parses_units_and_takes_a_bare_number_for_seconds)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} table[] = {
			{"0", 0},
			{"60", 60000},
			{"60s", 60000},
			{"0.5", 500},
			{"5m", 300000},
			{"1h", 3600000},
			{"1.5h", 5400000},
			{"7d", 604800000},
			{"100ms", 100},
			{"forever", DURATION_FOREVER},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		uint64_t ms = 77;
		cr_assert_eq(duration_parse_ms(table[i].text, &ms), 0);
		cr_assert_eq(ms, table[i].ms, "for %s", table[i].text);
	}
}

Test(duration, refuses_anything_else)
{
	static const struct {
		const char *text;
		int error;
	} table[] = {
			{"", -EINVAL},
			{"s", -EINVAL},
			{"5M", -EINVAL},
			{"5 m", -EINVAL},
			{"-1", -EINVAL},
			{"5min", -EINVAL},
			{"Forever", -EINVAL},
			{"9223372036854775807d", -ERANGE},
			{"9223372036854775808ms", -ERANGE},
	};
	for (size_t i = 0; i < COUNT(table); i++) {
		uint64_t ms = 77;
		cr_assert_eq(duration_parse_ms(table[i].text, &ms),
				table[i].error, "for \"%s\"", table[i].text);
		cr_assert_eq(ms, 77);
	}
}
