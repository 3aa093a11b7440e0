#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cache/disk_tier.h"
#include "main/defaults.h"
#include "main/options.h"
#include "mount_private.h"

static int open_dir(struct mount *mount, const char *dir, bool is_default)
{
	const struct options *options = mount->plan->options;
	struct disk_tier_settings settings = {
			.counters = &mount->counters,
			.dir = dir,
			.dir_is_default = is_default,
			.min_free_bytes = options->min_free.bytes,
			.min_free_percent = options->min_free.percent,
			.verify = (enum disk_verify)options->verify,
	};
	int error = defaults_amount_bytes(
			&options->cache_size, dir, &settings.limit_bytes);

	if (error != 0) {
		(void)snprintf(mount->message, sizeof(mount->message), "%s: %s",
				dir, strerror(-error));
		return error;
	}
	return disk_tier_open(&settings, &mount->disk, mount->message,
			sizeof(mount->message));
}

/* Tries a default place; its trouble is no failure of the mount. */
static bool try_default(struct mount *mount, const char *dir, char *reason,
		size_t reason_size)
{
	enum defaults_place place = defaults_place_of(dir);
	int error = 0;

	if (place != PLACE_LOCAL) {
		(void)snprintf(reason, reason_size, "%s is %s", dir,
				place == PLACE_MEMORY
						? "in memory (tmpfs)"
						: "on a network file system");
		return false;
	}
	error = defaults_make_parents(dir);
	if (error != 0) {
		(void)snprintf(reason, reason_size, "%s: %s", dir,
				strerror(-error));
		return false;
	}
	error = open_dir(mount, dir, true);
	if (error != 0) {
		(void)snprintf(reason, reason_size, "%.400s", mount->message);
		return false;
	}
	return true;
}

static int open_default(struct mount *mount)
{
	CLEANUP_FREE char *first = NULL;
	CLEANUP_FREE char *second = NULL;
	char reason[512] = "no home directory";
	char second_reason[512];
	struct defaults_user user;

	defaults_user_read(&user);
	int error = defaults_cache_dir(&user, &first);

	if (error == -ENOMEM) {
		return error;
	}
	if (first != NULL &&
			try_default(mount, first, reason, sizeof(reason))) {
		return 0;
	}
	error = defaults_cache_dir_second(user.uid, &second);
	if (error != 0) {
		return error;
	}
	if (try_default(mount, second, second_reason, sizeof(second_reason))) {
		mount_note(mount, "cache in %s, as %s", second, reason);
		return 0;
	}
	mount_note(mount, "no disk cache, as %s; name one with cache_dir",
			reason);
	return 0;
}

int mount_cache_open(struct mount *mount)
{
	const char *dir = mount->plan->options->cache_dir;

	if (dir == NULL) {
		return open_default(mount);
	}
	if (strcmp(dir, "none") == 0) {
		return 0;
	}
	return open_dir(mount, dir, false);
}

/* Whether a cache was ever made in `dir`, or in its place in there. */
static bool has_cache(const char *dir)
{
	static const char *const places[] = {"v1", "shardfs/v1"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		CLEANUP_FREE char *path = NULL;

		if (asprintf(&path, "%s/%s", dir, places[i]) < 0) {
			path = NULL;
			return true;
		}
		if (access(path, F_OK) == 0) {
			return true;
		}
	}
	return false;
}

bool mount_cache_is_new(const struct mount *mount)
{
	const char *dir = mount->plan->options->cache_dir;
	CLEANUP_FREE char *first = NULL;
	CLEANUP_FREE char *second = NULL;
	struct defaults_user user;

	if (dir != NULL) {
		return strcmp(dir, "none") != 0 && !has_cache(dir);
	}
	defaults_user_read(&user);
	if (defaults_cache_dir(&user, &first) == 0 && has_cache(first)) {
		return false;
	}
	return defaults_cache_dir_second(user.uid, &second) == 0 &&
	       !has_cache(second);
}
