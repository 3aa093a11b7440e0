#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fetch/fetch.h"
#include "lookup_rule_private.h"
#include "tree_private.h"

/* For how long single names are asked for after a LIST was refused. */
#define DENIED_MS_MIN 1000
#define DENIED_MS_MAX 60000

/* One LIST of one directory, all its pages. */
struct list_flight {
	struct tree *tree;
	struct directory *directory; /* A reference. */
	struct listing_builder *builder;
	unsigned epoch;
	uint64_t taken_ms, taken_wall_ms;
};

static uint64_t denied_ms(const struct tree *tree)
{
	const uint64_t ttl_ms = tree->settings.metadata_ttl_ms;
	if (ttl_ms < DENIED_MS_MIN) {
		return DENIED_MS_MIN;
	}
	return ttl_ms < DENIED_MS_MAX ? ttl_ms : DENIED_MS_MAX;
}

/* Who waited for a flight, taken off its directory. */
struct waiters {
	struct tree_lookup *lookups;
	struct tree_opendir *opendirs;
	bool resume_lookups, resume_opendirs;
};

static void answer_locked(struct tree *tree, struct waiters *waiters,
		const struct directory *directory)
{
	struct tree_lookup *lookup = NULL;
	LL_FOREACH (waiters->lookups, lookup) {
		tree_lookup_answer_locked(tree, lookup, directory);
	}
	struct tree_opendir *opendir = NULL;
	LL_FOREACH (waiters->opendirs, opendir) {
		tree_opendir_answer_locked(tree, opendir, directory);
	}
}

static void fail(struct waiters *waiters, int error)
{
	struct tree_lookup *lookup = NULL;
	LL_FOREACH (waiters->lookups, lookup) {
		lookup->error = error;
	}
	struct tree_opendir *opendir = NULL;
	LL_FOREACH (waiters->opendirs, opendir) {
		opendir->error = error;
	}
}

/* Decides what each waiter gets. A listing that was asked for before something
 * turned out wrong is not an answer: they ask again. */
static struct waiters settle_locked(struct tree *tree,
		struct directory *directory, unsigned epoch, int error)
{
	struct waiters waiters = {
			.lookups = directory->lookups,
			.opendirs = directory->opendirs,
	};
	directory->lookups = NULL;
	directory->opendirs = NULL;
	directory->listing_now = false;
	if (error == 0 && directory->epoch == epoch) {
		answer_locked(tree, &waiters, directory);
	} else if (error == 0) {
		waiters.resume_lookups = true;
		waiters.resume_opendirs = true;
	} else {
		fail(&waiters, lookup_error(error));
	}
	if (error == -EACCES) {
		directory->denied_until_ms =
				clock_monotonic_ms() + denied_ms(tree);
		waiters.resume_lookups = true;
	}
	return waiters;
}

static void finish(struct tree *tree, struct directory *directory,
		unsigned epoch, int error)
{
	struct waiters waiters = {0};
	{
		LOCK_SCOPE(&tree->lock);
		waiters = settle_locked(tree, directory, epoch, error);
		directory_unref(&tree->directories, directory);
	}
	if (waiters.resume_lookups) {
		tree_lookups_resume(tree, waiters.lookups);
	} else {
		tree_lookups_finish(waiters.lookups);
	}
	if (waiters.resume_opendirs) {
		tree_opendirs_resume(tree, waiters.opendirs);
	} else {
		tree_opendirs_finish(waiters.opendirs);
	}
	tree_end_question(tree);
}

static int take_listing(struct list_flight *flight)
{
	struct tree *tree = flight->tree;
	struct listing *listing = NULL;
	int error = listing_builder_finish(flight->builder, &listing);
	if (error < 0) {
		return error;
	}
	const struct install install = {
			.directory = flight->directory,
			.listing = listing_ref(listing),
			.until_ms = tree_until(tree, flight->taken_ms),
			.epoch = flight->epoch,
	};
	error = tree_install(tree, &install);
	if (error == 0) {
		tree_write_index(tree, flight->directory->prefix, listing,
				flight->taken_wall_ms);
	}
	listing_unref(listing);
	return error;
}

static int on_page(void *context, const struct store_page *page)
{
	struct list_flight *flight = context;
	return listing_builder_add_page(flight->builder, page);
}

static void free_flight(struct list_flight *flight)
{
	listing_builder_destroy(flight->builder);
	free(flight);
}

static void on_done(void *context, int error, bool more)
{
	struct list_flight *flight = context;
	struct directory *directory = flight->directory;
	struct tree *tree = flight->tree;
	const unsigned epoch = flight->epoch;
	const bool is_root = strcmp(directory->prefix, tree->root_prefix) == 0;
	/* Some stores say of a prefix that it is not there. The source's own
	 * was there at the mount. */
	if (error == -ENOENT && !is_root &&
			!listing_builder_any(flight->builder)) {
		error = 0;
	}
	if (error == 0) {
		error = take_listing(flight);
	}
	free_flight(flight);
	finish(tree, directory, epoch, error);
}

static struct list_flight *make_flight(
		struct tree *tree, struct directory *directory)
{
	struct list_flight *flight = calloc(1, sizeof(*flight));
	if (flight == NULL) {
		return NULL;
	}
	flight->tree = tree;
	flight->directory = directory;
	flight->taken_ms = clock_monotonic_ms();
	flight->taken_wall_ms = clock_wall_ms();
	flight->builder = listing_builder_create(directory->prefix);
	if (flight->builder == NULL) {
		free(flight);
		return NULL;
	}
	LOCK_SCOPE(&tree->lock);
	flight->epoch = directory->epoch;
	return flight;
}

int tree_list_start(struct tree *tree, struct directory *directory,
		struct tree_lookup *lookup, struct tree_opendir *opendir)
{
	static const struct fetch_list_callbacks callbacks = {
			.on_page = on_page,
			.on_done = on_done,
	};
	const struct fetch_list_args args = {
			.store = tree->settings.store,
			.prefix = directory->prefix,
	};
	struct list_flight *flight = make_flight(tree, directory);
	int error = -ENOMEM;
	if (flight != NULL) {
		error = fetch_list(tree->settings.fetch, &args, &callbacks,
				flight);
	}
	if (error == 0) {
		return 0;
	}
	if (flight != NULL) {
		free_flight(flight);
	}
	{
		LOCK_SCOPE(&tree->lock);
		if (lookup != NULL) {
			LL_DELETE(directory->lookups, lookup);
		}
		if (opendir != NULL) {
			LL_DELETE(directory->opendirs, opendir);
		}
	}
	finish(tree, directory, 0, -ENOMEM);
	return -ENOMEM;
}
