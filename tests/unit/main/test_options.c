#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/size.h"
#include "main/option_foreign.h"
#include "main/option_table.h"
#include "main/options.h"

static char message[512];

static int set(struct options *options, const char *name, const char *value)
{
	message[0] = '\0';
	return options_set(options, name, value, message, sizeof(message));
}

static int set_list(struct options *options, const char *list)
{
	message[0] = '\0';
	return options_set_list(options, list, false, message, sizeof(message));
}

static bool says(const char *text)
{
	return strstr(message, text) != NULL;
}

Test(options, the_defaults_are_those_of_the_manual)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(options.part_size, 8 << 20);
	cr_assert_eq(options.max_window, 64 << 20);
	cr_assert_eq(options.metadata_ttl_ms, 60000);
	cr_assert_eq(options.timeout_ms, 300000);
	cr_assert_eq(options.max_connections, 64);
	cr_assert_eq(options.retries, 10);
	cr_assert_eq(options.min_free.percent, 10);
	cr_assert_eq(options.file_mode, 0444);
	cr_assert_eq(options.dir_mode, 0555);
	cr_assert_eq(options.uid, getuid());
	cr_assert_eq(options.path_style, -1);
	cr_assert_eq(options.log_level, LOG_INFO);
	cr_assert_eq(options.mount_wait_ms, 0);
	options_finish(&options);
}

Test(options, a_list_may_have_commas_inside_values)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(set_list(&options,
				     "cache_dir=/a\\,b,,region=eu,anonymous"),
			0, "%s", message);
	cr_assert_str_eq(options.cache_dir, "/a,b");
	cr_assert_str_eq(options.region, "eu");
	cr_assert(options.anonymous);
	options_finish(&options);
}

Test(options, words_of_mount_are_taken_and_ignored)
{
	struct options options, defaults;

	/* Padding takes part in the comparison. */
	memset(&options, 0, sizeof(options));
	options_init(&options);
	memcpy(&defaults, &options, sizeof(options));
	cr_assert_eq(set_list(&options,
				     "rw,ro,defaults,auto,noauto,user,users,"
				     "owner,group,nouser,_netdev,nofail,dev,"
				     "suid,exec,nodev,nosuid,noexec,sync,async,"
				     "atime,noatime,relatime,strictatime,"
				     "nodiratime,lazytime,context=a:b,comment="
				     "c,"
				     "x-systemd.automount,X-mount.mkdir=0755"),
			0, "%s", message);
	cr_assert_eq(memcmp(&options, &defaults, sizeof(options)), 0);
}

Test(options, remount_and_unknown_names_are_refused_by_name)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(set_list(&options, "rw,remount"), -EINVAL);
	cr_assert(says("remount"));
	cr_assert_eq(set_list(&options, "no_such=1"), -EINVAL);
	cr_assert(says("no_such"));
	cr_assert_eq(set_list(&options, "cache_dri=/x"), -EINVAL);
	cr_assert(says("did you mean cache_dir?"), "%s", message);
	cr_assert_eq(options_set_list(&options, "no_such=1,region=x", true,
				     message, sizeof(message)),
			0);
	cr_assert_str_eq(options.region, "x");
	options_finish(&options);
}

Test(options, foreign_names_are_translated)
{
	static const struct {
		const char *name;
		const char *ours;
	} cases[] = {
			{"use_cache", "shardfs calls it cache_dir"},
			{"url", "shardfs calls it endpoint_url"},
			{"max-cache-size", "shardfs calls it cache_size"},
			{"no-sign-request", "shardfs calls it anonymous"},
			{"stat-cache-ttl", "shardfs calls it metadata_ttl"},
			{"tmp-path", "shardfs calls it cache_dir"},
			{"vfs-cache-max-size", "shardfs calls it cache_size"},
			{"only-dir", "SOURCE"},
			{"max_read", "leave it out"},
	};
	struct options options;

	options_init(&options);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(set(&options, cases[i].name, "1"), -EINVAL);
		cr_assert(says(cases[i].ours), "%s: %s", cases[i].name,
				message);
	}
}

Test(options, no_foreign_name_hides_one_of_ours)
{
	for (size_t i = 0; i < option_table_count; i++) {
		cr_assert_null(option_foreign_hint(option_table[i].name), "%s",
				option_table[i].name);
		cr_assert_not(option_mount_word(option_table[i].name));
	}
}

Test(options, sizes_have_units_and_limits)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(set(&options, "cache_size", "1.5G"), 0, "%s", message);
	cr_assert_eq(options.cache_size.bytes, 3ULL << 29);
	cr_assert_eq(set(&options, "cache_size", "10240"), -EINVAL);
	cr_assert(says("did you mean 10240M?"), "%s", message);
	cr_assert_eq(set(&options, "cache_size", "1"), -EINVAL);
	cr_assert_eq(set(&options, "cache_size", "8M"), -EINVAL);
	cr_assert(says("16M"), "%s", message);
	cr_assert_eq(set(&options, "cache_size", "20%"), 0);
	cr_assert_eq(options.cache_size.percent, 20);
	cr_assert_eq(options.cache_size.bytes, 0);
	cr_assert_eq(set(&options, "cache_size", "16777216"), 0);
	cr_assert_eq(options.cache_size.bytes, 16 << 20);
	cr_assert_eq(options.cache_size.percent, 0);
	cr_assert_eq(set(&options, "memory", "1M"), -EINVAL);
	cr_assert_eq(set(&options, "memory", "-1G"), -EINVAL);
	cr_assert_eq(set(&options, "memory", "20%"), -EINVAL);
	cr_assert_eq(set(&options, "part_size", "8Q"), -EINVAL);
	cr_assert_eq(set(&options, "part_size", ""), -EINVAL);
	cr_assert_eq(set(&options, "part_size", NULL), -EINVAL);
	cr_assert_eq(options.part_size, 8 << 20);
}

