#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fetch/fetch.h"
#include "store/object.h"
#include "tree_private.h"

/*
 * The check at mount: the first page of the source's prefix, then, when nothing
 * is there, whether the prefix is the name of an object. Shared by the caller,
 * who may stop waiting, and by what was sent: the last one frees it.
 */
struct mount_probe {
	struct tree *tree;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	/* The callbacks', until answered: */
	struct listing_builder *builder;
	uint64_t taken_ms, taken_wall_ms;
	/* Guarded by lock: */
	unsigned references;
	bool done;
	int error;
	bool more;
	bool any;
};

static void probe_unref(struct mount_probe *probe)
{
	bool last = false;
	{
		LOCK_SCOPE(&probe->lock);
		probe->references--;
		last = probe->references == 0;
	}
	if (last) {
		listing_builder_destroy(probe->builder);
		pthread_mutex_destroy(&probe->lock);
		pthread_cond_destroy(&probe->answered);
		free(probe);
	}
}

static struct mount_probe *probe_create(struct tree *tree)
{
	struct mount_probe *probe = calloc(1, sizeof(*probe));
	if (probe == NULL) {
		return NULL;
	}
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&probe->lock, NULL);
	pthread_cond_init(&probe->answered, &attributes);
	pthread_condattr_destroy(&attributes);
	probe->tree = tree;
	probe->references = 1;
	probe->taken_ms = clock_monotonic_ms();
	probe->taken_wall_ms = clock_wall_ms();
	probe->builder = listing_builder_create(tree->root_prefix);
	if (probe->builder == NULL) {
		probe_unref(probe);
		return NULL;
	}
	return probe;
}

static void answer(struct mount_probe *probe, int error)
{
	struct tree *tree = probe->tree;
	{
		LOCK_SCOPE(&probe->lock);
		probe->error = error;
		probe->done = true;
		pthread_cond_signal(&probe->answered);
	}
	probe_unref(probe);
	tree_end_question(tree);
}

static void keep_listing(struct mount_probe *probe)
{
	struct tree *tree = probe->tree;
	struct listing *listing = NULL;
	if (listing_builder_finish(probe->builder, &listing) < 0) {
		return;
	}
	const struct install install = {
			.directory = tree->root->directory,
			.listing = listing_ref(listing),
			.until_ms = tree_until(tree, probe->taken_ms),
			.keep_fresh = true,
	};
	if (tree_install(tree, &install) == 0) {
		tree_write_index(tree, tree->root_prefix, listing,
				probe->taken_wall_ms);
	}
	listing_unref(listing);
}

static int on_page(void *context, const struct store_page *page)
{
	struct mount_probe *probe = context;
	return listing_builder_add_page(probe->builder, page);
}

static void on_listed(void *context, int error, bool more)
{
	struct mount_probe *probe = context;
	const bool any = listing_builder_any(probe->builder);
	/* A prefix with nothing under it is not kept: it may be an object. */
	if (error == 0 && !more &&
			(any || probe->tree->root_prefix[0] == '\0')) {
		keep_listing(probe);
	}
	answer(probe, error == 0 && !any ? -ENOENT : error);
}

static void on_head(void *context, int error, struct object *object)
{
	answer(context, error);
}

/* Waits for what was sent: its result, or -ETIMEDOUT. */
static int wait_answer(struct mount_probe *probe, uint64_t until_ms)
{
	const uint64_t left_ms = tree_left(until_ms);
	struct timespec end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)(left_ms / 1000);
	end.tv_nsec += (long)(left_ms % 1000) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	LOCK_SCOPE(&probe->lock);
	int error = 0;
	while (!probe->done && error == 0) {
		error = -pthread_cond_timedwait(
				&probe->answered, &probe->lock, &end);
	}
	if (!probe->done) {
		return -ETIMEDOUT;
	}
	probe->done = false;
	return probe->error;
}

/* For the answer to come: a question and a reference. */
static void begin(struct mount_probe *probe)
{
	struct tree *tree = probe->tree;
	{
		LOCK_SCOPE(&probe->lock);
		probe->references++;
	}
	LOCK_SCOPE(&tree->lock);
	tree_begin_question_locked(tree);
}

static int ask_list(struct mount_probe *probe, uint64_t until_ms)
{
	static const struct fetch_list_callbacks callbacks = {
			.on_page = on_page,
			.on_done = on_listed,
	};
	const struct tree_settings *settings = &probe->tree->settings;
	const struct fetch_list_args args = {
			.store = settings->store,
			.prefix = probe->tree->root_prefix,
			.max_pages = 1,
	};
	begin(probe);
	const int error = fetch_list(settings->fetch, &args, &callbacks, probe);
	if (error < 0) {
		answer(probe, error);
	}
	return wait_answer(probe, until_ms);
}

static int ask_head(struct mount_probe *probe, uint64_t until_ms)
{
	const struct tree_settings *settings = &probe->tree->settings;
	CLEANUP_FREE char *key = strdup(probe->tree->root_prefix);
	if (key == NULL) {
		return -ENOMEM;
	}
	key[strlen(key) - 1] = '\0'; /* Its '/'. */
	begin(probe);
	const int error = fetch_stat(
			settings->fetch, settings->store, key, on_head, probe);
	if (error < 0) {
		answer(probe, error);
	}
	return wait_answer(probe, until_ms);
}

static bool known_from_index(struct tree *tree)
{
	struct directory *directory = tree->root->directory;
	if (tree_has_index(tree)) {
		tree_read_index(tree, directory);
	}
	LOCK_SCOPE(&tree->lock);
	return directory->listing != NULL && directory->listing->count > 0 &&
	       tree_left(directory->until_ms) > 0;
}

int tree_probe(struct tree *tree, uint64_t timeout_ms, bool *out_is_file)
{
	*out_is_file = false;
	if (known_from_index(tree)) {
		return 0;
	}
	struct mount_probe *probe = probe_create(tree);
	if (probe == NULL) {
		return -ENOMEM;
	}
	const uint64_t now_ms = clock_monotonic_ms();
	const uint64_t until_ms = timeout_ms >= UINT64_MAX - now_ms
						  ? UINT64_MAX
						  : now_ms + timeout_ms;
	int error = ask_list(probe, until_ms);
	if (error == -ENOENT && tree->root_prefix[0] != '\0') {
		const int head_error = ask_head(probe, until_ms);
		*out_is_file = head_error == 0;
		if (head_error != 0 && head_error != -ENOENT) {
			error = head_error;
		}
	}
	probe_unref(probe);
	return error;
}
