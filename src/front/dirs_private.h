#ifndef FRONT_DIRS_PRIVATE_H
#define FRONT_DIRS_PRIVATE_H

#include <pthread.h>

struct front_dir;
struct tree_dir;

/*
 * Open directory handles. They are on a list only so that those can be closed
 * that the kernel did not release: after an abort there is no RELEASEDIR.
 */
struct dirs {
	pthread_mutex_t lock;
	struct front_dir *list; /* Guarded by `lock`. */
};

void dirs_init(struct dirs *dirs);
void dirs_finish(struct dirs *dirs);

/* Takes over `dir` on success; NULL without memory. */
struct front_dir *dirs_open(struct dirs *dirs, struct tree_dir *dir);
void dirs_close(struct dirs *dirs, struct front_dir *handle);
struct tree_dir *dirs_listing(const struct front_dir *handle);

#endif
