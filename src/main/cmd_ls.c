#include "main/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "fetch/fetch.h"
#include "main/arguments.h"
#include "main/client.h"
#include "main/wait.h"
#include "store/object.h"
#include "store/store.h"

struct entry {
	char *name;
	char *etag; /* NULL for a directory. */
	uint64_t size;
	int64_t mtime;
};

struct listing {
	struct wait wait;
	size_t prefix_length;
	struct entry *entries;
	size_t count, capacity;
	bool found; /* Anything under the prefix, its marker included. */
};

static int add_entry(struct listing *listing, const struct entry *entry)
{
	if (entry->name == NULL) {
		return -ENOMEM;
	}
	if (listing->count == listing->capacity) {
		size_t capacity = listing->capacity * 2 + 64;
		struct entry *entries = reallocarray(
				listing->entries, capacity, sizeof(*entries));

		if (entries == NULL) {
			free(entry->name);
			free(entry->etag);
			return -ENOMEM;
		}
		listing->entries = entries;
		listing->capacity = capacity;
	}
	listing->entries[listing->count++] = *entry;
	return 0;
}

static int on_page(void *context, const struct store_page *page)
{
	struct listing *listing = context;

	for (size_t i = 0; i < page->entry_count; i++) {
		const struct store_entry *from = &page->entries[i];
		struct entry entry = {.size = from->size, .mtime = from->mtime};
		size_t length = from->key_length - from->is_prefix;

		listing->found = true;
		if (length <= listing->prefix_length) {
			continue; /* The marker of the directory itself. */
		}
		entry.name = strndup(from->key + listing->prefix_length,
				length - listing->prefix_length);
		entry.etag = from->is_prefix ? NULL : strdup(from->etag);
		int error = add_entry(listing, &entry);

		if (error != 0) {
			return error;
		}
	}
	return 0;
}

static void on_listed(void *context, int error, bool more)
{
	struct listing *listing = context;

	(void)more;
	wait_end(&listing->wait, error);
}

static void on_stat(void *context, int error, struct object *object)
{
	struct listing *listing = context;

	if (error == 0) {
		const char *slash = strrchr(object->key, '/');
		struct entry entry = {
				.name = strdup(slash != NULL ? slash + 1
							     : object->key),
				.etag = strdup(object->etag),
				.size = object->size,
				.mtime = object->mtime,
		};

		error = add_entry(listing, &entry);
		listing->found = true;
	}
	wait_end(&listing->wait, error);
}

/* All that lies directly under the prefix. */
static int list_prefix(const struct client *client, struct listing *listing)
{
	static const struct fetch_list_callbacks callbacks = {
			.on_page = on_page,
			.on_done = on_listed,
	};
	const struct fetch_list_args args = {
			.store = client->store,
			.prefix = store_prefix(client->store),
	};

	listing->prefix_length = strlen(args.prefix);
	wait_init(&listing->wait);
	int error = fetch_list(client->fetch, &args, &callbacks, listing);

	if (error == 0) {
		error = wait_for(&listing->wait);
	}
	wait_finish(&listing->wait);
	return error;
}

/* The URL may name one object: its key is the prefix without the slash. */
static int list_object(const struct client *client, struct listing *listing)
{
	CLEANUP_FREE char *key = strdup(store_prefix(client->store));

	if (key == NULL) {
		return -ENOMEM;
	}
	size_t length = strlen(key);

	if (length == 0) {
		return 0;
	}
	key[length - 1] = '\0';
	wait_init(&listing->wait);
	int error = fetch_stat(
			client->fetch, client->store, key, on_stat, listing);

	if (error == 0) {
		error = wait_for(&listing->wait);
	}
	wait_finish(&listing->wait);
	return error;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *left = a;
	const struct entry *right = b;

	return strcmp(left->name, right->name);
}

/* Raw; on a terminal control characters are shown as \ooo. */
static void print_name(const char *name, bool terminal)
{
	for (const char *c = name; *c != '\0'; c++) {
		unsigned char byte = (unsigned char)*c;

		if (terminal && (byte < 0x20 || byte == 0x7f)) {
			(void)printf("\\%03o", byte);
		} else {
			(void)putchar(byte);
		}
	}
}

static void print_entry(const struct entry *entry, bool terminal, bool detail)
{
	char when[32] = "-";
	time_t seconds = (time_t)entry->mtime;
	struct tm utc;

	print_name(entry->name, terminal);
	if (entry->etag == NULL) {
		(void)fputs(detail ? "/\t-\t-\t-\n" : "/\n", stdout);
		return;
	}
	if (detail) {
		if (gmtime_r(&seconds, &utc) != NULL) {
			(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ",
					&utc);
		}
		(void)printf("\t%" PRIu64 "\t%s\t%s", entry->size, when,
				entry->etag);
	}
	(void)putchar('\n');
}

static int print_listing(struct listing *listing, bool detail)
{
	bool terminal = isatty(STDOUT_FILENO) == 1;

	if (listing->count > 0) {
		qsort(listing->entries, listing->count,
				sizeof(*listing->entries), compare_entries);
	}
	for (size_t i = 0; i < listing->count; i++) {
		print_entry(&listing->entries[i], terminal, detail);
	}
	return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : -EIO;
}

static void free_listing(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		free(listing->entries[i].name);
		free(listing->entries[i].etag);
	}
	free(listing->entries);
}

static int list_url(const struct client *client, const char *url, bool detail)
{
	struct listing listing = {0};
	char message[1024];
	int status = STATUS_DONE;
	int error = list_prefix(client, &listing);

	if (error == 0 && !listing.found) {
		error = list_object(client, &listing);
	}
	if (error == -ENOENT) {
		status = command_fail(STATUS_FAILED,
				"%s: no such object or prefix", url);
	} else if (error != 0) {
		(void)client_explain(client, url, error, NULL, "", message,
				sizeof(message));
		status = command_fail(STATUS_FAILED, "%s", message);
	} else if (print_listing(&listing, detail) != 0) {
		status = command_fail(
				STATUS_FAILED, "stdout: %s", strerror(errno));
	}
	free_listing(&listing);
	return status;
}

int cmd_ls(const struct arguments *arguments, const struct options *options)
{
	struct counters counters = {0};
	struct client client;
	char message[1024];

	if (arguments->word_count != 2) {
		return command_fail(STATUS_USAGE, "shardfs ls [-l] URL");
	}
	const char *url = arguments->words[1];
	int error = client_open(url, options, &counters, &client, message,
			sizeof(message));

	if (error != 0) {
		return command_fail(
				error == -EINVAL ? STATUS_USAGE : STATUS_FAILED,
				"%s", message);
	}
	if (arguments->verbose) {
		client_describe(&client);
	}
	int status = list_url(&client, url, arguments->long_listing);

	client_close(&client);
	return status;
}
