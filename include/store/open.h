#ifndef STORE_OPEN_H
#define STORE_OPEN_H

#include <stdbool.h>
#include <stddef.h>

struct counters;
struct net;
struct store;

struct store_settings {
	struct net *net;	   /* Borrowed; outlives the store. */
	struct counters *counters; /* Borrowed; likewise. */
	const char *endpoint_url;  /* NULL: AWS_ENDPOINT_URL(_S3), config. */
	const char *region;	   /* NULL: environment, config, us-east-1. */
	const char *profile;	   /* NULL: AWS_PROFILE, else "default". */
	const char *sse_c_key_file;
	bool anonymous;
	int path_style; /* -1: by itself, 0: virtual host, 1: path. */
	bool requester_pays;
};

/*
 * Makes the store that `source` names (s3://, file://; others are -ENOTSUP
 * with a message). Nothing is sent. On failure `message` has one line: the
 * thing, the reason, the remedy. -EINVAL for a bad SOURCE (exit status 1)
 * or a bad setting, -EACCES for missing credentials, others as they are. Keys
 * passed to the store are full keys: store_prefix() is not added by the store.
 */
int store_open(const char *source, const struct store_settings *settings,
		struct store **out_store, char *message, size_t message_size);

/* Moves secrets (AWS_SECRET_ACCESS_KEY, …) from the environment into memory
 * that only this room reads, and wipes them there. Call once, before the first
 * store_open and before any thread. */
void store_take_environment(void);

/* Checks the form of SOURCE only: 0, -EINVAL or -ENOTSUP with a message. For
 * `mount.shardfs -f` and for messages before the fork. */
int store_check_source(const char *source, char *message, size_t message_size);

#endif