Test(options, shares_are_one_to_a_hundred_percent)
{
	static const char *const bad[] = {
			"0%", "101%", "%", "-5%", "5%%", "1.5%", "x%"};
	struct options options;

	options_init(&options);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(set(&options, "min_free", bad[i]), -EINVAL, "%s",
				bad[i]);
	}
	cr_assert_eq(options.min_free.percent, 10);
	cr_assert_eq(set(&options, "min_free", "100%"), 0);
	cr_assert_eq(options.min_free.percent, 100);
}

Test(options, only_metadata_may_hold_forever)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(set(&options, "metadata_ttl", "forever"), 0);
	cr_assert_eq(options.metadata_ttl_ms, DURATION_FOREVER);
	cr_assert_eq(set(&options, "metadata_ttl", "0"), 0);
	cr_assert_eq(options.metadata_ttl_ms, 0);
	cr_assert_eq(set(&options, "timeout", "forever"), -EINVAL);
	cr_assert_eq(set(&options, "timeout", "0"), -EINVAL);
	cr_assert_eq(set(&options, "timeout", "90"), 0);
	cr_assert_eq(options.timeout_ms, 90000);
	cr_assert_eq(set(&options, "timeout", "soon"), -EINVAL);
}

Test(options, counts_modes_and_users_are_checked)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(set(&options, "max_connections", "0"), -EINVAL);
	cr_assert_eq(set(&options, "max_connections", "1e3"), -EINVAL);
	cr_assert_eq(set(&options, "max_connections", "99999999999999999999"),
			-EINVAL);
	cr_assert_eq(set(&options, "file_mode", "0644"), 0);
	cr_assert_eq(options.file_mode, 0644);
	cr_assert_eq(set(&options, "file_mode", "888"), -EINVAL);
	cr_assert_eq(set(&options, "file_mode", "01777"), -EINVAL);
	cr_assert_eq(set(&options, "uid", "root"), 0);
	cr_assert_eq(options.uid, 0);
	cr_assert_eq(set(&options, "uid", "4294967295"), -EINVAL);
	cr_assert_eq(set(&options, "uid", "no such user"), -EINVAL);
	cr_assert_eq(set(&options, "gid", "no such group"), -EINVAL);
}

Test(options, words_are_checked_and_later_words_named)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(set(&options, "verify", "sometimes"), -EINVAL);
	cr_assert(says("once|always|never"));
	cr_assert_eq(set(&options, "eviction", "epoch"), -EINVAL);
	cr_assert(says("eviction=epoch is not in this version"));
	cr_assert_eq(set(&options, "anonymous", "perhaps"), -EINVAL);
	cr_assert_eq(set(&options, "path_style", "no"), 0);
	cr_assert_eq(options.path_style, 0);
	cr_assert_eq(set(&options, "path_style", NULL), 0);
	cr_assert_eq(options.path_style, 1);
}

Test(options, relative_paths_are_made_absolute_and_none_stays)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(chdir("/usr"), 0);
	cr_assert_eq(set(&options, "cache_dir", "share/x"), 0);
	cr_assert_str_eq(options.cache_dir, "/usr/share/x");
	cr_assert_eq(set(&options, "cache_dir", "none"), 0);
	cr_assert_str_eq(options.cache_dir, "none");
	cr_assert_eq(set(&options, "env_file", "none"), 0);
	cr_assert_str_eq(options.env_file, "/usr/none");
	options_finish(&options);
}

Test(options, one_source_is_taken_and_a_second_refused)
{
	struct options options;

	options_init(&options);
	cr_assert_eq(set(&options, "source", "a=s3://b/p"), -EINVAL);
	cr_assert(says("not in this version"));
	cr_assert_eq(set(&options, "source", "/data"), -EINVAL);
	cr_assert_eq(set(&options, "source", "s3://b/p=1"), 0);
	cr_assert_str_eq(options.source, "s3://b/p=1");
	cr_assert_eq(set(&options, "source", "s3://c"), -EINVAL);
	options_finish(&options);
}

/* As mount(8) passes on what SELinux wants. */
Test(options, what_is_in_quotes_is_one_value)
{
	struct options options;

	options_init(&options);
	cr_expect_eq(options_set_list(&options,
				     "rw,context=\"u:r:t:s0:c127,c456\","
				     "region=eu,comment=\"a,profile=p",
				     false, message, sizeof(message)),
			0, "%s", message);
	cr_expect_str_eq(options.region, "eu");
	cr_expect_str_eq(options.profile, "p");
	options_finish(&options);
}
