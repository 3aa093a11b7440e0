#include <criterion/criterion.h>

#include "front/device_private.h"
#include "front/readahead_private.h"

Test(readahead, changes_only_for_a_clear_majority)
{
	static const struct {
		unsigned current, percent, wanted;
	} rows[] = {
			{READAHEAD_LARGE_KIB, 100, READAHEAD_LARGE_KIB},
			{READAHEAD_LARGE_KIB, 50, READAHEAD_LARGE_KIB},
			{READAHEAD_LARGE_KIB, 30, READAHEAD_LARGE_KIB},
			{READAHEAD_LARGE_KIB, 10, READAHEAD_SMALL_KIB},
			{READAHEAD_SMALL_KIB, 0, READAHEAD_SMALL_KIB},
			{READAHEAD_SMALL_KIB, 50, READAHEAD_SMALL_KIB},
			{READAHEAD_SMALL_KIB, 90, READAHEAD_LARGE_KIB},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(readahead_decide(rows[i].current, rows[i].percent),
				rows[i].wanted, "row %zu", i);
	}
}

Test(readahead, a_device_that_is_not_there_is_no_trouble)
{
	struct device device = {4095, 4095};

	cr_expect_not(readahead_set(&device, READAHEAD_LARGE_KIB));
}
