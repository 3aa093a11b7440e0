#include "main/option_table.h"

#include <stdbool.h>
#include <string.h>

#include "main/options.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* The row of an option that is not in this version: nothing is stored. */
#define NOWHERE .offset = 0
#define AT(field) .offset = offsetof(struct options, field)

const struct option_entry option_table[] = {
		{"cache_dir", OPTION_PATH, "DIR",
				"root: /var/cache/shardfs; else "
				"~/.cache/shardfs",
				"where blocks are kept; none: in memory only",
				AT(cache_dir), .words = "none"},
		{"cache_size", OPTION_AMOUNT, "SIZE",
				"80% of the free space; 25% on the root file "
				"system",
				"hard limit of the cache directory, index "
				"included",
				AT(cache_size), .least = 16 * MIB},
		{"min_free", OPTION_AMOUNT, "SIZE", "10%",
				"leave this much of the cache's file system "
				"free",
				AT(min_free)},
		{"memory", OPTION_SIZE, "SIZE",
				"1G, or a quarter of the cgroup's limit",
				"hard limit of all buffers", AT(memory_bytes),
				.least = 16 * MIB},
		{"metadata_ttl", OPTION_DURATION, "TIME", "60s",
				"how long listings and \"not there\" hold; 0; "
				"forever",
				AT(metadata_ttl_ms), .words = "forever"},
		{"mount_wait", OPTION_DURATION, "TIME",
				"0; 60s when called by mount(8)",
				"keep trying to reach the source for so long",
				AT(mount_wait_ms), .most = (uint64_t)86400000},
		{"endpoint_url", OPTION_TEXT, "URL",
				"AWS environment and files",
				"an S3-compatible store", AT(endpoint_url)},
		{"region", OPTION_TEXT, "NAME", "AWS environment and files",
				"region to sign for", AT(region)},
		{"profile", OPTION_TEXT, "NAME", "AWS_PROFILE, else default",
				"profile of the AWS configuration files",
				AT(profile)},
		{"anonymous", OPTION_FLAG, NULL, "off", "do not sign requests",
				AT(anonymous)},
		{"path_style", OPTION_TRISTATE, NULL, "as the endpoint needs",
				"bucket in the path; path_style=no: in the "
				"host name",
				AT(path_style)},
		{"requester_pays", OPTION_FLAG, NULL, "off",
				"agree to pay for requests",
				AT(requester_pays)},
		{"sse_c_key_file", OPTION_PATH, "FILE", "none",
				"key of objects encrypted with SSE-C",
				AT(sse_c_key_file)},
		{"env_file", OPTION_PATH, "FILE", "none",
				"NAME=value lines read as if they were the "
				"environment",
				AT(env_file)},
		{"ca_bundle", OPTION_PATH, "FILE", "the system's",
				"certificates to trust", AT(ca_bundle)},
		{"proxy", OPTION_TEXT, "URL", "https_proxy, no_proxy",
				"proxy for the store", AT(proxy)},
		{"bind_interface", OPTION_TEXT, "NAME", "any",
				"network interface or address to use",
				AT(bind_interface)},
		{"manifest", OPTION_LATER, "FILE", "none",
				"the objects to show; no listing", NOWHERE},
		{"source", OPTION_SOURCE, "URL", "none",
				"the source, where the command line names none",
				AT(source)},
		{"allow_empty", OPTION_FLAG, NULL, "off",
				"mount a prefix with nothing under it, or one "
				"that "
				"may not be listed",
				AT(allow_empty)},
		{"part_size", OPTION_SIZE, "SIZE", "8M",
				"largest range request", AT(part_size),
				.least = 64 * KIB, .most = GIB},
		{"max_window", OPTION_SIZE, "SIZE", "64M",
				"largest read-ahead of one stream",
				AT(max_window), .least = 64 * KIB,
				.most = 64 * GIB},
		{"max_connections", OPTION_COUNT, "N", "64",
				"most transfers at once", AT(max_connections),
				.least = 1, .most = 4096},
		{"max_rate", OPTION_SIZE, "SIZE", "none", "most bytes a second",
				AT(max_rate), .least = 64 * KIB},
		{"timeout", OPTION_DURATION, "TIME", "5m",
				"how long a read waits without a byte before "
				"it fails",
				AT(timeout_ms), .least = 1000},
		{"retries", OPTION_COUNT, "N", "10",
				"attempts in all at a request that keeps "
				"failing",
				AT(retries), .least = 1, .most = 1000},
		{"verify", OPTION_CHOICE, "WHEN", "once",
				"check cached blocks: once since boot, always, "
				"never",
				AT(verify), .words = "once|always|never"},
		{"eviction", OPTION_CHOICE, "RULE", "lru",
				"what the cache gives up", AT(eviction),
				.words = "lru", .later = "epoch"},
		{"max_age", OPTION_LATER, "TIME", "none",
				"drop what was not used for so long", NOWHERE},
		{"wipe_on_unmount", OPTION_LATER, NULL, "off",
				"empty the cache at unmount", NOWHERE},
		{"encrypt", OPTION_LATER, "HOW", "off",
				"ephemeral, or keyfile:FILE", NOWHERE},
		{"request_limit", OPTION_LATER, "N/PERIOD", "none",
				"most requests an hour, day or month", NOWHERE},
		{"egress_limit", OPTION_LATER, "SIZE/PERIOD", "none",
				"most bytes from the store an hour, day or "
				"month",
				NOWHERE},
		{"limit_action", OPTION_LATER, "WHAT", "warn",
				"warn, noprefetch or fail at a limit", NOWHERE},
		{"price_table", OPTION_PATH, "FILE",
				"requests at list price, egress 0",
				"prices behind the estimate of cost",
				AT(price_table)},
		{"uid", OPTION_USER, "USER", "the caller", "owner of the files",
				AT(uid)},
		{"gid", OPTION_GROUP, "GROUP", "the caller's",
				"group of the files", AT(gid)},
		{"file_mode", OPTION_MODE, "MODE", "0444",
				"mode of files, octal", AT(file_mode)},
		{"dir_mode", OPTION_MODE, "MODE", "0555",
				"mode of directories, octal", AT(dir_mode)},
		{"allow_other", OPTION_FLAG, NULL, "off",
				"let other users read the mount",
				AT(allow_other)},
		{"log_level", OPTION_CHOICE, "LEVEL", "info",
				"error, warn, info or debug", AT(log_level),
				.words = "error|warn|info|debug"},
		{"log_file", OPTION_PATH, "FILE", "syslog; stderr with -f",
				"where the log goes", AT(log_file)},
		{"metrics_listen", OPTION_LATER, "WHERE", "off",
				"serve Prometheus text on a port or socket",
				NOWHERE},
		{"metrics_file", OPTION_PATH, "FILE", "off",
				"write Prometheus text every 15 s",
				AT(metrics_file)},
};
const size_t option_table_count =
		sizeof(option_table) / sizeof(option_table[0]);

