#include "ops_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "cache/disk_tier.h"
#include "control_private.h"
#include "front_private.h"
#include "store/object.h"
#include "store/store.h"
#include "stream/stream.h"
#include "tree/tree.h"

#define PREFIX "user.shardfs."
#define VALUE_MAX ((size_t)64 << 10)

/* They answer by name and are not listed, or `rsync -X` and `cp -a` would
 * copy them. Nothing here asks the store: tools ask for attributes of every
 * file they see. */

static uint64_t cached_bytes(
		struct front *front, uint64_t inode, struct object *object)
{
	struct front_file *file = files_find(&front->files, inode);
	struct disk_object *on_disk = NULL;
	uint64_t bytes = 0;

	if (file != NULL) {
		bytes = stream_file_cached_bytes(file->stream);
		files_unref(&front->files, file);
		return bytes;
	}
	if (front->settings.disk == NULL ||
			disk_object_open(front->settings.disk, object,
					&on_disk) != 0) {
		return 0;
	}
	bytes = disk_object_bytes(on_disk);
	disk_object_close(on_disk);
	return bytes;
}

static int put_value(struct front *front, uint64_t inode, struct object *object,
		const char *name, struct strbuf *out)
{
	if (strcmp(name, "url") == 0) {
		return store_url(front->settings.store, object->key, out);
	}
	if (strcmp(name, "etag") == 0) {
		return strbuf_add_text(out, object->etag);
	}
	if (strcmp(name, "cached_bytes") == 0) {
		return strbuf_printf(out, "%llu",
				(unsigned long long)cached_bytes(
						front, inode, object));
	}
	return -ENODATA;
}

/* An archived or vanished version has no attributes: -ENODATA. */
static int find_value(struct front *front, uint64_t inode, const char *name,
		struct strbuf *out)
{
	struct object *object = NULL;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || control_owns(inode) ||
			tree_open(front->settings.tree, inode, &object) != 0) {
		return -ENODATA;
	}
	int error = put_value(front, inode, object, name + strlen(PREFIX), out);
	object_unref(object);
	tree_close(front->settings.tree, inode);
	return error;
}

void ops_getxattr(
		fuse_req_t req, fuse_ino_t inode, const char *name, size_t size)
{
	struct strbuf value;

	strbuf_init(&value, VALUE_MAX);
	int error = find_value(fuse_req_userdata(req), inode, name, &value);
	/* Nobody waits if one of these fails. */
	if (error != 0) {
		(void)fuse_reply_err(req, -error);
	} else if (size == 0) {
		(void)fuse_reply_xattr(req, value.length);
	} else if (size < value.length) {
		(void)fuse_reply_err(req, ERANGE);
	} else {
		(void)fuse_reply_buf(req, value.text, value.length);
	}
	strbuf_finish(&value);
}

void ops_listxattr(fuse_req_t req, fuse_ino_t inode, size_t size)
{
	/* Nobody waits if one of these fails. */
	if (size == 0) {
		(void)fuse_reply_xattr(req, 0);
	} else {
		(void)fuse_reply_buf(req, NULL, 0);
	}
}
