#include "ops_private.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/counters.h"
#include "cache/disk_tier.h"
#include "control_private.h"
#include "front_private.h"
#include "tree/tree.h"

#define NAME_BYTES_MAX 255
#define STATFS_BLOCK 4096
#define STATFS_FILES ((fsfilcnt_t)1 << 32)
/* What is shown without a disk cache: a petabyte. */
#define STATFS_NO_DISK_BYTES ((uint64_t)1 << 50)

static void reply_error(fuse_req_t req, int error)
{
	(void)fuse_reply_err(req, -error); /* Nobody waits if this fails. */
}

/* The kernel may remember that the name is not there. */
static void reply_absent(fuse_req_t req, uint64_t valid_ms)
{
	struct fuse_entry_param entry = {
			.entry_timeout = attr_timeout(valid_ms),
	};

	if (valid_ms == 0) {
		reply_error(req, -ENOENT);
		return;
	}
	(void)fuse_reply_entry(req, &entry); /* Nothing to take back. */
}

static void reply_attr(struct front *front, fuse_req_t req,
		const struct tree_attr *attr)
{
	struct stat status;

	attr_fill(&front->style, attr, &status);
	/* Nobody waits if this fails. */
	(void)fuse_reply_attr(req, &status, attr_timeout(attr->valid_ms));
}

static void finish_lookup(struct parked *parked, bool answer)
{
	struct front *front = parked->front;
	struct tree_lookup *lookup = &parked->u.name.lookup;
	struct fuse_entry_param entry;
	bool counted = false;

	if (answer && lookup->error == -ENOENT) {
		reply_absent(parked->req, lookup->attr.valid_ms);
	} else if (answer && lookup->error != 0) {
		reply_error(parked->req, lookup->error);
	} else if (answer) {
		attr_fill_entry(&front->style, &lookup->attr, &entry);
		counted = fuse_reply_entry(parked->req, &entry) == 0;
	}
	/* The kernel forgets only what it was told. */
	if (lookup->error == 0 && !counted) {
		tree_forget(front->settings.tree, lookup->attr.inode, 1);
	}
}

static void on_lookup_done(struct tree_lookup *lookup)
{
	park_complete(park_of(lookup, offsetof(struct parked, u.name.lookup)));
}

static void lookup_control(struct front *front, fuse_req_t req,
		const struct tree_attr *attr)
{
	struct fuse_entry_param entry;

	attr_fill_entry(&front->style, attr, &entry);
	(void)fuse_reply_entry(req, &entry); /* These are not counted. */
}

void ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct front *front = fuse_req_userdata(req);
	struct tree_attr attr;
	size_t length = strlen(name);

	counters_add(&front->settings.counters->fuse_lookups, 1);
	if (length > NAME_BYTES_MAX) {
		reply_error(req, -ENAMETOOLONG);
		return;
	}
	if (control_lookup(front, parent, name, &attr) == 0) {
		lookup_control(front, req, &attr);
		return;
	}
	if (control_owns(parent)) {
		reply_error(req, -ENOENT);
		return;
	}
	struct parked *parked = park_take(front, req, finish_lookup);
	if (parked == NULL) {
		reply_error(req, -EIO);
		return;
	}
	memcpy(parked->u.name.name, name, length + 1);
	parked->u.name.lookup = (struct tree_lookup){
			.parent = parent,
			.name = parked->u.name.name,
			.on_done = on_lookup_done,
	};
	park_begun(parked, tree_lookup_start(front->settings.tree,
					   &parked->u.name.lookup));
}

static void forget(struct front *front, uint64_t inode, uint64_t count)
{
	/* The root and the control entries are not counted. */
	if (inode >= TREE_FIRST_INODE) {
		tree_forget(front->settings.tree, inode, count);
	}
}

void ops_forget(fuse_req_t req, fuse_ino_t inode, uint64_t count)
{
	forget(fuse_req_userdata(req), inode, count);
	fuse_reply_none(req);
}

void ops_forget_multi(
		fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++) {
		forget(fuse_req_userdata(req), forgets[i].ino,
				forgets[i].nlookup);
	}
	fuse_reply_none(req);
}

void ops_getattr(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info)
{
	struct front *front = fuse_req_userdata(req);
	struct tree_attr attr;
	int error = control_owns(inode) ? control_getattr(front, inode, &attr)
					: tree_getattr(front->settings.tree,
							  inode, &attr);

	if (error != 0) {
		reply_error(req, error);
		return;
	}
	reply_attr(front, req, &attr);
}

/* Comes only without default_permissions, from a mount through /dev/fd/N. */
void ops_access(fuse_req_t req, fuse_ino_t inode, int mask)
{
	reply_error(req, (mask & W_OK) != 0 ? -EROFS : 0);
}

void ops_statfs(fuse_req_t req, fuse_ino_t inode)
{
	struct front *front = fuse_req_userdata(req);
	struct disk_usage usage = {.limit_bytes = STATFS_NO_DISK_BYTES};

	if (front->settings.disk != NULL) {
		disk_tier_usage(front->settings.disk, &usage);
	}
	/* All free: a full cache is its normal state, and must not alarm. */
	fsblkcnt_t blocks = usage.limit_bytes / STATFS_BLOCK;
	struct statvfs status = {
			.f_bsize = STATFS_BLOCK,
			.f_frsize = STATFS_BLOCK,
			.f_blocks = blocks,
			.f_bfree = blocks,
			.f_bavail = blocks,
			.f_files = STATFS_FILES,
			.f_ffree = STATFS_FILES,
			.f_favail = STATFS_FILES,
			.f_flag = ST_RDONLY,
			.f_namemax = NAME_BYTES_MAX,
	};
	(void)fuse_reply_statfs(req, &status); /* Nobody waits otherwise. */
}
