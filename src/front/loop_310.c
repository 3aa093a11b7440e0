#include "loop_private.h"

#include <fuse_lowlevel.h>

/* There is no limit of threads here; handlers do not wait for the network, so
 * that few are made. Those beyond `thread_count` end when they are idle. */
int loop_serve(struct fuse_session *session, size_t thread_count, bool clone_fd)
{
	struct fuse_loop_config config = {
			.clone_fd = clone_fd,
			.max_idle_threads = (unsigned)thread_count,
	};
	int result = fuse_session_loop_mt(session, &config);

	return result < 0 ? result : 0;
}