static char plain(char c)
{
	return c == '-' ? '_' : c;
}

int option_name_equal(const char *a, const char *b)
{
	while (*a != '\0' && plain(*a) == plain(*b)) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct option_entry *option_table_find(const char *name)
{
	for (size_t i = 0; i < option_table_count; i++) {
		if (option_name_equal(option_table[i].name, name)) {
			return &option_table[i];
		}
	}
	return NULL;
}

#define NAME_MAX_LENGTH 32

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, by rows. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t width = strlen(b);
	size_t row[NAME_MAX_LENGTH + 1];

	for (size_t j = 0; j <= width; j++) {
		row[j] = j;
	}
	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < width; j++) {
			size_t swap = diagonal + (plain(a[i]) != plain(b[j]));

			diagonal = row[j + 1];
			row[j + 1] = least(swap, least(row[j], row[j + 1]) + 1);
		}
	}
	return row[width];
}

const char *option_table_nearest(const char *name)
{
	const char *best = NULL;
	size_t best_distance = least(4, strlen(name) / 2 + 1);

	if (strlen(name) > NAME_MAX_LENGTH) {
		return NULL;
	}
	for (size_t i = 0; i < option_table_count; i++) {
		size_t distance = edit_distance(name, option_table[i].name);

		if (distance < best_distance) {
			best_distance = distance;
			best = option_table[i].name;
		}
	}
	return best;
}
