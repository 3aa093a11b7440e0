#include "ops_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "control_private.h"
#include "front_private.h"
#include "tree/tree.h"

/*
 * Positions in a directory: 0 is ".", 1 is "..", then the entries by index.
 * The cookie of an entry is the position after it: never 0, and any cookie
 * given out resumes right there, since a handle's listing never changes. The
 * control directory has no handle: its listing is fixed.
 */
#define POSITION_PARENT 1
#define POSITION_FIRST 2

#define REPLY_BYTES_MAX ((size_t)1 << 20)
/* Of an entry of readdirplus: its attributes alone. */
#define PLUS_BYTES_MIN ((size_t)128)

/* One answer of readdir or readdirplus as it is filled. */
struct dir_reply {
	fuse_req_t req;
	struct front *front;
	struct tree_dir *dir; /* NULL: the control directory. */
	uint64_t inode;	      /* Of the directory. */
	bool plus;
	char *buffer;
	size_t size, used;
	/* The inodes that a lookup was counted on: not always those of the
	 * handle's listing, if a newer one has another version. */
	uint64_t *counted;
	size_t counted_count;
};

struct dir_item {
	const char *name;
	struct tree_attr attr;
	/* False for "." and "..", and for control entries: no lookup is
	 * counted for them. */
	bool counted;
};

/* NULL for the control directory. */
static struct front_dir *handle_of(const struct fuse_file_info *info)
{
	return (struct front_dir *)(uintptr_t)info->fh;
}

static void answer_opendir(
		struct front *front, fuse_req_t req, struct tree_dir *dir)
{
	struct front_dir *handle = dirs_open(&front->dirs, dir);
	struct fuse_file_info info = {.fh = (uint64_t)(uintptr_t)handle};

	if (handle == NULL) {
		tree_dir_close(dir);
		(void)fuse_reply_err(req, ENOMEM); /* Nobody waits otherwise. */
		return;
	}
	/* Without an answer taken there is no RELEASEDIR. */
	if (fuse_reply_open(req, &info) != 0) {
		dirs_close(&front->dirs, handle);
	}
}

static void finish_opendir(struct parked *parked, bool answer)
{
	struct tree_opendir *opendir = &parked->u.opendir;

	if (answer && opendir->error == 0) {
		answer_opendir(parked->front, parked->req, opendir->dir);
	} else if (answer) {
		/* Nobody waits if this fails. */
		(void)fuse_reply_err(parked->req, -opendir->error);
	} else if (opendir->error == 0) {
		tree_dir_close(opendir->dir);
	}
}

static void on_opendir_done(struct tree_opendir *opendir)
{
	park_complete(park_of(opendir, offsetof(struct parked, u.opendir)));
}

void ops_opendir(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info)
{
	struct front *front = fuse_req_userdata(req);

	if (control_owns(inode)) {
		info->fh = 0;
		(void)fuse_reply_open(req, info); /* Nothing to close. */
		return;
	}
	struct parked *parked = park_take(front, req, finish_opendir);
	if (parked == NULL) {
		(void)fuse_reply_err(req, EIO); /* Nobody waits otherwise. */
		return;
	}
	parked->u.opendir = (struct tree_opendir){
			.inode = inode,
			.on_done = on_opendir_done,
	};
	park_begun(parked, tree_opendir_start(front->settings.tree,
					   &parked->u.opendir));
}

/* What is at a position: -ENOENT after the last. */
static int item_at(const struct dir_reply *reply, uint64_t position,
		struct dir_item *out_item)
{
	struct dir_item item = {.counted = reply->dir != NULL};
	int error = 0;

	if (position < POSITION_FIRST) {
		bool up = position == POSITION_PARENT;
		item.name = up ? ".." : ".";
		item.attr.is_dir = true;
		item.attr.inode = reply->inode;
		if (up) {
			item.attr.inode =
					reply->dir == NULL
							? TREE_ROOT_INODE
							: tree_dir_parent_inode(
									  reply->dir);
		}
		item.counted = false;
	} else if (reply->dir == NULL) {
		error = control_entry(reply->front, position - POSITION_FIRST,
				&item.name, &item.attr);
	} else if (position - POSITION_FIRST >= tree_dir_count(reply->dir)) {
		error = -ENOENT;
	} else {
		error = tree_dir_entry(reply->dir, position - POSITION_FIRST,
				&item.name, &item.attr);
	}
	if (error == 0) {
		*out_item = item;
	}
	return error;
}

