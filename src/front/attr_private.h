#ifndef FRONT_ATTR_PRIVATE_H
#define FRONT_ATTR_PRIVATE_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct fuse_entry_param;
struct tree_attr;

/* Attributes as the kernel wants them: pure. */

/* What the mount decides for all of its entries. */
struct attr_style {
	uid_t uid;
	gid_t gid;
	mode_t file_mode, dir_mode; /* Permission bits only. */
};

void attr_fill(const struct attr_style *style, const struct tree_attr *attr,
		struct stat *out);
/* Attributes and both timeouts. */
void attr_fill_entry(const struct attr_style *style,
		const struct tree_attr *attr, struct fuse_entry_param *out);
/* Milliseconds to the seconds of libfuse; "forever" becomes some 30 years. */
double attr_timeout(uint64_t valid_ms);

#endif
