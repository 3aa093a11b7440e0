#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fetch/fetch.h"
#include "main/mount_errors.h"
#include "main/options.h"
#include "main/wait.h"
#include "mount_private.h"
#include "store/store.h"
#include "tree/tree.h"

#define LOG_MODULE "main"
#include "base/log.h"

#define PROBE_MS 3000
#define SLOW_PROBE_MS 15000
#define PAUSE_MS 1000
#define NAMES_MAX 3

struct neighbours {
	struct wait wait;
	size_t prefix_length;
	size_t count;
	struct strbuf names;
};

static void add_names(struct neighbours *neighbours,
		const struct store_page *page, bool prefixes)
{
	for (size_t i = 0; i < page->entry_count; i++) {
		const struct store_entry *entry = &page->entries[i];

		if (entry->is_prefix != prefixes ||
				entry->key_length <=
						neighbours->prefix_length) {
			continue;
		}
		if (neighbours->count < NAMES_MAX) {
			(void)strbuf_printf(&neighbours->names, "%s%s",
					neighbours->count > 0 ? ", " : "",
					entry->key + neighbours->prefix_length);
		} else if (neighbours->count == NAMES_MAX) {
			(void)strbuf_add_text(&neighbours->names, ", …");
		}
		neighbours->count++;
	}
}

/* Directories first: who mistyped one looks for another. */
static int on_page(void *context, const struct store_page *page)
{
	add_names(context, page, true);
	add_names(context, page, false);
	return 0;
}

static void on_listed(void *context, int error, bool more)
{
	struct neighbours *neighbours = context;

	(void)more;
	wait_end(&neighbours->wait, error);
}

/* The directory above a prefix that ends in '/': "a/b/" gives "a/". */
static char *parent_of(const char *prefix)
{
	char *parent = strdup(prefix);

	if (parent == NULL) {
		return NULL;
	}
	parent[strlen(parent) - 1] = '\0';
	char *slash = strrchr(parent, '/');

	parent[slash != NULL ? slash - parent + 1 : 0] = '\0';
	return parent;
}

/* Up to three names that lie beside a prefix with nothing under it. */
static void find_neighbours(struct mount *mount, struct neighbours *neighbours)
{
	static const struct fetch_list_callbacks callbacks = {
			.on_page = on_page,
			.on_done = on_listed,
	};
	CLEANUP_FREE char *parent =
			parent_of(store_prefix(mount->client.store));
	const struct fetch_list_args args = {
			.store = mount->client.store,
			.prefix = parent,
			.max_pages = 1,
	};

	if (parent == NULL) {
		return;
	}
	neighbours->prefix_length = strlen(parent);
	/* Without an answer the message has no names. */
	if (fetch_list(mount->client.fetch, &args, &callbacks, neighbours) ==
			0) {
		(void)wait_for(&neighbours->wait);
	}
}

static void explain_empty(struct mount *mount)
{
	struct neighbours neighbours = {0};

	strbuf_init(&neighbours.names, 1024);
	wait_init(&neighbours.wait);
	find_neighbours(mount, &neighbours);
	const char *names = neighbours.names.text;

	(void)client_explain(&mount->client, mount->plan->source, -ENOENT, NULL,
			names != NULL ? names : "", mount->message,
			sizeof(mount->message));
	wait_finish(&neighbours.wait);
	strbuf_finish(&neighbours.names);
}

static int refuse_object(struct mount *mount)
{
	const char *source = mount->plan->source;
	const char *slash = strrchr(source, '/');

	(void)snprintf(mount->message, sizeof(mount->message),
			"%s: one object, not a directory; mount what holds it: "
			"%.*s",
			source, (int)(slash - source + 1), source);
	return -ENOTDIR;
}

/* What is no obstacle: an empty bucket, and what allow_empty allows. */
static bool is_allowed(struct mount *mount, enum mount_fault fault)
{
	bool allow = mount->plan->options->allow_empty;

	if (fault == MOUNT_FAULT_EMPTY) {
		return allow || store_prefix(mount->client.store)[0] == '\0';
	}
	if (fault == MOUNT_FAULT_DENIED && allow) {
		mount_note(mount,
				"%s may not be listed; known names can be "
				"read",
				mount->plan->source);
		tree_guess_directories(mount->tree);
		return true;
	}
	return false;
}

static void pause_shortly(void)
{
	const struct timespec pause = {.tv_sec = PAUSE_MS / 1000};

	(void)nanosleep(&pause, NULL); /* A signal ends it early. */
}

struct trial {
	struct wait wait;
	char detail[512];
};

static void on_trial(void *context, const struct store_outcome *outcome,
		const struct store_page *page)
{
	struct trial *trial = context;

	(void)page;
	(void)snprintf(trial->detail, sizeof(trial->detail), "%s",
			outcome->detail);
	wait_end(&trial->wait, outcome->error);
}

/*
 * One attempt, of which nothing is kept: why there is no answer. The room fetch
 * asks again and again and has no last word to tell.
 */
static int try_once(struct mount *mount, struct trial *trial)
{
	static const struct store_callbacks_list callbacks = {
			.on_done = on_trial,
	};
	const struct store_list_args args = {
			.prefix = store_prefix(mount->client.store),
			.max_keys = 1,
	};

	wait_init(&trial->wait);
	int error = store_list(
			mount->client.store, &args, &callbacks, trial, NULL);

	if (error == 0) {
		error = wait_for(&trial->wait);
	}
	wait_finish(&trial->wait);
	return error;
}

/* Asks once; an endpoint that refuses is told sooner than a slow one. */
static enum mount_fault ask_once(struct mount *mount, bool *out_is_file)
{
	struct trial trial = {0};
	const char *detail = NULL;
	int error = tree_probe(mount->tree, PROBE_MS, out_is_file);

	if (error == -ETIMEDOUT) {
		error = try_once(mount, &trial);
		detail = trial.detail;
	}
	if (error == 0 && detail != NULL) {
		detail = NULL;
		error = tree_probe(mount->tree, SLOW_PROBE_MS, out_is_file);
	}
	if (error == 0) {
		return MOUNT_FAULT_NONE;
	}
	return client_explain(&mount->client, mount->plan->source, error,
			detail, "", mount->message, sizeof(mount->message));
}

/* Asks until there is an answer or mount_wait is over. */
static enum mount_fault ask(struct mount *mount, bool *out_is_file)
{
	uint64_t deadline = clock_monotonic_ms() +
			    mount->plan->options->mount_wait_ms;

	for (;;) {
		enum mount_fault fault = ask_once(mount, out_is_file);

		if (!mount_fault_passes(fault) ||
				clock_monotonic_ms() >= deadline) {
			return fault;
		}
		log_info("waiting for the source reason=%s", mount->message);
		pause_shortly();
	}
}

int mount_probe(struct mount *mount)
{
	bool is_file = false;
	enum mount_fault fault = ask(mount, &is_file);

	if (is_file) {
		return refuse_object(mount);
	}
	if (fault == MOUNT_FAULT_NONE || is_allowed(mount, fault)) {
		return 0;
	}
	if (fault == MOUNT_FAULT_EMPTY) {
		explain_empty(mount);
	}
	return -EIO;
}
