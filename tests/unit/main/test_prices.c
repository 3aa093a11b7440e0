#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "main/prices.h"

static char message[512];

static int parse(struct prices *prices, const char *text)
{
	CLEANUP_FREE char *copy = strdup(text);

	prices_defaults(prices);
	return prices_parse("/p", copy, prices, message, sizeof(message));
}

Test(prices, requests_cost_their_list_price_and_bytes_nothing)
{
	struct counters counters = {0};
	struct prices prices;

	prices_defaults(&prices);
	cr_assert_eq(prices_estimate(&prices, &counters), 0);
	counters_add(&counters.requests_get, 1000);
	cr_assert_eq(prices_estimate(&prices, &counters), 400000);
	counters_add(&counters.requests_list, 1000);
	cr_assert_eq(prices_estimate(&prices, &counters), 5400000);
	counters_add(&counters.requests_head, 1);
	counters_add(&counters.bytes_store, 1ULL << 40);
	cr_assert_eq(prices_estimate(&prices, &counters), 5400400);
}

Test(prices, a_file_replaces_them)
{
	struct counters counters = {0};
	struct prices prices;

	cr_assert_eq(parse(&prices, "# mine\n"
				    "get_per_1000 = 0.001\n"
				    "egress_per_gib=0.09\n"),
			0, "%s", message);
	cr_assert_eq(prices.get, 1000);
	cr_assert_eq(prices.list, 5000);
	cr_assert_eq(prices.egress_gib, 90000000);
	counters_add(&counters.bytes_store, 3ULL << 29);
	cr_assert_eq(prices_estimate(&prices, &counters), 135000000);
}

Test(prices, an_estimate_never_wraps)
{
	struct counters counters = {0};
	struct prices prices;

	cr_assert_eq(parse(&prices, "get_per_1000 = 1000000\n"), 0);
	counters_add(&counters.requests_get, UINT64_MAX);
	cr_assert_eq(prices_estimate(&prices, &counters), UINT64_MAX);
}

Test(prices, bad_files_change_nothing)
{
	static const char *const bad[] = {"get_per_1000 = x", "get = 1",
			"get_per_1000", "get_per_1000 = -1",
			"get_per_1000 = nan", "get_per_1000 = 1 USD"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct prices prices;

		cr_assert_eq(parse(&prices, bad[i]), -EINVAL, "%s", bad[i]);
		cr_assert(strstr(message, "/p line 1") != NULL, "%s", message);
		cr_assert_eq(prices.get, 400);
	}
}
