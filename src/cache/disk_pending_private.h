#ifndef CACHE_DISK_PENDING_PRIVATE_H
#define CACHE_DISK_PENDING_PRIVATE_H

#include "cache/disk_private.h"

struct disk_pending_key {
	struct disk_object *object;
	uint32_t number;
};

/* One chunk's change, for the index thread. */
struct disk_pending {
	struct disk_pending_key key; /* Zeroed padding. */
	uint64_t set, drop;
	uint64_t charged_bytes; /* Taken from the grant for them. */
	uint32_t sums[DISK_CHUNK_BLOCKS];
	UT_hash_handle hh;
};

/* Index thread. What is queued becomes `flushing`: the head of that table,
 * linked by hh.next. Then either of the other two. */
struct disk_pending *disk_pending_take(struct disk_tier *tier);
void disk_pending_put_back(struct disk_tier *tier);
void disk_pending_done(struct disk_tier *tier);

#endif
