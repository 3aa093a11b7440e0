#include <criterion/criterion.h>

#include "cache/victim_private.h"

Test(victim, is_never_a_chunk_in_use)
{
	static const struct {
		struct victim_facts facts;
		enum victim_verdict verdict;
	} cases[] = {
			{{.listed_use = 5, .last_use = 5}, VICTIM_TAKE},
			{{.listed_use = 5, .last_use = 0}, VICTIM_TAKE},
			{{.listed_use = 5, .last_use = 6}, VICTIM_USED_SINCE},
			{{.listed_use = 5, .last_use = 5, .pinned = true},
					VICTIM_BUSY},
			{{.listed_use = 5, .last_use = 5, .unmerged = true},
					VICTIM_BUSY},
			{{.listed_use = 5, .last_use = 5, .wanted = true},
					VICTIM_BUSY},
			{{.listed_use = 5, .last_use = 6, .pinned = true},
					VICTIM_BUSY},
			{{.listed_use = 5, .last_use = 6, .last_resort = true},
					VICTIM_TAKE},
			{{.pinned = true, .last_resort = true}, VICTIM_BUSY},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(victim_judge(&cases[i].facts), cases[i].verdict,
				"case %zu", i);
	}
}

Test(victim, gives_way_to_anything_newer)
{
	cr_expect(victim_admits(&(struct victim_admission){
			.now = 10, .victim_use = 9}));
	cr_expect(victim_admits(&(struct victim_admission){
			.now = 10, .victim_use = 10}));
	cr_expect_not(victim_admits(&(struct victim_admission){
			.now = 10, .victim_use = 11}));
}
