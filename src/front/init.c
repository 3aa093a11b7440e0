#include "ops_private.h"

#include "front_private.h"

#define BACKGROUND_MAX 256
#define BACKGROUND_CONGESTED 192
#define REQUEST_BYTES ((unsigned)1 << 20)

static void want(struct fuse_conn_info *connection, unsigned capability)
{
	connection->want |= connection->capable & capability;
}

void ops_init(void *userdata, struct fuse_conn_info *connection)
{
	struct front *front = userdata;

	want(connection, FUSE_CAP_ASYNC_READ);
	want(connection, FUSE_CAP_ASYNC_DIO);
	want(connection, FUSE_CAP_PARALLEL_DIROPS);
	want(connection, FUSE_CAP_READDIRPLUS);
	want(connection, FUSE_CAP_READDIRPLUS_AUTO);
	/* Size and mtime of an inode never change: its pages stay right, and
	 * a read needs no GETATTR to know. */
	connection->want &= ~(unsigned)FUSE_CAP_AUTO_INVAL_DATA;
	want(connection, FUSE_CAP_EXPLICIT_INVAL_DATA);
	/* Slower than a copy in every run. */
	connection->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ |
					FUSE_CAP_SPLICE_WRITE |
					FUSE_CAP_SPLICE_MOVE);
	/* With the default of 12 a stalled reader holds up the read-ahead of
	 * all others. */
	connection->max_background = BACKGROUND_MAX;
	connection->congestion_threshold = BACKGROUND_CONGESTED;
	/* As in the mount option: the kernel takes the smaller one. The size
	 * of a write gives the pages of a request, of reads too. */
	connection->max_read = (unsigned)front->settings.max_read;
	if (connection->max_write > REQUEST_BYTES) {
		connection->max_write = REQUEST_BYTES;
	}
	/* Where we do not know the mount point, this is as near as we can
	 * tell. */
	if (!front->mounted_here) {
		housekeeper_note_ready(&front->housekeeper);
	}
}
