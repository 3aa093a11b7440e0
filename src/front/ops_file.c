#include "ops_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#include "base/counters.h"
#include "base/log.h"
#include "cache/cache.h"
#include "control_private.h"
#include "front_private.h"
#include "stream/stream.h"
#include "tree/tree.h"

#define LOG_MODULE "front"

/* O_CREAT of something that exists comes as a plain open. */
static bool wants_to_write(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
}

static void reply_error(fuse_req_t req, int error)
{
	(void)fuse_reply_err(req, -error); /* Nobody waits if this fails. */
}

static void open_control(struct front *front, fuse_req_t req, uint64_t inode,
		struct fuse_file_info *info)
{
	struct control_file *file = NULL;
	int error = control_open(front, inode, &file);

	if (error != 0) {
		reply_error(req, error);
		return;
	}
	info->direct_io = 1;
	info->fh = (uint64_t)(uintptr_t)file;
	if (fuse_reply_open(req, info) != 0) {
		control_unref(file);
	}
}

static void answer_open(struct front *front, fuse_req_t req, uint64_t inode,
		struct fuse_file_info *info)
{
	struct front_file *file = NULL;
	/* ESTALE for a version known to be gone: the kernel looks the name up
	 * again by itself and opens what is there now. */
	int error = files_open(&front->files, inode, &file);

	if (error != 0) {
		reply_error(req, error);
		return;
	}
	files_set_mode(file, info);
	/* Without an answer taken there is no RELEASE. */
	if (fuse_reply_open(req, info) != 0) {
		files_unref(&front->files, file);
	}
}

static void finish_restore(struct parked *parked, bool answer)
{
	const struct tree_restore *restore = &parked->u.open.restore;

	if (answer && restore->error == 0) {
		answer_open(parked->front, parked->req, restore->inode,
				&parked->u.open.info);
	} else if (answer) {
		reply_error(parked->req, restore->error);
	}
}

static void on_restore_done(struct tree_restore *restore)
{
	park_complete(park_of(
			restore, offsetof(struct parked, u.open.restore)));
}

/* An archived object may have been restored: the store is asked. */
static void open_archived(struct front *front, fuse_req_t req, uint64_t inode,
		const struct fuse_file_info *info)
{
	struct parked *parked = park_take(front, req, finish_restore);

	if (parked == NULL) {
		reply_error(req, -EIO);
		return;
	}
	parked->u.open.info = *info;
	parked->u.open.restore = (struct tree_restore){
			.inode = inode,
			.on_done = on_restore_done,
	};
	park_begun(parked, tree_restore_start(front->settings.tree,
					   &parked->u.open.restore));
}

void ops_open(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info)
{
	struct front *front = fuse_req_userdata(req);

	counters_add(&front->settings.counters->fuse_opens, 1);
	if (wants_to_write(info->flags)) {
		reply_error(req, -EROFS);
		return;
	}
	if (control_owns(inode)) {
		open_control(front, req, inode, info);
		return;
	}
	if (tree_is_archived(front->settings.tree, inode)) {
		open_archived(front, req, inode, info);
	} else {
		answer_open(front, req, inode, info);
	}
}

/* The version is changed or gone. The tree must know before the reader gets
 * its error and opens again; the kernel is told from another thread, since
 * that may have to wait for a request that we are to answer. */
static void note_changed(struct front *front, const struct front_file *file)
{
	uint64_t parent = 0;
	char *name = NULL;

	if (tree_mark_changed(front->settings.tree, file->inode, &parent,
			    &name) == 0) {
		housekeeper_invalidate(&front->housekeeper, parent, name);
	}
}

static void answer_read(fuse_req_t req, struct counters *counters,
		const struct cache_read *read)
{
	if (read->error != 0) {
		counters_add(&counters->errors_readers, 1);
		reply_error(req, read->error);
		return;
	}
	/* Straight from the blocks, which stay pinned until it returns. */
	(void)fuse_reply_iov(req, read->parts, read->part_count);
}

static void finish_read(struct parked *parked, bool answer)
{
	struct front *front = parked->front;
	struct counters *counters = front->settings.counters;
	struct cache_read *read = &parked->u.read.read;
	struct front_file *file = parked->u.read.file;

	if (read->error == -ESTALE) {
		note_changed(front, file);
	}
	if (answer) {
		answer_read(parked->req, counters, read);
	}
	cache_read_release(read);
	files_unref(&front->files, file);
}

static void on_read_done(struct cache_read *read)
{
	park_complete(park_of(read, offsetof(struct parked, u.read.read)));
}

static void read_control(fuse_req_t req, struct control_file *file,
		uint64_t offset, size_t size)
{
	const char *data = NULL;

	control_ref(file);
	size_t length = control_read(file, offset, size, &data);
	(void)fuse_reply_buf(req, data, length); /* Nobody waits otherwise. */
	control_unref(file);
}

static struct control_file *control_of(const struct fuse_file_info *info)
{
	return (struct control_file *)(uintptr_t)info->fh;
}

static struct front_file *file_of(const struct fuse_file_info *info)
{
	return (struct front_file *)(uintptr_t)info->fh;
}

/* [offset, offset + size) cut at the end of the file. */
static size_t clip(uint64_t offset, size_t size, uint64_t file_size)
{
	if (offset >= file_size) {
		return 0;
	}
	uint64_t left = file_size - offset;
	return left < size ? (size_t)left : size;
}

static void read_object(struct front *front, fuse_req_t req,
		struct front_file *file, uint64_t offset, size_t length)
{
	struct parked *parked = park_take(front, req, finish_read);

	if (parked == NULL) {
		reply_error(req, -EIO);
		return;
	}
	files_ref(file);
	parked->u.read.file = file;
	parked->u.read.read = (struct cache_read){
			.offset = offset,
			.length = length,
			.on_done = on_read_done,
	};
	park_begun(parked, stream_read(file->stream, &parked->u.read.read));
}

void ops_read(fuse_req_t req, fuse_ino_t inode, size_t size, off_t offset,
		struct fuse_file_info *info)
{
	struct front *front = fuse_req_userdata(req);

	if (control_owns(inode)) {
		read_control(req, control_of(info), (uint64_t)offset, size);
		return;
	}
	counters_add(&front->settings.counters->fuse_reads, 1);
	struct front_file *file = file_of(info);
	/* A shorter answer would be the end of the file to the reader. */
	if (size > CACHE_READ_MAX_BYTES || offset < 0) {
		reply_error(req, -EINVAL);
		return;
	}
	size_t length = clip((uint64_t)offset, size, file->size);
	if (length == 0) {
		(void)fuse_reply_buf(req, NULL, 0); /* Nobody waits. */
		return;
	}
	read_object(front, req, file, (uint64_t)offset, length);
}

void ops_release(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info)
{
	struct front *front = fuse_req_userdata(req);

	if (control_owns(inode)) {
		control_unref(control_of(info));
	} else {
		files_unref(&front->files, file_of(info));
	}
	(void)fuse_reply_err(req, 0); /* The kernel does not wait for it. */
}
