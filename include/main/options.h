#ifndef MAIN_OPTIONS_H
#define MAIN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A size, or a share of the file system's size. */
struct option_amount {
	uint64_t bytes;
	unsigned percent; /* 0: `bytes` counts. */
};

/*
 * What a user may set, as the option table (option_table.h) says. Strings are
 * owned, NULL where not given; paths are absolute.
 */
struct options {
	char *cache_dir;		 /* "none": memory only. */
	struct option_amount cache_size; /* Zero: the directory's own. */
	struct option_amount min_free;
	uint64_t memory_bytes; /* 0: the default. */
	uint64_t metadata_ttl_ms;
	uint64_t mount_wait_ms;
	char *endpoint_url;
	char *region;
	char *profile;
	bool anonymous;
	int path_style; /* -1: as the endpoint suggests. */
	bool requester_pays;
	char *sse_c_key_file;
	char *env_file;
	char *ca_bundle;
	char *proxy;
	char *bind_interface;
	char *source; /* For a configuration file without SOURCE. */
	bool allow_empty;
	uint64_t part_size;
	uint64_t max_window;
	uint64_t max_connections;
	uint64_t max_rate; /* Bytes a second; 0: none. */
	uint64_t timeout_ms;
	uint64_t retries;
	int verify;   /* Of enum disk_verify. */
	int eviction; /* 0: lru. */
	char *price_table;
	uid_t uid;
	gid_t gid;
	mode_t file_mode;
	mode_t dir_mode;
	bool allow_other;
	int log_level; /* Of enum log_level. */
	char *log_file;
	char *metrics_file;
};

/* The defaults of the table; uid and gid are the caller's. */
void options_init(struct options *options);
void options_finish(struct options *options);

/*
 * Sets one option. `name` may have hyphens or underscores; `value` is NULL for
 * a name alone. -EINVAL with one line in `message` for an unknown name, a bad
 * value, or an option that is not in this version; -ENOMEM.
 */
int options_set(struct options *options, const char *name, const char *value,
		char *message, size_t message_size);

/*
 * Sets what a list as in `-o a=b,c` says; `\,` is a comma inside a value.
 * Words of mount(8) are taken and ignored. If `sloppy`, unknown names are
 * skipped with a warning on stderr.
 */
int options_set_list(struct options *options, const char *list, bool sloppy,
		char *message, size_t message_size);

#endif
