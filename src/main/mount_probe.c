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

/* Enough for a slow but healthy store; a dead one is told sooner. */
#define PROBE_MS 15000
#define PAUSE_MS 1000
#define NAMES_MAX 3

struct neighbours {
	struct wait wait;
	size_t prefix_length;
	size_t count;
	struct strbuf names;
};

static int on_page(void *context, const struct store_page *page)
{
	struct neighbours *neighbours = context;

	for (size_t i = 0; i < page->entry_count; i++) {
		const struct store_entry *entry = &page->entries[i];

		if (entry->key_length <= neighbours->prefix_length) {
			continue;
		}
		if (neighbours->count == NAMES_MAX) {
			return strbuf_add_text(&neighbours->names, ", …");
		}
		(void)strbuf_printf(&neighbours->names, "%s%s",
				neighbours->count > 0 ? ", " : "",
				entry->key + neighbours->prefix_length);
		neighbours->count++;
	}
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

	(void)client_explain(&mount->client, mount->plan->source, -ENOENT,
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
		return true;
	}
	return false;
}

static void pause_shortly(void)
{
	const struct timespec pause = {.tv_sec = PAUSE_MS / 1000};

	(void)nanosleep(&pause, NULL); /* A signal ends it early. */
}

/* Asks until there is an answer or mount_wait is over. */
static int ask(struct mount *mount, bool *out_is_file, enum mount_fault *fault)
{
	uint64_t deadline = clock_monotonic_ms() +
			    mount->plan->options->mount_wait_ms;

	for (;;) {
		uint64_t now = clock_monotonic_ms();
		uint64_t left = deadline > now ? deadline - now : 0;
		int error = tree_probe(mount->tree,
				left > PROBE_MS ? left : PROBE_MS, out_is_file);

		*fault = MOUNT_FAULT_NONE;
		if (error == 0) {
			return 0;
		}
		*fault = client_explain(&mount->client, mount->plan->source,
				error, "", mount->message,
				sizeof(mount->message));
		if (!mount_fault_passes(*fault) ||
				clock_monotonic_ms() >= deadline) {
			return error;
		}
		log_info("waiting for the source reason=%s", mount->message);
		pause_shortly();
	}
}

int mount_probe(struct mount *mount)
{
	bool is_file = false;
	enum mount_fault fault = MOUNT_FAULT_NONE;
	int error = ask(mount, &is_file, &fault);

	if (error == 0) {
		return is_file ? refuse_object(mount) : 0;
	}
	if (is_allowed(mount, fault)) {
		return 0;
	}
	if (fault == MOUNT_FAULT_EMPTY) {
		explain_empty(mount);
	}
	return error;
}
