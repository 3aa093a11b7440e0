#include "node_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "directory_private.h"
#include "store/object.h"

const char *node_name(const struct node *node)
{
	return node->text;
}

const char *node_etag(const struct node *node)
{
	return node->text + node->name_length + 1;
}

struct node *node_find(const struct node_table *table, uint64_t inode)
{
	struct node *node = NULL;
	HASH_FIND(hh, table->by_inode, &inode, sizeof(inode), node);
	return node;
}

static struct node *make_node(const char *name, const struct entry_info *info)
{
	const char *etag = info->is_dir ? "" : info->etag;
	const size_t name_length = strlen(name);
	const size_t etag_size = strlen(etag) + 1;
	struct node *node =
			calloc(1, sizeof(*node) + name_length + 1 + etag_size);
	if (node == NULL) {
		return NULL;
	}
	node->is_dir = info->is_dir;
	node->archived = info->archived;
	node->unsettled = info->unsettled;
	node->size = info->size;
	node->mtime = info->mtime;
	node->name_length = (uint16_t)name_length;
	memcpy(node->text, name, name_length + 1);
	memcpy(node->text + name_length + 1, etag, etag_size);
	return node;
}

struct node *node_get(struct node_table *table, struct node *parent,
		uint64_t inode, const char *name, const struct entry_info *info)
{
	struct node *node = node_find(table, inode);
	if (node != NULL) {
		return node;
	}
	node = make_node(name, info);
	if (node == NULL) {
		return NULL;
	}
	node->inode = inode;
	HASH_ADD(hh, table->by_inode, inode, sizeof(node->inode), node);
	if (node->hh.tbl == NULL) {
		free(node);
		return NULL;
	}
	node->parent = parent;
	if (parent != NULL) {
		parent->children++;
	}
	counters_add(&table->counters->inodes, 1);
	return node;
}

static void free_node(struct node_table *table, struct node *node)
{
	HASH_DEL(table->by_inode, node);
	counters_sub(&table->counters->inodes, 1);
	directory_unref(table->directories, node->directory);
	object_unref(node->object);
	free(node);
}

void node_release(struct node_table *table, struct node *node)
{
	while (node->parent != NULL && node->lookups == 0 && node->holds == 0 &&
			node->children == 0) {
		struct node *parent = node->parent;
		free_node(table, node);
		parent->children--;
		node = parent;
	}
}

void node_table_finish(struct node_table *table)
{
	struct node *node = NULL;
	struct node *next = NULL;
	HASH_ITER (hh, table->by_inode, node, next) {
		free_node(table, node);
	}
}

char *node_path(const struct node *node, const char *start)
{
	const size_t start_length = strlen(start);
	size_t length = start_length;
	for (const struct node *at = node; at->parent != NULL;
			at = at->parent) {
		length += at->name_length + 1U;
	}
	char *path = malloc(length + 1);
	if (path == NULL) {
		return NULL;
	}
	memcpy(path, start, start_length);
	/* Each name has a '/' after it; the last one's becomes the end. */
	path[length] = '\0';
	char *end = path + length;
	for (const struct node *at = node; at->parent != NULL;
			at = at->parent) {
		*--end = at == node ? '\0' : '/';
		end -= at->name_length;
		memcpy(end, node_name(at), at->name_length);
	}
	return path;
}
