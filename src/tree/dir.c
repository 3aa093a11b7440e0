#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tree_private.h"

/* An open directory: one listing, whatever is learned later. */
struct tree_dir {
	struct tree *tree;
	struct node *node; /* Held. */
	struct listing *listing;
	uint64_t parent_inode;
	uint64_t until_ms;
};

void tree_opendir_answer_locked(struct tree *tree, struct tree_opendir *opendir,
		const struct directory *directory)
{
	struct node *node = node_find(&tree->nodes, opendir->inode);
	if (node == NULL) {
		opendir->error = -ESTALE;
		return;
	}
	struct tree_dir *dir = malloc(sizeof(*dir));
	if (dir == NULL) {
		opendir->error = -ENOMEM;
		return;
	}
	node->holds++;
	*dir = (struct tree_dir){
			.tree = tree,
			.node = node,
			.listing = listing_ref(directory->listing),
			.parent_inode = node->parent == NULL
							? node->inode
							: node->parent->inode,
			.until_ms = directory->until_ms,
	};
	opendir->dir = dir;
	opendir->error = 0;
}

enum opendir_action { OPENDIR_DONE, OPENDIR_JOIN, OPENDIR_INDEX, OPENDIR_LIST };

static enum opendir_action step_locked(struct tree *tree,
		struct tree_opendir *opendir, bool index_unread,
		struct directory **out_directory)
{
	struct node *node = node_find(&tree->nodes, opendir->inode);
	if (node == NULL || !node->is_dir) {
		opendir->error = node == NULL ? -ESTALE : -ENOTDIR;
		return OPENDIR_DONE;
	}
	struct directory *directory = tree_directory_locked(tree, node);
	if (directory == NULL) {
		opendir->error = -ENOMEM;
		return OPENDIR_DONE;
	}
	if (directory->listing != NULL &&
			directory->until_ms > clock_monotonic_ms()) {
		tree_opendir_answer_locked(tree, opendir, directory);
		return OPENDIR_DONE;
	}
	if (directory->listing_now) {
		LL_APPEND(directory->opendirs, opendir);
		return OPENDIR_JOIN;
	}
	*out_directory = directory_ref(directory);
	if (index_unread) {
		return OPENDIR_INDEX;
	}
	directory->listing_now = true;
	tree_begin_question_locked(tree);
	LL_APPEND(directory->opendirs, opendir);
	return OPENDIR_LIST;
}

/* Once it was started the opendir is the answer's. */
static int start_list(struct tree *tree, struct directory *directory,
		struct tree_opendir *opendir)
{
	const int error = tree_list_start(tree, directory, NULL, opendir);
	if (error == 0) {
		return -EINPROGRESS;
	}
	opendir->error = error;
	return 0;
}

int tree_opendir_advance(struct tree *tree, struct tree_opendir *opendir,
		bool may_read_index)
{
	bool index_unread = may_read_index && tree_has_index(tree);
	for (;;) {
		struct directory *directory = NULL;
		enum opendir_action action = OPENDIR_DONE;
		{
			LOCK_SCOPE(&tree->lock);
			opendir->next = NULL;
			action = step_locked(tree, opendir, index_unread,
					&directory);
		}
		switch (action) {
		case OPENDIR_DONE:
			return 0;
		case OPENDIR_JOIN:
			return -EINPROGRESS;
		case OPENDIR_LIST:
			return start_list(tree, directory, opendir);
		case OPENDIR_INDEX:
			tree_read_index(tree, directory);
			tree_drop_directory(tree, directory);
			index_unread = false;
			break;
		}
	}
}

int tree_opendir_start(struct tree *tree, struct tree_opendir *opendir)
{
	opendir->dir = NULL;
	return tree_opendir_advance(tree, opendir, true);
}

void tree_opendirs_finish(struct tree_opendir *opendirs)
{
	struct tree_opendir *opendir = NULL;
	struct tree_opendir *next = NULL;
	LL_FOREACH_SAFE (opendirs, opendir, next) {
		opendir->on_done(opendir);
	}
}

void tree_opendirs_resume(struct tree *tree, struct tree_opendir *opendirs)
{
	struct tree_opendir *opendir = NULL;
	struct tree_opendir *next = NULL;
	LL_FOREACH_SAFE (opendirs, opendir, next) {
		if (tree_opendir_advance(tree, opendir, false) == 0) {
			opendir->on_done(opendir);
		}
	}
}

void tree_dir_close(struct tree_dir *dir)
{
	if (dir == NULL) {
		return;
	}
	{
		LOCK_SCOPE(&dir->tree->lock);
		dir->node->holds--;
		node_release(&dir->tree->nodes, dir->node);
	}
	listing_unref(dir->listing);
	free(dir);
}

size_t tree_dir_count(const struct tree_dir *dir)
{
	return dir->listing->count;
}

uint64_t tree_dir_parent_inode(const struct tree_dir *dir)
{
	return dir->parent_inode;
}

int tree_dir_entry(struct tree_dir *dir, size_t index, const char **out_name,
		struct tree_attr *out_attr)
{
	if (index >= dir->listing->count) {
		return -ENOENT;
	}
	struct entry_info info;
	listing_info(dir->listing, index, &info);
	*out_name = listing_name(dir->listing, index);
	tree_fill_attr(dir->tree, dir->listing->entries[index].inode, &info,
			dir->until_ms, out_attr);
	return 0;
}

/* The newest listing decides which version the name has now; only if there is
 * none that holds is it the one of this handle. */
int tree_dir_lookup(
		struct tree_dir *dir, size_t index, struct tree_attr *out_attr)
{
	if (index >= dir->listing->count) {
		return -ENOENT;
	}
	struct tree *tree = dir->tree;
	struct tree_lookup lookup = {
			.parent = dir->node->inode,
			.name = listing_name(dir->listing, index),
	};
	LOCK_SCOPE(&tree->lock);
	const struct directory *directory = dir->node->directory;
	if (directory->listing != dir->listing &&
			directory->until_ms > clock_monotonic_ms()) {
		tree_lookup_answer_locked(tree, &lookup, directory);
	} else {
		struct entry_info info;
		listing_info(dir->listing, index, &info);
		tree_lookup_give_locked(tree, &lookup,
				dir->listing->entries[index].inode, &info,
				directory->listing == dir->listing
						? directory->until_ms
						: 0);
	}
	if (lookup.error == 0) {
		*out_attr = lookup.attr;
	}
	return lookup.error;
}
