#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "cache/disk_tier.h"
#include "store/store.h"
#include "tree_private.h"

/* Prefixes whose listings are to be removed from the index. */
struct removal {
	struct removal *next;
	char prefix[];
};

static int add_removal(struct removal **removals, const char *parent,
		const char *name, const char *end)
{
	const size_t size = strlen(parent) + strlen(name) + strlen(end) + 1;
	struct removal *removal = malloc(sizeof(*removal) + size);
	if (removal == NULL) {
		return -ENOMEM;
	}
	snprintf(removal->prefix, size, "%s%s%s", parent, name, end);
	LL_PREPEND(*removals, removal);
	return 0;
}

/* The prefix of the directory that `prefix` is in. */
static void cut_last_component(char *prefix)
{
	prefix[strlen(prefix) - 1] = '\0';
	char *slash = strrchr(prefix, '/');
	*(slash == NULL ? prefix : slash + 1) = '\0';
}

static int forget_one_locked(
		struct directory *directory, struct removal **removals)
{
	directory_forget(directory);
	return add_removal(removals, directory->prefix, "", "");
}

static int forget_memory_locked(struct tree *tree, const char *prefix,
		struct removal **removals)
{
	int error = 0;
	const size_t length = strlen(prefix);
	for (struct directory *directory = tree->directories.by_prefix;
			directory != NULL && error == 0;
			directory = directory->hh.next) {
		if (strncmp(directory->prefix, prefix, length) == 0) {
			error = forget_one_locked(directory, removals);
		}
	}
	if (error < 0 || length == strlen(tree->root_prefix) ||
			directory_find(&tree->directories, prefix) != NULL) {
		return error;
	}
	/* Not known as a directory: a file, or "not there" so far. */
	CLEANUP_FREE char *parent = strdup(prefix);
	if (parent == NULL) {
		return -ENOMEM;
	}
	cut_last_component(parent);
	struct directory *directory =
			directory_find(&tree->directories, parent);
	return directory == NULL ? add_removal(removals, parent, "", "")
				 : forget_one_locked(directory, removals);
}

/* What the index has below a prefix is found through the listings there. */
static int add_below(struct tree *tree, const char *prefix,
		struct removal **removals)
{
	CLEANUP_FREE void *blob = NULL;
	size_t length = 0;
	uint64_t taken_wall_ms = 0;
	struct listing *listing = NULL;
	if (disk_listing_get(atomic_load(&tree->disk),
			    store_name(tree->settings.store), prefix, &blob,
			    &length, &taken_wall_ms) < 0 ||
			listing_parse(blob, length, &listing) < 0) {
		return 0;
	}
	int error = 0;
	for (size_t i = 0; i < listing->count && error == 0; i++) {
		if ((listing->entries[i].flags & LISTING_DIR) != 0) {
			error = add_removal(removals, prefix,
					listing_name(listing, i), "/");
		}
	}
	listing_unref(listing);
	return error;
}

/* Takes from the list what is below `prefix`, or was known in memory; each
 * listing is read before it is removed. */
static int forget_index(struct tree *tree, const char *prefix,
		struct removal **removals)
{
	int error = 0;
	const size_t length = strlen(prefix);
	while (*removals != NULL) {
		struct removal *removal = *removals;
		LL_DELETE(*removals, removal);
		if (error == 0 &&
				strncmp(removal->prefix, prefix, length) == 0) {
			error = add_below(tree, removal->prefix, removals);
		}
		(void)disk_listing_remove(atomic_load(&tree->disk),
				store_name(tree->settings.store),
				removal->prefix); /* -ENOENT mostly. */
		free(removal);
	}
	/* Nothing may read an old listing once this returned. */
	(void)disk_tier_flush(atomic_load(&tree->disk)); /* Errors: no index. */
	return error;
}

int tree_refresh(struct tree *tree, const char *path)
{
	const size_t start = strspn(path, "/");
	size_t length = strlen(path + start);
	while (length > 0 && path[start + length - 1] == '/') {
		length--;
	}
	CLEANUP_FREE char *prefix = NULL;
	if (asprintf(&prefix, "%s%.*s%s", tree->root_prefix, (int)length,
			    path + start, length > 0 ? "/" : "") < 0) {
		prefix = NULL;
		return -ENOMEM;
	}
	struct removal *removals = NULL;
	int error = add_removal(&removals, prefix, "", "");
	if (error == 0) {
		LOCK_SCOPE(&tree->lock);
		error = forget_memory_locked(tree, prefix, &removals);
	}
	if (atomic_load(&tree->disk) != NULL) {
		const int index_error = forget_index(tree, prefix, &removals);
		error = error < 0 ? error : index_error;
	}
	struct removal *removal = NULL;
	struct removal *next = NULL;
	LL_FOREACH_SAFE (removals, removal, next) {
		free(removal);
	}
	return error;
}
