#ifndef CACHE_VICTIM_PRIVATE_H
#define CACHE_VICTIM_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The decisions of eviction, and nothing else: pure functions over facts. The
 * order is least recent use, by a clock that counts bytes demanded.
 */

enum victim_verdict {
	VICTIM_TAKE,
	VICTIM_BUSY,	   /* In use: passed over. */
	VICTIM_USED_SINCE, /* Its time was newer than the list said. */
};

struct victim_facts {
	uint64_t listed_use; /* What the list of candidates said. */
	uint64_t last_use;   /* What the index and the memory say now. */
	/* A read or write of the chunk is under way. */
	bool pinned;
	/* It has blocks that are not in the index yet. */
	bool unmerged;
	/* All others were busy: any order will do. */
	bool last_resort;
	/* It is the chunk that space is made for. */
	bool wanted;
};

enum victim_verdict victim_judge(const struct victim_facts *facts);

/* Whether blocks that are new to the cache may push out a chunk last used at
 * `victim_use`. */
struct victim_admission {
	uint64_t now;
	uint64_t victim_use;
};
bool victim_admits(const struct victim_admission *admission);

#endif
