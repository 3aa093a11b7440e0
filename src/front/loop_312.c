#include "loop_private.h"

#include <errno.h>
#include <fuse_lowlevel.h>

int loop_serve(struct fuse_session *session, size_t thread_count, bool clone_fd)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();

	if (config == NULL) {
		return -ENOMEM;
	}
	fuse_loop_cfg_set_clone_fd(config, clone_fd);
	fuse_loop_cfg_set_max_threads(config, (unsigned)thread_count);
	/* Threads that come and go cost more than idle ones. */
	fuse_loop_cfg_set_idle_threads(config, (unsigned)thread_count);
	int result = fuse_session_loop_mt(session, config);
	fuse_loop_cfg_destroy(config);
	return result < 0 ? result : 0;
}
