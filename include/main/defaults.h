#ifndef MAIN_DEFAULTS_H
#define MAIN_DEFAULTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "main/options.h"

/* The part of the environment that places the default cache directory. */
struct defaults_user {
	uid_t uid;
	const char *xdg_cache_home; /* NULL or "": not set. */
	const char *home;	    /* NULL: none known. */
};

/* Fills `user` from the process and its environment, which owns the strings. */
void defaults_user_read(struct defaults_user *user);

/* Where the cache goes by default. -ENOENT without a home; the caller frees. */
int defaults_cache_dir(const struct defaults_user *user, char **out_dir);
/* The second choice, "/var/tmp/shardfs-UID"; the caller frees. */
int defaults_cache_dir_second(uid_t uid, char **out_dir);

/* Whether the file system that `path` is, or would be, on keeps its files in
 * memory or on another machine. */
enum defaults_place { PLACE_LOCAL, PLACE_MEMORY, PLACE_NETWORK };
enum defaults_place defaults_place_of(const char *path);
/* Pure: by f_type of statfs. */
enum defaults_place defaults_place_of_type(uint64_t f_type);

/* Makes the directories above the last component, as far as they are missing,
 * 0755. */
int defaults_make_parents(const char *path);

/* Bytes of an amount on the file system that `path` is, or would be, on. 0 for
 * an amount that was not given. */
int defaults_amount_bytes(const struct option_amount *amount, const char *path,
		uint64_t *out_bytes);

/*
 * The least memory limit of the process's cgroup and those above it, v1 and
 * v2; UINT64_MAX: none. `root` is "" except in tests.
 */
uint64_t defaults_cgroup_limit(const char *root);

/* Pure: 1 GiB, or a quarter of the limit, at least 16 MiB. */
uint64_t defaults_memory_bytes(uint64_t cgroup_limit);

#endif
