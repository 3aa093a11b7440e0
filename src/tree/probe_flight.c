#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define LOG_MODULE "tree"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "fetch/fetch.h"
#include "lookup_rule_private.h"
#include "store/object.h"
#include "tree_private.h"

/*
 * The question about one name: HEAD of its key and LIST of what would be below
 * it, sent together. A LIST that is whole is kept as the listing of the
 * directory that the name turned out to be.
 */
struct probe_flight {
	/* Set at creation: */
	struct tree *tree;
	struct directory *directory; /* A reference; where the name is. */
	char *child_prefix;	     /* Key and '/'. */
	char *key;
	const char *name; /* In `key`. */
	unsigned epoch, child_epoch;
	uint64_t taken_ms, taken_wall_ms;
	/* The callbacks' of the LIST, until it is done: */
	struct listing_builder *builder;
	/* Guarded by the tree's lock: */
	unsigned parts_left;
	int head_error, list_error;
	bool more; /* The LIST was not whole. */
	struct object *object;
	struct tree_lookup *lookups;
	struct probe_flight *prev, *next; /* In the directory. */
};

struct probe_flight *tree_probe_find_locked(
		const struct directory *directory, const char *name)
{
	struct probe_flight *flight = NULL;
	DL_FOREACH (directory->probe_flights, flight) {
		if (strcmp(flight->name, name) == 0) {
			return flight;
		}
	}
	return NULL;
}

void tree_probe_join_locked(
		struct probe_flight *flight, struct tree_lookup *lookup)
{
	LL_APPEND(flight->lookups, lookup);
}

static void free_flight(struct probe_flight *flight)
{
	object_unref(flight->object);
	listing_builder_destroy(flight->builder);
	free(flight->key);
	free(flight->child_prefix);
	free(flight);
}

static char *join(const char *prefix, const char *name, const char *end)
{
	const size_t prefix_length = strlen(prefix);
	const size_t name_length = strlen(name);
	const size_t end_size = strlen(end) + 1;
	char *text = malloc(prefix_length + name_length + end_size);
	if (text != NULL) {
		memcpy(text, prefix, prefix_length);
		memcpy(text + prefix_length, name, name_length);
		memcpy(text + prefix_length + name_length, end, end_size);
	}
	return text;
}

struct probe_flight *tree_probe_create_locked(struct tree *tree,
		struct directory *directory, const char *name)
{
	struct probe_flight *flight = calloc(1, sizeof(*flight));
	if (flight == NULL) {
		return NULL;
	}
	flight->key = join(directory->prefix, name, "");
	flight->child_prefix = join(directory->prefix, name, "/");
	if (flight->key != NULL && flight->child_prefix != NULL) {
		flight->builder = listing_builder_create(flight->child_prefix);
	}
	if (flight->builder == NULL) {
		free_flight(flight);
		return NULL;
	}
	const struct directory *child = directory_find(
			&tree->directories, flight->child_prefix);
	flight->tree = tree;
	flight->directory = directory_ref(directory);
	flight->name = flight->key + strlen(directory->prefix);
	flight->epoch = directory->epoch;
	flight->child_epoch = child == NULL ? 0 : child->epoch;
	flight->taken_ms = clock_monotonic_ms();
	flight->taken_wall_ms = clock_wall_ms();
	flight->parts_left = 2;
	DL_APPEND(directory->probe_flights, flight);
	tree_begin_question_locked(tree);
	return flight;
}

/* ---- The answer ---- */

/* The whole LIST of `path/` is the listing of a directory in its own right. */
static void keep_child_listing(struct probe_flight *flight)
{
	struct tree *tree = flight->tree;
	struct listing *listing = NULL;
	if (listing_builder_finish(flight->builder, &listing) < 0) {
		return; /* It is asked for when it is needed. */
	}
	struct directory *child = NULL;
	{
		LOCK_SCOPE(&tree->lock);
		child = directory_get(&tree->directories, flight->child_prefix);
	}
	if (child == NULL) {
		listing_unref(listing);
		return;
	}
	const struct install install = {
			.directory = child,
			.listing = listing_ref(listing),
			.until_ms = tree_until(tree, flight->taken_ms),
			.epoch = flight->child_epoch,
			.keep_fresh = true,
	};
	if (tree_install(tree, &install) == 0) {
		tree_write_index(tree, flight->child_prefix, listing,
				flight->taken_wall_ms);
	}
	listing_unref(listing);
	tree_drop_directory(tree, child);
}

