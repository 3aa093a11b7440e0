#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/size.h"
#include "store/object.h"
#include "store/store.h"
#include "tree_private.h"

/* Entries of directories that the kernel has forgotten: some 30 MB. */
#define IDLE_ENTRIES_MAX 262144

static int make_root(struct tree *tree)
{
	const struct entry_info info = {.is_dir = true, .etag = ""};
	tree->root = node_get(&tree->nodes, NULL, TREE_ROOT_INODE, "", &info);
	if (tree->root == NULL) {
		return -ENOMEM;
	}
	return tree_directory_locked(tree, tree->root) == NULL ? -ENOMEM : 0;
}

int tree_create(const struct tree_settings *settings, struct tree **out_tree)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	if (tree == NULL) {
		return -ENOMEM;
	}
	tree->settings = *settings;
	tree->root_prefix = store_prefix(settings->store);
	tree->created = (int64_t)(clock_wall_ms() / 1000);
	atomic_init(&tree->next_inode, TREE_FIRST_INODE);
	atomic_init(&tree->disk, settings->disk);
	pthread_mutex_init(&tree->lock, NULL);
	pthread_cond_init(&tree->idle, NULL);
	tree->directories.idle_limit = IDLE_ENTRIES_MAX;
	tree->directories.counters = settings->counters;
	tree->nodes.directories = &tree->directories;
	tree->nodes.counters = settings->counters;
	const int error = make_root(tree);
	if (error < 0) {
		tree_destroy(tree);
		return error;
	}
	*out_tree = tree;
	return 0;
}

void tree_destroy(struct tree *tree)
{
	if (tree == NULL) {
		return;
	}
	pthread_mutex_lock(&tree->lock);
	while (tree->questions > 0) {
		pthread_cond_wait(&tree->idle, &tree->lock);
	}
	pthread_mutex_unlock(&tree->lock);
	node_table_finish(&tree->nodes);
	directory_table_finish(&tree->directories);
	pthread_mutex_destroy(&tree->lock);
	pthread_cond_destroy(&tree->idle);
	free(tree);
}

void tree_begin_question_locked(struct tree *tree)
{
	tree->questions++;
}

void tree_end_question(struct tree *tree)
{
	LOCK_SCOPE(&tree->lock);
	tree->questions--;
	if (tree->questions == 0) {
		pthread_cond_broadcast(&tree->idle);
	}
}

struct directory *tree_directory_locked(struct tree *tree, struct node *node)
{
	if (node->directory != NULL) {
		return node->directory;
	}
	CLEANUP_FREE char *path = node_path(node, tree->root_prefix);
	CLEANUP_FREE char *prefix = NULL;
	if (path == NULL ||
			asprintf(&prefix, "%s%s", path,
					node->parent == NULL ? "" : "/") < 0) {
		prefix = NULL;
		return NULL;
	}
	node->directory = directory_get(&tree->directories, prefix);
	return node->directory;
}

void tree_drop_directory(struct tree *tree, struct directory *directory)
{
	LOCK_SCOPE(&tree->lock);
	directory_unref(&tree->directories, directory);
}

void tree_guess_directories(struct tree *tree)
{
	atomic_store(&tree->guesses_directories, true);
}

uint64_t tree_until(const struct tree *tree, uint64_t taken_ms)
{
	const uint64_t ttl_ms = tree->settings.metadata_ttl_ms;
	return ttl_ms >= DURATION_FOREVER - taken_ms ? DURATION_FOREVER
						     : taken_ms + ttl_ms;
}

uint64_t tree_left(uint64_t until_ms)
{
	const uint64_t now_ms = clock_monotonic_ms();
	if (until_ms == DURATION_FOREVER) {
		return DURATION_FOREVER;
	}
	return until_ms > now_ms ? until_ms - now_ms : 0;
}

void tree_fill_attr(const struct tree *tree, uint64_t inode,
		const struct entry_info *info, uint64_t until_ms,
		struct tree_attr *out_attr)
{
	*out_attr = (struct tree_attr){
			.inode = inode,
			.is_dir = info->is_dir,
			.size = info->size,
			.mtime = info->is_dir ? tree->created : info->mtime,
			.valid_ms = tree_left(until_ms),
	};
}

