#ifndef TESTS_UNIT_CACHE_FILLED_RIG_H
#define TESTS_UNIT_CACHE_FILLED_RIG_H

#include "disk_rig.h"

/* A disk tier with one object, "a", that is all in it. */
struct filled_rig {
	struct disk_rig disk;
	struct disk_object *object; /* NULL while the tier is closed. */
};

#define FILLED_SIZE (3 * RIG_MIB + 100)
#define FILLED_BLOCKS 49

void filled_rig_init(struct filled_rig *rig);
void filled_rig_finish(struct filled_rig *rig);
/* The object and the tier. */
void filled_rig_open(struct filled_rig *rig);
void filled_rig_close(struct filled_rig *rig);
/* Closes and opens. */
void filled_rig_reopen(struct filled_rig *rig);
/* All of the object can be stored and read again. */
void filled_rig_expect_works(struct filled_rig *rig);

#endif