/* The inode of the version: the one it had, else a new one. Older versions of
 * the name are gone then. */
static uint64_t number_locked(
		struct probe_flight *flight, struct entry_info *info)
{
	struct tree *tree = flight->tree;
	const struct directory *directory = flight->directory;
	const struct probe *probe =
			directory_find_probe(directory, flight->name);
	if (probe != NULL && !probe->absent) {
		if (entry_info_same(&probe->info, info)) {
			info->mtime = probe->info.mtime;
			return probe->inode;
		}
		tree_mark_gone_locked(tree, probe->inode);
	}
	const size_t index = directory->listing == NULL
					     ? LISTING_NONE
					     : listing_find(directory->listing,
							       flight->name);
	if (index != LISTING_NONE) {
		struct entry_info listed;
		listing_info(directory->listing, index, &listed);
		const uint64_t inode = directory->listing->entries[index].inode;
		if (entry_info_same(&listed, info)) {
			info->mtime = listed.mtime;
			return inode;
		}
		tree_mark_gone_locked(tree, inode);
	}
	return atomic_fetch_add(&tree->next_inode, 1);
}

static struct entry_info info_of(
		const struct probe_flight *flight, enum probe_kind kind)
{
	if (kind == PROBE_DIR) {
		return (struct entry_info){.is_dir = true, .etag = ""};
	}
	const struct object *object = flight->object;
	return (struct entry_info){
			.archived = object->archived,
			.unsettled = !object->cacheable,
			.size = object->size,
			.mtime = object->mtime,
			.etag = object->etag,
	};
}

static void answer_locked(struct probe_flight *flight, enum probe_kind kind)
{
	struct tree *tree = flight->tree;
	const uint64_t until_ms = tree_until(tree, flight->taken_ms);
	struct entry_info info = {.etag = ""};
	uint64_t inode = 0;
	if (kind != PROBE_ABSENT) {
		info = info_of(flight, kind);
		inode = number_locked(flight, &info);
		/* It was asked after whatever was found changed. */
		struct node *node = node_find(&tree->nodes, inode);
		if (node != NULL) {
			node->gone = false;
		}
	}
	/* Without memory the next one asks again. */
	(void)directory_set_probe(flight->directory, flight->name,
			kind == PROBE_ABSENT ? NULL : &info, inode, until_ms,
			tree_inode_known, tree);
	struct tree_lookup *lookup = NULL;
	LL_FOREACH (flight->lookups, lookup) {
		if (kind == PROBE_ABSENT) {
			lookup->error = -ENOENT;
			lookup->attr = (struct tree_attr){
					.valid_ms = tree_left(until_ms),
			};
		} else {
			tree_lookup_give_locked(
					tree, lookup, inode, &info, until_ms);
		}
	}
}

/* See tree_guess_directories(). What was an object a while ago is none for a
 * refusal now: the credentials may just have run out. */
static bool is_guess(struct probe_flight *flight)
{
	struct tree *tree = flight->tree;

	if (!atomic_load(&tree->guesses_directories) ||
			!probe_may_be_unlisted(flight->head_error,
					flight->list_error)) {
		return false;
	}
	LOCK_SCOPE(&tree->lock);
	const struct probe *probe =
			directory_find_probe(flight->directory, flight->name);
	return probe == NULL || probe->absent || probe->info.is_dir;
}

static void tell_guess(const struct probe_flight *flight)
{
	if (!atomic_exchange(&flight->tree->told_guess, true)) {
		log_warn("the store refuses to list: names that are no object "
			 "are taken for directories; allow s3:ListBucket to "
			 "see which there are name=%s",
				flight->key);
	}
}

