#include "main/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "fetch/fetch.h"
#include "main/arguments.h"
#include "main/client.h"
#include "main/options.h"
#include "main/wait.h"
#include "store/object.h"
#include "store/store.h"

#define PARTS_MAX ((size_t)16)

/* A part under way: a range of the object and its bytes. */
struct part {
	struct fetch_range range; /* First: callbacks find the part by it. */
	struct wait wait;
	char *bytes;
};

/* Parts are asked for some ahead and written in order: part number n is in
 * slot n % count. */
struct ring {
	struct fetch *fetch;
	struct object *object;
	struct part parts[PARTS_MAX];
	size_t count;
	uint64_t part_size;
	uint64_t asked, written; /* Bytes. */
};

static void on_data(struct fetch_range *range, uint64_t offset,
		const void *data, size_t length)
{
	struct part *part = (struct part *)range;

	memcpy(part->bytes + (offset - range->offset), data, length);
}

static void on_done(struct fetch_range *range, int error)
{
	struct part *part = (struct part *)range;

	wait_end(&part->wait, error);
}

static struct part *part_at(struct ring *ring, uint64_t offset)
{
	return &ring->parts[offset / ring->part_size % ring->count];
}

static void ask_next(struct ring *ring)
{
	struct part *part = part_at(ring, ring->asked);
	uint64_t left = ring->object->size - ring->asked;

	part->range = (struct fetch_range){
			.object = ring->object,
			.offset = ring->asked,
			.length = left < ring->part_size ? left
							 : ring->part_size,
			.demand = true,
			.on_data = on_data,
			.on_done = on_done,
	};
	wait_init(&part->wait);
	ring->asked += part->range.length;
	fetch_range_submit(ring->fetch, &part->range);
}

static int write_all(const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t done = write(STDOUT_FILENO, bytes, length);

		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0) {
			return -errno;
		}
		bytes += done;
		length -= (size_t)done;
	}
	return 0;
}

/* Waits for the oldest part, and writes it unless something failed before. */
static int finish_oldest(struct ring *ring, int error, bool *out_writing)
{
	struct part *part = part_at(ring, ring->written);
	int fetched = wait_for(&part->wait);

	wait_finish(&part->wait);
	ring->written += part->range.length;
	if (error != 0 || fetched != 0) {
		return error != 0 ? error : fetched;
	}
	*out_writing = true;
	error = write_all(part->bytes, part->range.length);
	*out_writing = error != 0;
	return error;
}

static void cancel_rest(struct ring *ring)
{
	for (uint64_t at = ring->written; at < ring->asked;
			at += ring->part_size) {
		fetch_range_cancel(ring->fetch, &part_at(ring, at)->range);
	}
}

static int copy_object(struct ring *ring, bool *out_writing)
{
	uint64_t ahead = ring->part_size * ring->count;
	int error = 0;

	while (ring->written < ring->object->size) {
		while (error == 0 && ring->asked < ring->object->size &&
				ring->asked - ring->written < ahead) {
			ask_next(ring);
		}
		if (ring->asked == ring->written) {
			break;
		}
		bool failed = error != 0;

		error = finish_oldest(ring, error, out_writing);
		if (error != 0 && !failed) {
			cancel_rest(ring);
		}
	}
	return error;
}

static size_t part_count(const struct options *options)
{
	uint64_t limit = options->memory_bytes != 0 ? options->memory_bytes
						    : (uint64_t)256 << 20;
	uint64_t count = limit / options->part_size;

	if (count > options->max_connections) {
		count = options->max_connections;
	}
	if (count < 1) {
		return 1;
	}
	return count < PARTS_MAX ? (size_t)count : PARTS_MAX;
}

