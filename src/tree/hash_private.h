#ifndef TREE_HASH_PRIVATE_H
#define TREE_HASH_PRIVATE_H

/* Without memory an element is not added, and its hh.tbl stays NULL: uthash
 * would end the process by default. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