/* Whether who waited has to ask again: the directory was listed meanwhile, or
 * what the store was asked is too old to answer. */
static bool settle_locked(
		struct probe_flight *flight, enum probe_kind kind, int error)
{
	struct directory *directory = flight->directory;
	DL_DELETE(directory->probe_flights, flight);
	if (kind == PROBE_ERROR) {
		struct tree_lookup *lookup = NULL;
		LL_FOREACH (flight->lookups, lookup) {
			lookup->error = error;
		}
		return false;
	}
	const bool listed = directory->listing != NULL &&
			    tree_left(directory->until_ms) > 0;
	if (listed || directory->epoch != flight->epoch) {
		return true;
	}
	answer_locked(flight, kind);
	return false;
}

static void complete(struct probe_flight *flight)
{
	struct tree *tree = flight->tree;
	int error = 0;
	enum probe_kind kind = probe_combine(flight->head_error,
			flight->list_error,
			listing_builder_any(flight->builder), &error);
	if (kind == PROBE_DIR && !flight->more) {
		keep_child_listing(flight);
	}
	if (kind == PROBE_ERROR && is_guess(flight)) {
		kind = PROBE_DIR;
		tell_guess(flight);
	}
	bool resume = false;
	struct tree_lookup *lookups = NULL;
	{
		LOCK_SCOPE(&tree->lock);
		resume = settle_locked(flight, kind, error);
		lookups = flight->lookups;
		directory_unref(&tree->directories, flight->directory);
	}
	free_flight(flight);
	if (resume) {
		tree_lookups_resume(tree, lookups);
	} else {
		tree_lookups_finish(lookups);
	}
	tree_end_question(tree);
}

static bool end_part_locked(struct probe_flight *flight)
{
	flight->parts_left--;
	return flight->parts_left == 0;
}

static void on_head(void *context, int error, struct object *object)
{
	struct probe_flight *flight = context;
	bool last = false;
	{
		LOCK_SCOPE(&flight->tree->lock);
		flight->head_error = error;
		flight->object = error == 0 ? object_ref(object) : NULL;
		last = end_part_locked(flight);
	}
	if (last) {
		complete(flight);
	}
}

static int on_page(void *context, const struct store_page *page)
{
	struct probe_flight *flight = context;
	return listing_builder_add_page(flight->builder, page);
}

static void on_listed(void *context, int error, bool more)
{
	struct probe_flight *flight = context;
	bool last = false;
	{
		LOCK_SCOPE(&flight->tree->lock);
		flight->list_error = error;
		flight->more = more;
		last = end_part_locked(flight);
	}
	if (last) {
		complete(flight);
	}
}

/* Both questions or, without memory, what was sent of them: `count` parts are
 * missing. */
static int give_up(struct probe_flight *flight, struct tree_lookup *lookup,
		unsigned count)
{
	bool last = false;
	{
		LOCK_SCOPE(&flight->tree->lock);
		flight->list_error = -ENOMEM;
		flight->parts_left -= count - 1;
		last = end_part_locked(flight);
		if (last) {
			LL_DELETE(flight->lookups, lookup);
		}
	}
	if (!last) {
		return 0;
	}
	complete(flight);
	return -ENOMEM;
}

int tree_probe_start(struct probe_flight *flight, struct tree_lookup *lookup)
{
	static const struct fetch_list_callbacks callbacks = {
			.on_page = on_page,
			.on_done = on_listed,
	};
	const struct tree_settings *settings = &flight->tree->settings;
	const struct fetch_list_args args = {
			.store = settings->store,
			.prefix = flight->child_prefix,
			.max_pages = 1,
	};
	if (fetch_stat(settings->fetch, settings->store, flight->key, on_head,
			    flight) < 0) {
		return give_up(flight, lookup, 2);
	}
	if (fetch_list(settings->fetch, &args, &callbacks, flight) < 0) {
		return give_up(flight, lookup, 1);
	}
	return 0;
}
