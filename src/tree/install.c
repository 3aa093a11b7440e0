#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LOG_MODULE "tree"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"
#include "base/size.h"
#include "cache/disk_tier.h"
#include "store/store.h"
#include "tree_private.h"

static void reset_inodes(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		listing->entries[i].inode = 0;
	}
}

/* What was asked for by name keeps its inode if it is listed the same. */
static void adopt_probes_locked(struct tree *tree, struct listing *listing,
		const struct directory *directory)
{
	for (const struct probe *probe = directory->probes; probe != NULL;
			probe = probe->hh.next) {
		if (probe->absent) {
			continue;
		}
		const size_t index = listing_find(listing, probe->text);
		struct entry_info info = {0};
		if (index != LISTING_NONE) {
			listing_info(listing, index, &info);
		}
		if (index != LISTING_NONE &&
				entry_info_same(&info, &probe->info)) {
			listing->entries[index].inode = probe->inode;
			listing->entries[index].mtime = probe->info.mtime;
		} else {
			tree_mark_gone_locked(tree, probe->inode);
		}
	}
}

/* A version that was found changed and is listed again is there again. */
static void revive_changed_locked(struct tree *tree,
		const struct listing *listing,
		const struct directory *directory)
{
	for (size_t i = 0; i < directory->changed_count; i++) {
		struct node *node =
				node_find(&tree->nodes, directory->changed[i]);
		if (node == NULL) {
			continue;
		}
		const size_t index = listing_find(listing, node_name(node));
		if (index != LISTING_NONE &&
				listing->entries[index].inode == node->inode) {
			node->gone = false;
		}
	}
}

/* Called with the numbers that `old` gave; false when another listing came in
 * between. */
static bool install_locked(struct tree *tree, const struct install *install,
		const struct listing *old, const uint64_t *dropped,
		size_t dropped_count)
{
	struct directory *directory = install->directory;
	struct listing *listing = install->listing;
	if (directory->listing != old) {
		return false;
	}
	const bool current = directory->epoch == install->epoch;
	adopt_probes_locked(tree, listing, directory);
	for (size_t i = 0; i < dropped_count; i++) {
		tree_mark_gone_locked(tree, dropped[i]);
	}
	revive_changed_locked(tree, listing, directory);
	const size_t hidden = old == NULL ? 0 : old->hidden;
	if (listing->hidden > hidden) {
		counters_add(&tree->settings.counters->hidden_keys,
				listing->hidden - hidden);
	}
	directory_set_listing(&tree->directories, directory, listing,
			current ? install->until_ms : 0);
	if (current) {
		directory->bypass_index = false;
	}
	return true;
}

/* Each is said once, for the first directory it is met in. */
static void log_oddities(struct tree *tree, const struct listing *listing,
		const char *prefix)
{
	if (listing->shadowed > 0 &&
			!atomic_exchange(&tree->told_shadowed, true)) {
		log_warn("objects hidden behind directories of the same name "
			 "prefix=%s count=%zu",
				prefix, listing->shadowed);
	}
	if (listing->hidden > 0 && !atomic_exchange(&tree->told_hidden, true)) {
		log_warn("keys that cannot be file names are not shown "
			 "prefix=%s count=%zu",
				prefix, listing->hidden);
	}
}

static struct listing *current_listing(struct tree *tree,
		const struct install *install, bool *out_keep)
{
	LOCK_SCOPE(&tree->lock);
	struct directory *directory = install->directory;
	*out_keep = install->keep_fresh && directory->listing != NULL &&
		    tree_left(directory->until_ms) > 0;
	return directory->listing == NULL ? NULL
					  : listing_ref(directory->listing);
}

