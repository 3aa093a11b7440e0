#include <errno.h>

#define LOG_MODULE "tree"

#include "base/cleanup.h"
#include "base/log.h"
#include "fetch/fetch.h"
#include "lookup_rule_private.h"
#include "store/object.h"
#include "tree_private.h"

#define LOG_INTERVAL_MS 60000

static bool is_same_version(
		const struct node *node, const struct object *object)
{
	return node->size == object->size &&
	       object_etag_equal(node_etag(node), object->etag);
}

/* What the answer about an archived version means for who opens it. */
static int settle_locked(
		struct node *node, int error, const struct object *object)
{
	if (node == NULL || error == -ENOENT) {
		return -ESTALE;
	}
	if (error != 0) {
		return lookup_error(error);
	}
	if (!is_same_version(node, object)) {
		return -ESTALE;
	}
	if (object->archived) {
		return -EACCES;
	}
	node->archived = false;
	return 0;
}

static void on_head(void *context, int error, struct object *object)
{
	struct tree_restore *restore = context;
	struct tree *tree = restore->tree;

	{
		LOCK_SCOPE(&tree->lock);
		restore->error = settle_locked(
				node_find(&tree->nodes, restore->inode), error,
				object);
	}
	if (restore->error == -EACCES &&
			log_ratelimit(&tree->archived_log, LOG_INTERVAL_MS)) {
		CLEANUP_FREE char *path = tree_path(tree, restore->inode);
		log_warn("object is archived and must be restored first "
			 "path=%s",
				path == NULL ? "?" : path);
	}
	restore->on_done(restore);
	tree_end_question(tree);
}

bool tree_is_archived(struct tree *tree, uint64_t inode)
{
	LOCK_SCOPE(&tree->lock);
	const struct node *node = node_find(&tree->nodes, inode);

	return node != NULL && node->archived && !node->gone;
}

int tree_restore_start(struct tree *tree, struct tree_restore *restore)
{
	CLEANUP_FREE char *key = NULL;

	restore->tree = tree;
	restore->error = -ESTALE;
	{
		LOCK_SCOPE(&tree->lock);
		const struct node *node =
				node_find(&tree->nodes, restore->inode);
		if (node == NULL) {
			return 0;
		}
		key = node_path(node, tree->root_prefix);
		tree_begin_question_locked(tree);
	}
	int error = -ENOMEM;
	if (key != NULL) {
		error = fetch_stat(tree->settings.fetch, tree->settings.store,
				key, on_head, restore);
	}
	if (error == 0) {
		return -EINPROGRESS;
	}
	tree_end_question(tree);
	restore->error = error;
	return 0;
}
