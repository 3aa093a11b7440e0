#ifndef MAIN_CLIENT_H
#define MAIN_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "main/mount_errors.h"

struct counters;
struct fetch;
struct net;
struct options;
struct store;

/* The lower rooms for one source: what a mount and `ls`, `cat` share. */
struct client {
	struct net *net;
	struct store *store;
	struct fetch *fetch;
};

/*
 * Reads env_file, raises the limits of the process, takes secrets from the
 * environment and opens the rooms from the bottom up. Starts threads. On
 * failure nothing is left open and `message` has one line; -EINVAL: a bad
 * SOURCE or option.
 */
int client_open(const char *source, const struct options *options,
		struct counters *counters, struct client *out_client,
		char *message, size_t message_size);
/*
 * Why a call for `source` failed, as one line for people. `detail` is the
 * failure in the store's words, NULL: the newest that fetch gave up for.
 * `neighbours` is what is there instead, "" if that is not known. Returns the
 * fault.
 */
enum mount_fault client_explain(const struct client *client, const char *source,
		int error, const char *detail, const char *neighbours,
		char *message, size_t message_size);

/* Who signs, which endpoint and region, on stderr: for -v. */
void client_describe(const struct client *client);

/* In reverse; ends what is under way. */
void client_close(struct client *client);

#endif