int tree_install(struct tree *tree, const struct install *install)
{
	log_oddities(tree, install->listing, install->directory->prefix);
	for (;;) {
		bool keep = false;
		struct listing *old = current_listing(tree, install, &keep);
		if (keep) {
			listing_unref(old);
			listing_unref(install->listing);
			return 0;
		}
		/* Numbering takes long for a large listing, so it is done
		 * without the lock, and again if it was for nothing. */
		CLEANUP_FREE uint64_t *dropped = NULL;
		size_t dropped_count = 0;
		int error = listing_number(install->listing, old,
				&tree->next_inode, &dropped, &dropped_count);
		bool installed = false;
		if (error == 0) {
			LOCK_SCOPE(&tree->lock);
			installed = install_locked(tree, install, old, dropped,
					dropped_count);
		}
		listing_unref(old);
		if (error < 0) {
			listing_unref(install->listing);
			return error;
		}
		if (installed) {
			return 0;
		}
		reset_inodes(install->listing);
	}
}

/* ---- The index ---- */

bool tree_has_index(const struct tree *tree)
{
	return atomic_load(&tree->disk) != NULL &&
	       tree->settings.metadata_ttl_ms > 0;
}

/* When a listing taken at `taken_wall_ms` runs out, on the monotonic clock; 0:
 * it has, or its time makes no sense. */
static uint64_t until_of_taken(const struct tree *tree, uint64_t taken_wall_ms)
{
	const uint64_t ttl_ms = tree->settings.metadata_ttl_ms;
	const uint64_t wall_ms = clock_wall_ms();
	if (ttl_ms == DURATION_FOREVER) {
		return DURATION_FOREVER;
	}
	if (taken_wall_ms > wall_ms || wall_ms - taken_wall_ms >= ttl_ms) {
		return 0;
	}
	return clock_monotonic_ms() + ttl_ms - (wall_ms - taken_wall_ms);
}

void tree_read_index(struct tree *tree, struct directory *directory)
{
	unsigned epoch = 0;
	{
		LOCK_SCOPE(&tree->lock);
		if (directory->bypass_index) {
			return;
		}
		epoch = directory->epoch;
	}
	CLEANUP_FREE void *blob = NULL;
	size_t length = 0;
	uint64_t taken_wall_ms = 0;
	if (disk_listing_get(atomic_load(&tree->disk),
			    store_name(tree->settings.store), directory->prefix,
			    &blob, &length, &taken_wall_ms) < 0) {
		return;
	}
	const uint64_t until_ms = until_of_taken(tree, taken_wall_ms);
	struct listing *listing = NULL;
	if (until_ms == 0 || listing_parse(blob, length, &listing) < 0) {
		return; /* The store is asked, and its answer replaces it. */
	}
	const struct install install = {
			.directory = directory,
			.listing = listing,
			.until_ms = until_ms,
			.epoch = epoch,
			.keep_fresh = true,
	};
	(void)tree_install(tree, &install); /* Likewise. */
}

void tree_write_index(struct tree *tree, const char *prefix,
		const struct listing *listing, uint64_t taken_wall_ms)
{
	void *blob = NULL;
	size_t length = 0;
	if (!tree_has_index(tree) ||
			listing_serialise(listing, &blob, &length) < 0) {
		return;
	}
	/* Not kept is no harm: it is asked for again. */
	(void)disk_listing_put(atomic_load(&tree->disk),
			store_name(tree->settings.store), prefix, blob, length,
			taken_wall_ms);
	free(blob);
}

/* When a listing that holds until then was taken, on the wall clock. */
static uint64_t taken_of_until(const struct tree *tree, uint64_t until_ms)
{
	const uint64_t wall_ms = clock_wall_ms();

	if (until_ms == DURATION_FOREVER) {
		return wall_ms;
	}
	return wall_ms - (tree->settings.metadata_ttl_ms - tree_left(until_ms));
}

void tree_use_disk(struct tree *tree, struct disk_tier *disk)
{
	const struct directory *root = tree->root->directory;
	struct listing *listing = NULL;
	uint64_t until_ms = 0;

	atomic_store(&tree->disk, disk);
	{
		LOCK_SCOPE(&tree->lock);
		if (root->listing != NULL && tree_left(root->until_ms) > 0) {
			listing = listing_ref(root->listing);
			until_ms = root->until_ms;
		}
	}
	if (listing != NULL) {
		tree_write_index(tree, tree->root_prefix, listing,
				taken_of_until(tree, until_ms));
		listing_unref(listing);
	}
}