static int cat_object(const struct client *client, struct object *object,
		const struct options *options, bool *out_writing)
{
	struct ring ring = {
			.fetch = client->fetch,
			.object = object,
			.count = part_count(options),
			.part_size = options->part_size,
	};
	CLEANUP_FREE char *bytes = NULL;

	if (object->archived) {
		return -EACCES;
	}
	if (object->size == 0) {
		return 0;
	}
	if (object->size < ring.part_size) {
		ring.part_size = object->size;
	}
	bytes = malloc(ring.part_size * ring.count);
	if (bytes == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < ring.count; i++) {
		ring.parts[i].bytes = bytes + i * ring.part_size;
	}
	return copy_object(&ring, out_writing);
}

struct lookup {
	struct wait wait;
	struct object *object;
};

static void on_stat(void *context, int error, struct object *object)
{
	struct lookup *lookup = context;

	lookup->object = error == 0 ? object_ref(object) : NULL;
	wait_end(&lookup->wait, error);
}

static void on_listed(void *context, int error, bool more)
{
	struct lookup *lookup = context;

	(void)more;
	wait_end(&lookup->wait, error);
}

static int on_page(void *context, const struct store_page *page)
{
	(void)context;
	(void)page;
	return 0;
}

/* An answer to HEAD has no words, and some servers give 404 for an unknown key
 * id: a listing of the name says what is wrong, if anything is. */
static int find_reason(const struct client *client, const char *key, int error)
{
	static const struct fetch_list_callbacks callbacks = {
			.on_page = on_page,
			.on_done = on_listed,
	};
	const struct fetch_list_args args = {
			.store = client->store,
			.prefix = key,
			.max_keys = 1,
			.max_pages = 1,
	};
	struct lookup lookup = {0};

	if (error != -ENOENT && error != -EACCES) {
		return error;
	}
	wait_init(&lookup.wait);
	int reason = fetch_list(client->fetch, &args, &callbacks, &lookup);

	if (reason == 0) {
		reason = wait_for(&lookup.wait);
	}
	wait_finish(&lookup.wait);
	return reason != 0 ? reason : error;
}

static int find_object(const struct client *client, struct object **out_object)
{
	CLEANUP_FREE char *key = strdup(store_prefix(client->store));
	struct lookup lookup = {0};

	if (key == NULL) {
		return -ENOMEM;
	}
	size_t length = strlen(key);

	if (length == 0) {
		return -EISDIR;
	}
	key[length - 1] = '\0';
	wait_init(&lookup.wait);
	int error = fetch_stat(
			client->fetch, client->store, key, on_stat, &lookup);

	if (error == 0) {
		error = wait_for(&lookup.wait);
	}
	wait_finish(&lookup.wait);
	if (error != 0) {
		return find_reason(client, key, error);
	}
	*out_object = lookup.object;
	return 0;
}

static int explain(const struct client *client, const char *url, int error)
{
	char message[1024];

	if (error == -ENOENT || error == -EISDIR) {
		return command_fail(STATUS_FAILED,
				"%s: no such object; shardfs ls shows what "
				"there is",
				url);
	}
	if (error == -ESTALE) {
		return command_fail(STATUS_FAILED,
				"%s: changed while it was read", url);
	}
	(void)client_explain(
			client, url, error, NULL, "", message, sizeof(message));
	return command_fail(STATUS_FAILED, "%s", message);
}

static int cat_url(const struct client *client, const char *url,
		const struct options *options)
{
	struct object *object = NULL;
	bool writing = false;
	int error = find_object(client, &object);

	if (error == 0) {
		error = cat_object(client, object, options, &writing);
		object_unref(object);
	}
	if (error == 0) {
		return STATUS_DONE;
	}
	if (writing && error == -EPIPE) {
		return STATUS_FAILED; /* As `cat | head`: nothing to say. */
	}
	if (writing) {
		return command_fail(
				STATUS_FAILED, "stdout: %s", strerror(-error));
	}
	return explain(client, url, error);
}

int cmd_cat(const struct arguments *arguments, const struct options *options)
{
	struct counters counters = {0};
	struct client client;
	char message[1024];

	if (arguments->word_count != 2) {
		return command_fail(STATUS_USAGE, "shardfs cat URL");
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
	int status = cat_url(&client, url, options);

	client_close(&client);
	return status;
}