bool tree_inode_known(void *context, uint64_t inode)
{
	const struct tree *tree = context;
	return node_find(&tree->nodes, inode) != NULL;
}

void tree_mark_gone_locked(struct tree *tree, uint64_t inode)
{
	struct node *node = node_find(&tree->nodes, inode);
	if (node != NULL) {
		node->gone = true;
	}
}

void tree_forget(struct tree *tree, uint64_t inode, uint64_t count)
{
	LOCK_SCOPE(&tree->lock);
	struct node *node = node_find(&tree->nodes, inode);
	if (node == NULL) {
		return;
	}
	node->lookups -= count < node->lookups ? count : node->lookups;
	node_release(&tree->nodes, node);
}

int tree_getattr(struct tree *tree, uint64_t inode, struct tree_attr *out_attr)
{
	LOCK_SCOPE(&tree->lock);
	const struct node *node = node_find(&tree->nodes, inode);
	if (node == NULL) {
		return -ESTALE;
	}
	const struct entry_info info = {
			.is_dir = node->is_dir,
			.size = node->size,
			.mtime = node->mtime,
	};
	/* An inode's attributes never change, but its name may. */
	tree_fill_attr(tree, inode, &info,
			tree_until(tree, clock_monotonic_ms()), out_attr);
	if (node->gone) {
		out_attr->valid_ms = 0;
	}
	return 0;
}

static struct object *make_object(struct tree *tree, const struct node *node)
{
	CLEANUP_FREE char *key = node_path(node, tree->root_prefix);
	if (key == NULL) {
		return NULL;
	}
	struct object *object = object_create(tree->settings.store, key,
			node_etag(node), node->size, node->mtime);
	if (object != NULL) {
		object->archived = node->archived;
		object->cacheable = !node->unsettled;
	}
	return object;
}

static int open_locked(struct tree *tree, struct node *node,
		struct object **out_object)
{
	if (node == NULL || node->gone) {
		return -ESTALE;
	}
	if (node->is_dir) {
		return -EISDIR;
	}
	if (node->archived) {
		return -EACCES;
	}
	if (node->object == NULL) {
		node->object = make_object(tree, node);
		if (node->object == NULL) {
			return -ENOMEM;
		}
	}
	node->holds++;
	*out_object = object_ref(node->object);
	return 0;
}

int tree_open(struct tree *tree, uint64_t inode, struct object **out_object)
{
	LOCK_SCOPE(&tree->lock);
	return open_locked(tree, node_find(&tree->nodes, inode), out_object);
}

void tree_close(struct tree *tree, uint64_t inode)
{
	LOCK_SCOPE(&tree->lock);
	struct node *node = node_find(&tree->nodes, inode);
	if (node == NULL || node->holds == 0) {
		return;
	}
	node->holds--;
	if (node->holds == 0) {
		object_unref(node->object);
		node->object = NULL;
	}
	node_release(&tree->nodes, node);
}

int tree_mark_changed(struct tree *tree, uint64_t inode, uint64_t *out_parent,
		char **out_name)
{
	LOCK_SCOPE(&tree->lock);
	struct node *node = node_find(&tree->nodes, inode);
	if (node == NULL || node->parent == NULL) {
		return -ENOENT;
	}
	char *name = strdup(node_name(node));
	if (name == NULL) {
		return -ENOMEM;
	}
	struct directory *directory = node->parent->directory;
	/* Once only: what was learned since then shows the next version. */
	if (!node->gone && directory != NULL) {
		directory_forget(directory);
		/* Without memory the version stays gone if it comes back. */
		(void)directory_note_changed(directory, inode);
	}
	node->gone = true;
	*out_parent = node->parent->inode;
	*out_name = name;
	return 0;
}

char *tree_path(struct tree *tree, uint64_t inode)
{
	LOCK_SCOPE(&tree->lock);
	const struct node *node = node_find(&tree->nodes, inode);
	return node == NULL ? NULL : node_path(node, "");
}
