#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "cache/data_file_private.h"

/* What O_DIRECT writes in: a multiple of any sector size in use. */
#define DIRECT_UNIT 4096u

enum direction { DIRECTION_READ, DIRECTION_WRITE };

static ssize_t transfer_once(enum direction direction, int fd, uint64_t offset,
		const struct iovec *parts, size_t count)
{
	int few = count < IOV_MAX ? (int)count : IOV_MAX;
	return direction == DIRECTION_READ
			       ? preadv(fd, parts, few, (off_t)offset)
			       : pwritev(fd, parts, few, (off_t)offset);
}

/* Steps `parts` on by the bytes that were moved. */
static void advance(struct iovec **parts, size_t *count, size_t moved)
{
	while (*count > 0 && moved >= (*parts)->iov_len) {
		moved -= (*parts)->iov_len;
		(*parts)++;
		(*count)--;
	}
	if (*count > 0) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + moved;
		(*parts)->iov_len -= moved;
	}
}

static int transfer(enum direction direction, int fd, uint64_t offset,
		struct iovec *parts, size_t count)
{
	while (count > 0) {
		ssize_t moved = transfer_once(
				direction, fd, offset, parts, count);
		if (moved < 0 && errno == EINTR) {
			continue;
		}
		if (moved < 0) {
			return -errno;
		}
		if (moved == 0) {
			return direction == DIRECTION_READ ? -ENODATA : -EIO;
		}
		offset += (uint64_t)moved;
		advance(&parts, &count, (size_t)moved);
	}
	return 0;
}

int data_file_read(
		int fd, uint64_t offset, struct iovec *parts, size_t part_count)
{
	return transfer(DIRECTION_READ, fd, offset, parts, part_count);
}

/* Starts writeback and lets the pages go, so that the page cache stays the
 * readers'. Both are hints. */
static void let_go(int fd, uint64_t offset, uint64_t length)
{
	(void)sync_file_range(fd, (off_t)offset, (off_t)length,
			SYNC_FILE_RANGE_WRITE);
	(void)posix_fadvise(
			fd, (off_t)offset, (off_t)length, POSIX_FADV_DONTNEED);
}

static int write_cached(int fd, uint64_t offset, struct iovec *parts,
		size_t part_count, uint64_t length)
{
	int error = transfer(DIRECTION_WRITE, fd, offset, parts, part_count);
	if (error == 0) {
		let_go(fd, offset, length);
	}
	return error;
}

int data_file_write(int fd, int direct_fd, uint64_t offset, struct iovec *parts,
		size_t part_count)
{
	uint64_t length = 0;
	for (size_t i = 0; i < part_count; i++) {
		length += parts[i].iov_len;
	}
	if (direct_fd < 0) {
		return write_cached(fd, offset, parts, part_count, length);
	}
	struct iovec *last = &parts[part_count - 1];
	size_t odd = last->iov_len % DIRECT_UNIT;
	struct iovec tail = {
			.iov_base = (char *)last->iov_base +
				    (last->iov_len - odd),
			.iov_len = odd,
	};
	last->iov_len -= odd;
	size_t direct_count = last->iov_len == 0 ? part_count - 1 : part_count;
	int error = transfer(DIRECTION_WRITE, direct_fd, offset, parts,
			direct_count);
	if (error == 0 && odd > 0) {
		error = write_cached(fd, offset + length - odd, &tail, 1, odd);
	}
	return error;
}