/* 0, or -ENOSPC when it does not fit. */
static int add_plain(struct dir_reply *reply, const struct dir_item *item,
		uint64_t position)
{
	struct stat status;
	size_t left = reply->size - reply->used;

	attr_fill(&reply->front->style, &item->attr, &status);
	size_t need = fuse_add_direntry(reply->req, reply->buffer + reply->used,
			left, item->name, &status, (off_t)(position + 1));
	if (need > left) {
		return -ENOSPC;
	}
	reply->used += need;
	return 0;
}

/* 0, -ENOSPC when it does not fit, or what the tree says. */
static int add_plus(struct dir_reply *reply, const struct dir_item *item,
		uint64_t position)
{
	struct fuse_entry_param entry;
	struct tree_attr attr = item->attr;
	size_t left = reply->size - reply->used;
	size_t need = fuse_add_direntry_plus(
			reply->req, NULL, 0, item->name, NULL, 0);

	/* Looked at before a lookup is counted for it. */
	if (need > left) {
		return -ENOSPC;
	}
	int error = item->counted ? tree_dir_lookup(reply->dir,
						    position - POSITION_FIRST,
						    &attr)
				  : 0;
	if (error != 0) {
		return error;
	}
	attr_fill_entry(&reply->front->style, &attr, &entry);
	if (item->counted) {
		reply->counted[reply->counted_count++] = attr.inode;
	} else {
		entry.ino = 0; /* Only a name: the kernel looks it up. */
	}
	(void)fuse_add_direntry_plus(reply->req, reply->buffer + reply->used,
			left, item->name, &entry, (off_t)(position + 1));
	reply->used += need;
	return 0;
}

/* Takes back the lookups of entries that the kernel never got. */
static void uncount(struct dir_reply *reply)
{
	for (size_t i = 0; i < reply->counted_count; i++) {
		tree_forget(reply->front->settings.tree, reply->counted[i], 1);
	}
}

static int add_entry(struct dir_reply *reply, uint64_t position)
{
	struct dir_item item;
	int error = item_at(reply, position, &item);

	if (error != 0) {
		return error;
	}
	return reply->plus ? add_plus(reply, &item, position)
			   : add_plain(reply, &item, position);
}

static void answer_entries(struct dir_reply *reply, uint64_t first)
{
	uint64_t position = first;
	int error = add_entry(reply, position);

	while (error == 0) {
		position++;
		error = add_entry(reply, position);
	}
	/* What was found before an error goes out; the error comes again for
	 * the next position. */
	if (position == first && error != -ENOENT) {
		/* Nobody waits if this fails. */
		(void)fuse_reply_err(
				reply->req, error == -ENOSPC ? EINVAL : -error);
		return;
	}
	if (fuse_reply_buf(reply->req, reply->buffer, reply->used) != 0) {
		uncount(reply);
	}
}

static void read_entries(fuse_req_t req, fuse_ino_t inode, size_t size,
		off_t offset, const struct fuse_file_info *info, bool plus)
{
	const struct front_dir *handle = handle_of(info);
	struct dir_reply reply = {
			.req = req,
			.front = fuse_req_userdata(req),
			.dir = handle == NULL ? NULL : dirs_listing(handle),
			.inode = inode,
			.plus = plus,
			.size = size < REPLY_BYTES_MAX ? size : REPLY_BYTES_MAX,
	};
	CLEANUP_FREE char *buffer = malloc(reply.size);
	const size_t most = plus ? reply.size / PLUS_BYTES_MIN : 0;
	CLEANUP_FREE uint64_t *counted = calloc(most + 1, sizeof(*counted));

	counters_add(&reply.front->settings.counters->fuse_readdirs, 1);
	if (buffer == NULL || counted == NULL || offset < 0) {
		/* Nobody waits if this fails. */
		(void)fuse_reply_err(req, offset < 0 ? EINVAL : ENOMEM);
		return;
	}
	reply.buffer = buffer;
	reply.counted = counted;
	answer_entries(&reply, (uint64_t)offset);
}

void ops_readdir(fuse_req_t req, fuse_ino_t inode, size_t size, off_t offset,
		struct fuse_file_info *info)
{
	read_entries(req, inode, size, offset, info, false);
}

void ops_readdirplus(fuse_req_t req, fuse_ino_t inode, size_t size,
		off_t offset, struct fuse_file_info *info)
{
	read_entries(req, inode, size, offset, info, true);
}

void ops_releasedir(
		fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info)
{
	struct front *front = fuse_req_userdata(req);
	struct front_dir *handle = handle_of(info);

	if (handle != NULL) {
		dirs_close(&front->dirs, handle);
	}
	(void)fuse_reply_err(req, 0); /* The kernel does not wait for it. */
}
