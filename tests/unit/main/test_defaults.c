#include <criterion/criterion.h>

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "main/defaults.h"

Test(defaults, the_cache_lies_where_the_manual_says)
{
	static const struct {
		struct defaults_user user;
		const char *dir;
	} cases[] = {
			{{0, "/xdg", "/root"}, "/var/cache/shardfs"},
			{{7, "/xdg", "/home/u"}, "/xdg/shardfs"},
			{{7, "", "/home/u"}, "/home/u/.cache/shardfs"},
			{{7, NULL, "/home/u"}, "/home/u/.cache/shardfs"},
			{{7, "relative", "/home/u"}, "/home/u/.cache/shardfs"},
	};
	const struct defaults_user homeless = {7, NULL, NULL};
	char *dir = NULL;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(defaults_cache_dir(&cases[i].user, &dir), 0);
		cr_assert_str_eq(dir, cases[i].dir);
		free(dir);
	}
	cr_assert_eq(defaults_cache_dir(&homeless, &dir), -ENOENT);
	cr_assert_eq(defaults_cache_dir_second(7, &dir), 0);
	cr_assert_str_eq(dir, "/var/tmp/shardfs-7");
	free(dir);
}

Test(defaults, file_systems_are_told_apart)
{
	cr_assert_eq(defaults_place_of_type(TMPFS_MAGIC), PLACE_MEMORY);
	cr_assert_eq(defaults_place_of_type(NFS_SUPER_MAGIC), PLACE_NETWORK);
	cr_assert_eq(defaults_place_of_type(0xFFFFFFFFFF534D42ULL),
			PLACE_NETWORK);
	cr_assert_eq(defaults_place_of_type(EXT4_SUPER_MAGIC), PLACE_LOCAL);
	cr_assert_eq(defaults_place_of_type(OVERLAYFS_SUPER_MAGIC),
			PLACE_LOCAL);
	cr_assert_eq(defaults_place_of("/dev/shm/no/such/dir"), PLACE_MEMORY);
}

Test(defaults, shares_are_of_the_file_system)
{
	const struct option_amount half = {.percent = 50};
	const struct option_amount fixed = {.bytes = 12345};
	struct statvfs status;
	uint64_t bytes = 0;

	cr_assert_eq(statvfs("/tmp", &status), 0);
	cr_assert_eq(defaults_amount_bytes(&half, "/tmp/no/such", &bytes), 0);
	cr_assert_eq(bytes,
			(uint64_t)status.f_blocks * status.f_frsize / 100 * 50);
	cr_assert_eq(defaults_amount_bytes(&fixed, "/tmp", &bytes), 0);
	cr_assert_eq(bytes, 12345);
}

Test(defaults, memory_is_a_gibibyte_or_a_quarter)
{
	cr_assert_eq(defaults_memory_bytes(UINT64_MAX), 1ULL << 30);
	cr_assert_eq(defaults_memory_bytes(8ULL << 30), 1ULL << 30);
	cr_assert_eq(defaults_memory_bytes(512ULL << 20), 128ULL << 20);
	cr_assert_eq(defaults_memory_bytes(1), 16ULL << 20);
}

static char root[] = "/tmp/shardfs-cgroup-XXXXXX";

static void make_root(void)
{
	cr_assert_not_null(mkdtemp(root));
}

static void put(const char *path, const char *text)
{
	CLEANUP_FREE char *whole = NULL;

	cr_assert_gt(asprintf(&whole, "%s/%s", root, path), 0);
	cr_assert_eq(defaults_make_parents(whole), 0);
	FILE *file = fopen(whole, "w");

	cr_assert_not_null(file);
	cr_assert_geq(fputs(text, file), 0);
	(void)fclose(file);
}

static void drop_root(void)
{
	CLEANUP_FREE char *command = NULL;

	cr_assert_gt(asprintf(&command, "rm -r %s", root), 0);
	cr_assert_eq(system(command), 0);
}

Test(defaults, the_unified_limit_is_the_least_upwards, .init = make_root,
		.fini = drop_root)
{
	put("proc/self/cgroup", "0::/a/b\n");
	put("sys/fs/cgroup/a/b/memory.max", "max\n");
	cr_assert_eq(defaults_cgroup_limit(root), UINT64_MAX);
	put("sys/fs/cgroup/a/memory.max", "4000000\n");
	cr_assert_eq(defaults_cgroup_limit(root), 4000000);
	put("sys/fs/cgroup/a/b/memory.max", "3000000\n");
	cr_assert_eq(defaults_cgroup_limit(root), 3000000);
}

Test(defaults, the_limit_of_version_one_counts_too, .init = make_root,
		.fini = drop_root)
{
	put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job/1\n0::/\n");
	put("sys/fs/cgroup/memory/job/1/memory.limit_in_bytes",
			"9223372036854771712\n");
	cr_assert_eq(defaults_cgroup_limit(root), UINT64_MAX);
	/* In a container only the root is there. */
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n");
	cr_assert_eq(defaults_cgroup_limit(root), 5000000);
}

Test(defaults, no_cgroup_is_no_limit, .init = make_root, .fini = drop_root)
{
	cr_assert_eq(defaults_cgroup_limit(root), UINT64_MAX);
	put("proc/self/cgroup", "nonsense\n1:x\n");
	cr_assert_eq(defaults_cgroup_limit(root), UINT64_MAX);
}
