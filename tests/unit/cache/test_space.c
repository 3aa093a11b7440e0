#include <criterion/criterion.h>

#include "cache/index_private.h"
#include "cache/space_private.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

Test(space, free_and_used_never_pass_the_limit)
{
	static const struct index_totals cases[] = {
			{.limit_bytes = 16 * MIB},
			{.limit_bytes = 16 * MIB, .block_bytes = 4 * MIB},
			{.limit_bytes = 16 * MIB, .block_bytes = 17 * MIB},
			{.limit_bytes = 16 * MIB, .granted_bytes = 15 * MIB},
			{.limit_bytes = 16 * MIB, .object_count = 100000},
			{.limit_bytes = 16 * MIB, .page_bytes = 16 * MIB},
			{.limit_bytes = 16 * MIB, .log_bytes = 9 * MIB},
			{.limit_bytes = 1024 * GIB, .block_bytes = 1000 * GIB},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t used = space_used_bytes(&cases[i]);
		uint64_t room = space_free_bytes(&cases[i]);
		if (room > 0) {
			cr_expect_leq(used + room,
					cases[i].limit_bytes / 100 * 99 + 100);
		} else {
			cr_expect_geq(used, cases[i].limit_bytes / 100 * 99);
		}
	}
}

Test(space, everything_on_the_disk_counts)
{
	struct index_totals none = {.limit_bytes = GIB};
	uint64_t base = space_used_bytes(&none);
	struct index_totals some = {
			.limit_bytes = GIB,
			.block_bytes = 1000,
			.granted_bytes = 100,
			.object_count = 1,
			.page_bytes = 8192,
	};
	cr_expect_eq(space_used_bytes(&some),
			base + 1000 + 100 + 4096 + 256 + 8192);
	some.object_count = 1000;
	cr_expect_eq(space_used_bytes(&some),
			base + 1000 + 100 + 256 * 4096 + 256000 + 8192);
	some.log_bytes = 10 * MIB;
	cr_expect_gt(space_used_bytes(&some), 10 * MIB);
}

Test(space, the_default_limit_spares_the_root_file_system)
{
	static const struct {
		struct space_default facts;
		uint64_t limit;
	} cases[] = {
			{{100 * GIB, false}, 80 * GIB},
			{{100 * GIB, true}, 25 * GIB},
			{{1000 * GIB, true}, 100 * GIB},
			{{1000 * GIB, false}, 800 * GIB},
			{{MIB, false}, 16 * MIB},
			{{0, true}, 16 * MIB},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(space_default_limit(&cases[i].facts),
				cases[i].limit, "case %zu", i);
	}
}

Test(space, the_larger_floor_counts)
{
	struct space_disk disk = {.size_bytes = 1000, .available_bytes = 300};
	static const struct {
		struct space_floor floor;
		uint64_t above;
	} cases[] = {
			{{0, 0}, 300},
			{{0, 10}, 200},
			{{250, 10}, 50},
			{{250, 0}, 50},
			{{301, 0}, 0},
			{{0, 31}, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(space_above_floor(&disk, &cases[i].floor),
				cases[i].above, "case %zu", i);
	}
}

Test(space, files_have_a_floor_where_the_file_system_counts_them)
{
	struct space_floor floor = {.min_free_percent = 10};
	struct space_disk disk = {.file_count = 0, .available_files = 0};
	cr_expect(space_has_files(&disk, &floor));
	disk = (struct space_disk){.file_count = 2000, .available_files = 201};
	cr_expect(space_has_files(&disk, &floor));
	disk.available_files = 200;
	cr_expect_not(space_has_files(&disk, &floor));
	floor.min_free_percent = 0;
	disk.available_files = 16;
	cr_expect_not(space_has_files(&disk, &floor));
}

Test(space, grants_are_a_small_part_of_the_limit)
{
	cr_expect_leq(space_grant_bytes(16 * MIB), MIB);
	cr_expect_eq(space_grant_bytes(1000 * GIB), 64 * MIB);
}
