#include <criterion/criterion.h>
#include <errno.h>

#include "../../../src/tree/lookup_rule_private.h"

Test(lookup_rule, decides_by_what_is_known)
{
	const struct {
		struct lookup_facts facts;
		enum lookup_action action;
	} table[] = {
			{{0}, LOOKUP_PROBE},
			{{.index_unread = true}, LOOKUP_READ_INDEX},
			{{.asked_before = true}, LOOKUP_LIST},
			{{.asked_before = true, .index_unread = true},
					LOOKUP_READ_INDEX},
			{{.probing_now = true, .asked_before = true},
					LOOKUP_JOIN_PROBE},
			{{.probing_now = true,
					 .asked_before = true,
					 .index_unread = true},
					LOOKUP_JOIN_PROBE},
			{{.listing_now = true, .asked_before = true},
					LOOKUP_JOIN_LISTING},
			{{.listing_now = true, .probing_now = true},
					LOOKUP_JOIN_LISTING},
			{{.probe_fresh = true,
					 .asked_before = true,
					 .listing_now = true},
					LOOKUP_ANSWER_PROBE},
			{{.listing_fresh = true, .probe_fresh = true},
					LOOKUP_ANSWER_LISTING},
			{{.denied = true, .asked_before = true}, LOOKUP_PROBE},
			{{.denied = true, .listing_now = true}, LOOKUP_PROBE},
			{{.denied = true, .probing_now = true},
					LOOKUP_JOIN_PROBE},
			{{.denied = true, .probe_fresh = true},
					LOOKUP_ANSWER_PROBE},
			{{.denied = true, .listing_fresh = true},
					LOOKUP_ANSWER_LISTING},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		cr_expect_eq(lookup_decide(&table[i].facts), table[i].action,
				"row %zu", i);
	}
}

Test(lookup_rule, absence_needs_both_answers)
{
	const struct {
		int head, list;
		bool any;
		enum probe_kind kind;
		int error;
	} table[] = {
			{0, 0, false, PROBE_FILE, 0},
			{0, 0, true, PROBE_DIR, 0},
			{-ENOENT, 0, true, PROBE_DIR, 0},
			{-EIO, 0, true, PROBE_DIR, 0},
			{-EACCES, 0, true, PROBE_DIR, 0},
			{-ENOENT, 0, false, PROBE_ABSENT, 0},
			{-ENOENT, -ENOENT, false, PROBE_ABSENT, 0},
			{0, -ENOENT, false, PROBE_FILE, 0},
			{0, -EACCES, false, PROBE_FILE, 0},
			{0, -EIO, false, PROBE_ERROR, -EIO},
			{0, -EIO, true, PROBE_ERROR, -EIO},
			{-ENOENT, -EACCES, false, PROBE_ERROR, -EACCES},
			{-ENOENT, -EIO, false, PROBE_ERROR, -EIO},
			{-EACCES, 0, false, PROBE_ERROR, -EACCES},
			{-EACCES, -EACCES, false, PROBE_ERROR, -EACCES},
			{-EACCES, -EIO, false, PROBE_ERROR, -EIO},
			{-EIO, -EACCES, false, PROBE_ERROR, -EIO},
			{-EIO, 0, false, PROBE_ERROR, -EIO},
			{-ESTALE, 0, false, PROBE_ERROR, -EIO},
			{-ECANCELED, -ECANCELED, false, PROBE_ERROR, -EIO},
			{-ENOENT, -ECANCELED, false, PROBE_ERROR, -EIO},
			{-ENOENT, -EDQUOT, false, PROBE_ERROR, -EDQUOT},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int error = 0;
		cr_expect_eq(probe_combine(table[i].head, table[i].list,
					     table[i].any, &error),
				table[i].kind, "row %zu", i);
		cr_expect_eq(error, table[i].error, "row %zu", i);
	}
}

Test(lookup_rule, only_refusals_may_hide_a_directory)
{
	cr_expect(probe_may_be_unlisted(-ENOENT, -EACCES));
	cr_expect(probe_may_be_unlisted(-EACCES, -EACCES));
	cr_expect_not(probe_may_be_unlisted(0, -EACCES));
	cr_expect_not(probe_may_be_unlisted(-EIO, -EACCES));
	cr_expect_not(probe_may_be_unlisted(-ENOENT, -EIO));
	cr_expect_not(probe_may_be_unlisted(-EACCES, 0));
}
