#include "attr_private.h"

#include <fuse_lowlevel.h>
#include <string.h>

#include "base/size.h"
#include "tree/tree.h"

#define FOREVER_SECONDS 1e9
#define PREFERRED_IO_SIZE 4096

void attr_fill(const struct attr_style *style, const struct tree_attr *attr,
		struct stat *out)
{
	memset(out, 0, sizeof(*out));
	out->st_ino = attr->inode;
	/* 1 for directories too: "nobody counted". With 2 a walker could take
	 * it that there are no subdirectories. */
	out->st_nlink = 1;
	out->st_uid = style->uid;
	out->st_gid = style->gid;
	out->st_blksize = PREFERRED_IO_SIZE;
	out->st_mtim.tv_sec = attr->mtime;
	out->st_ctim.tv_sec = attr->mtime;
	out->st_atim.tv_sec = attr->mtime;
	if (attr->is_dir) {
		out->st_mode = S_IFDIR | style->dir_mode;
		return;
	}
	out->st_mode = S_IFREG | style->file_mode;
	out->st_size = (off_t)attr->size;
	/* The full size, present here or not: tar -S takes blocks that are
	 * missing from this count for holes and archives zeros. */
	out->st_blocks = (blkcnt_t)(attr->size / 512 + (attr->size % 512 != 0));
}

void attr_fill_entry(const struct attr_style *style,
		const struct tree_attr *attr, struct fuse_entry_param *out)
{
	memset(out, 0, sizeof(*out));
	out->ino = attr->inode;
	out->generation = 1; /* Inode numbers are not used again. */
	attr_fill(style, attr, &out->attr);
	out->attr_timeout = attr_timeout(attr->valid_ms);
	out->entry_timeout = out->attr_timeout;
}

double attr_timeout(uint64_t valid_ms)
{
	double seconds = (double)valid_ms / 1000;

	if (valid_ms == DURATION_FOREVER || seconds > FOREVER_SECONDS) {
		return FOREVER_SECONDS;
	}
	return seconds;
}
